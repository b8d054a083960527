use crate::fixture::Fixture;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn other_hosts_and_origins() {
    let server = Fixture::start().await;
    let rebound = server.ask("GET", "/api", &["Host: evil.example.com"], "").await;
    assert_eq!(rebound.status, 403, "{}", rebound.text());
    let page = server.ask("GET", "/api", &["Origin: https://evil.example.com"], "").await;
    assert_eq!(page.status, 403);
}

#[tokio::test]
async fn bodies_that_are_too_large() {
    let server = Fixture::start().await;
    let headers = ["Authorization: Bearer t0ken", "Content-Type: application/json"];
    let body = vec![b' '; 3 * 1024 * 1024 + 1];
    let reply = server.send("POST", MAPS, &headers, &body).await;
    assert_eq!(reply.status, 413);
    assert_eq!(reply.message(), "Request entity too large: limit is 3145728");
}

#[tokio::test]
async fn bodies_that_nobody_can_read() {
    let server = Fixture::start().await;
    let deep = "[".repeat(1_000_000);
    for body in ["{", "[]", "\u{0}", deep.as_str()] {
        let reply = server.ask("POST", MAPS, &["Content-Type: application/json"], body).await;
        assert_eq!(reply.status, 400, "{}", reply.text());
        assert_eq!(reply.json()["kind"], "Status");
    }
    let protobuf = ["Content-Type: application/vnd.kubernetes.protobuf"];
    let reply = server.ask("POST", MAPS, &protobuf, "k8s\0\u{7f}\u{7f}").await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn selectors_that_mean_nothing() {
    let server = Fixture::start().await;
    let reply = server.get(&format!("{MAPS}?labelSelector=a%20in")).await;
    assert_eq!((reply.status, reply.json()["reason"].as_str()), (400, Some("BadRequest")));
    let reply = server.get(&format!("{MAPS}?fieldSelector=spec.no%3D1")).await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn heads_without_end() {
    let server = Fixture::start().await;
    let header = format!("X-Long: {}", "a".repeat(2 * 1024 * 1024));
    let reply = server.ask("GET", "/healthz", &[&header], "").await;
    assert_ne!(reply.status, 200);
    assert_eq!(server.get("/healthz").await.status, 200);
}
