use std::time::Instant;

use flumen_testkit::PATIENCE;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Reply};

const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async fn as_user(server: &Fixture, headers: &[&str], method: &str, path: &str) -> Reply {
    let body = if method == "GET" { "" } else { "{}" };
    server.send(method, path, headers, body.as_bytes()).await
}

async fn who(server: &Fixture, headers: &[&str]) -> Value {
    let reply = server.ask("POST", REVIEWS, headers, "{}").await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()["status"]["userInfo"].clone()
}

#[tokio::test]
async fn strangers_and_wrong_tokens() {
    let server = Fixture::start().await;
    let pods = "/api/v1/namespaces/x/pods";
    let nobody = as_user(&server, &[], "GET", pods).await;
    assert_eq!(nobody.status, 403);
    let message = "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API \
                   group \"\" in the namespace \"x\"";
    assert_eq!(nobody.message(), message);
    let wrong = as_user(&server, &["Authorization: Bearer nope"], "GET", pods).await;
    assert_eq!((wrong.status, wrong.message().as_str()), (401, "Unauthorized"));
    assert_eq!(as_user(&server, &[], "GET", "/healthz").await.status, 200);
    let apis = as_user(&server, &[], "GET", "/apis").await;
    assert_eq!(apis.message(), "forbidden: User \"system:anonymous\" cannot get path \"/apis\"");
}

#[tokio::test]
async fn impersonation_is_checked() {
    let server = Fixture::start().await;
    let jane = who(&server, &["Impersonate-User: jane", "Impersonate-Group: a"]).await;
    assert_eq!(jane, json!({ "username": "jane", "groups": ["a", "system:authenticated"] }));
    let account = who(&server, &["Impersonate-User: system:serviceaccount:x:bot"]).await;
    assert_eq!(account["groups"][1], "system:serviceaccounts:x");
    let group = server.ask("POST", REVIEWS, &["Impersonate-Group: a"], "{}").await;
    assert_eq!(group.message(), "requested [{Group  a    }] without impersonating a user");
    let headers = ["Authorization: Bearer other", "Impersonate-User: admin"];
    let forged = as_user(&server, &headers, "GET", "/api/v1/pods").await;
    assert_eq!(forged.status, 403);
    let message = "users \"admin\" is forbidden: User \"jane\" cannot impersonate resource \"users\" \
                   in API group \"\" at the cluster scope";
    assert_eq!(forged.message(), message);
}

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";

async fn grant(server: &Fixture, role: &Value) {
    assert_eq!(server.create(ROLES, role).await.status, 201);
    let binding = json!({
        "metadata": { "name": "b" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r" },
        "subjects": [{ "kind": "User", "name": "jane" }],
    });
    assert_eq!(server.create(BINDINGS, &binding).await.status, 201);
}

/// Asks until an answer has come that a fresh role allows: the index follows the store.
async fn until_allowed(server: &Fixture, method: &str, path: &str) -> Reply {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let reply = as_user(server, &["Authorization: Bearer other"], method, path).await;
        if reply.status != 403 || !reply.message().contains("cannot") {
            return reply;
        }
        tokio::task::yield_now().await;
    }
    panic!("the role has no effect");
}

#[tokio::test]
async fn roles_allow_what_they_say_and_no_more() {
    let server = Fixture::start().await;
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"] }]);
    grant(&server, &json!({ "metadata": { "name": "r" }, "rules": rules })).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    assert_eq!(until_allowed(&server, "GET", maps).await.status, 200);
    let jane = ["Authorization: Bearer other"];
    assert_eq!(as_user(&server, &jane, "GET", "/api/v1/configmaps").await.status, 403);
    assert_eq!(as_user(&server, &jane, "GET", "/api/v1/namespaces/x/configmaps").await.status, 403);
    assert_eq!(as_user(&server, &jane, "POST", maps).await.status, 403);
    let deleted = server.ask("DELETE", &format!("{BINDINGS}/b"), &[], "").await;
    assert_eq!(deleted.status, 200);
}

#[tokio::test]
async fn nobody_grants_more_than_they_have() {
    let server = Fixture::start().await;
    let of = ["rbac.authorization.k8s.io"];
    let rules = json!([{ "apiGroups": of, "resources": ["roles"], "verbs": ["create", "list"] }]);
    grant(&server, &json!({ "metadata": { "name": "r" }, "rules": rules })).await;
    assert_eq!(until_allowed(&server, "GET", ROLES).await.status, 200);
    let more = json!({
        "metadata": { "name": "more" },
        "rules": [{ "apiGroups": [""], "resources": ["secrets"], "verbs": ["get"] }],
    });
    let headers = ["Authorization: Bearer other", "Content-Type: application/json"];
    let reply = server.send("POST", ROLES, &headers, more.to_string().as_bytes()).await;
    assert_eq!(reply.status, 403);
    let missing = "is attempting to grant RBAC permissions not currently held:\n\
                   {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}";
    assert!(reply.message().ends_with(missing), "{}", reply.message());
    let held = json!({ "metadata": { "name": "same" }, "rules": rules });
    let reply = server.send("POST", ROLES, &headers, held.to_string().as_bytes()).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
}

#[tokio::test]
async fn tokens_of_service_accounts() {
    let server = Fixture::start().await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let bot = json!({ "metadata": { "name": "bot" } });
    assert_eq!(server.create(accounts, &bot).await.status, 201);
    let request = json!({ "spec": { "audiences": ["https://kubernetes.default.svc", "other"] } });
    let reply = server.create(&format!("{accounts}/bot/token"), &request).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let token = reply.json()["status"]["token"].as_str().expect("it works").to_owned();
    let header = format!("Authorization: Bearer {token}");
    let own = server.send("POST", REVIEWS, &[&header], b"{}").await.json();
    assert_eq!(own["status"]["userInfo"]["username"], "system:serviceaccount:default:bot");
    let review = json!({ "spec": { "token": token, "audiences": ["other", "third"] } });
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let status = server.create(reviews, &review).await.json()["status"].clone();
    assert_eq!(status["audiences"], json!(["other"]));
    let short = json!({ "spec": { "expirationSeconds": 10 } });
    let reply = server.create(&format!("{accounts}/bot/token"), &short).await;
    assert_eq!(reply.status, 422, "{}", reply.text());
    let keys = server.get("/openid/v1/jwks").await.json();
    assert_eq!(keys["keys"][0]["kty"], "EC");
    assert_eq!(server.ask("DELETE", &format!("{accounts}/bot"), &[], "").await.status, 200);
    let gone = server.send("POST", REVIEWS, &[&header], b"{}").await;
    assert_eq!(gone.status, 401);
}

#[tokio::test]
async fn reviews_of_access() {
    let server = Fixture::start().await;
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let of = json!({ "resource": "pods", "verb": "get" });
    let review = json!({ "spec": { "user": "jane", "resourceAttributes": of } });
    assert_eq!(server.create(path, &review).await.json()["status"], json!({ "allowed": false }));
    let groups = ["system:unauthenticated"];
    let health = json!({ "path": "/healthz", "verb": "get" });
    let review = json!({ "spec": { "groups": groups, "nonResourceAttributes": health } });
    let status = server.create(path, &review).await.json()["status"].clone();
    assert_eq!(status["allowed"], true);
    let why = status["reason"].as_str().expect("it works");
    assert!(why.starts_with("RBAC: allowed by ClusterRoleBinding \"system:"), "{why}");
    let nobody = json!({ "spec": { "resourceAttributes": of } });
    assert_eq!(server.create(path, &nobody).await.status, 422);
}
