use crate::fixture::Fixture;

const UNKNOWN: &str = "the server could not find the requested resource";
const REFUSED: &str = "the server does not allow this method on the requested resource";

async fn check(server: &Fixture, method: &str, path: &str, status: u16, message: &str) {
    let reply = server.ask(method, path, &["Content-Type: application/json"], "{}").await;
    assert_eq!(reply.status, status, "{method} {path}: {}", reply.text());
    let said = if reply.header("content-type") == Some("application/json") {
        reply.message()
    } else {
        reply.text()
    };
    assert_eq!(said, message, "{method} {path}");
}

#[tokio::test]
async fn places_where_nothing_is() {
    let server = Fixture::start().await;
    let nothing = "404 page not found\n";
    check(&server, "GET", "/nope", 404, nothing).await;
    check(&server, "GET", "/apis/nope.example.com", 404, nothing).await;
    check(&server, "DELETE", "/apis/nope.example.com/v1/things", 404, nothing).await;
    check(&server, "GET", "//api/v1", 404, nothing).await;
    check(&server, "GET", "//api/v1/pods", 404, nothing).await;
    check(&server, "GET", "/healthz/nope", 404, nothing).await;
    check(&server, "GET", "/api/v9", 404, UNKNOWN).await;
    check(&server, "GET", "/api/v1/nope", 404, UNKNOWN).await;
    check(&server, "GET", "/apis/apps/v9/deployments", 404, UNKNOWN).await;
    check(&server, "GET", "/apis/apps/v1/deployments/x", 404, UNKNOWN).await;
    check(&server, "GET", "/api/v1/namespaces/default/nodes", 404, UNKNOWN).await;
    let sub = "/apis/apps/v1/namespaces/default/deployments/x/nope";
    check(&server, "GET", sub, 404, UNKNOWN).await;
    check(&server, "GET", "/api/v1/namespaces/default/pods/../../x", 404, UNKNOWN).await;
}

#[tokio::test]
async fn methods_that_a_place_does_not_know() {
    let server = Fixture::start().await;
    let maps = "/api/v1/namespaces/default/configmaps";
    check(&server, "PUT", maps, 405, REFUSED).await;
    check(&server, "POST", &format!("{maps}/c"), 405, REFUSED).await;
    check(&server, "PATCH", maps, 405, REFUSED).await;
    check(&server, "OPTIONS", maps, 405, REFUSED).await;
    check(&server, "DELETE", "/api/v1/namespaces", 405, REFUSED).await;
    check(&server, "POST", "/api/v1/configmaps", 405, REFUSED).await;
    check(&server, "POST", "/version", 405, REFUSED).await;
    check(&server, "DELETE", "/apis/apps", 405, REFUSED).await;
    check(&server, "PUT", "/api/v1", 405, REFUSED).await;
    check(&server, "PUT", "/api/v9", 404, UNKNOWN).await;
    let reviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    check(&server, "GET", reviews, 405, REFUSED).await;
}

#[tokio::test]
async fn encoded_paths_mean_the_same() {
    let server = Fixture::start().await;
    assert_eq!(server.get("/api/v1/namespaces/%64efault").await.status, 200);
    assert_eq!(server.get("/api/v1%2Fnamespaces/default").await.status, 200);
    assert_eq!(server.get("/api/v1/namespaces/%ff").await.status, 400);
}

#[tokio::test]
async fn health_says_what_it_checked() {
    let server = Fixture::start().await;
    for path in ["/healthz", "/livez", "/readyz", "/readyz/ping"] {
        assert_eq!(server.get(path).await.text(), "ok", "{path}");
    }
    let verbose = server.get("/readyz?verbose&exclude=etcd").await.text();
    assert!(verbose.contains("[+]etcd excluded: ok\n"), "{verbose}");
    assert!(verbose.ends_with("readyz check passed\n"), "{verbose}");
}
