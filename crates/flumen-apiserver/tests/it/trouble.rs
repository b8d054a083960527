//! Requests that do harm to servers that are not careful.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

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

/// The length is said before the body comes, and the server does not wait for it.
#[tokio::test]
async fn a_body_of_a_hundred_megabytes() {
    let server = Fixture::start().await;
    let address = server.url().replace("http://", "");
    for framing in ["Content-Length: 104857600\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"] {
        let mut stream = TcpStream::connect(&address).await.expect("it listens");
        let head = format!(
            "POST {MAPS} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer t0ken\r\n\
             Content-Type: application/json\r\nConnection: close\r\n{framing}"
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        let (mut answers, mut body) = stream.into_split();
        let chunked = framing.starts_with("Transfer");
        let sender = tokio::spawn(async move {
            let piece = vec![b' '; 1 << 20];
            for _ in 0..100 {
                let mut part = if chunked { b"100000\r\n".to_vec() } else { Vec::new() };
                part.extend_from_slice(&piece);
                part.extend_from_slice(if chunked { b"\r\n" } else { b"" });
                // The server may have heard enough.
                if body.write_all(&part).await.is_err() {
                    break;
                }
            }
        });
        let mut answer = Vec::new();
        let _ = answers.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.starts_with("HTTP/1.1 413 "), "{framing:?}: {answer}");
        assert!(answer.contains("\"reason\":\"RequestEntityTooLarge\""), "{answer}");
        sender.await.expect("it ends");
    }
    assert_eq!(server.get("/readyz").await.status, 200);
}

/// No way of writing a path leads to an object that its plain form does not name.
#[tokio::test]
async fn tricks_with_paths() {
    let server = Fixture::start().await;
    assert_eq!(server.create(MAPS, &json!({"metadata": {"name": "kept"}})).await.status, 201);
    let long = format!("{MAPS}/{}", "a".repeat(20_000));
    for path in [
        "/api/v1/namespaces/other/../default/configmaps/kept",
        "/api/v1/namespaces/%2e%2e/configmaps/kept",
        "/api/v1/namespaces/other/configmaps/..%2f..%2fdefault%2fconfigmaps%2fkept",
        "/api/v1/namespaces/default/configmaps/kept%00",
        "/api/v1/namespaces/default/configmaps/%00",
        "/api/v1/namespaces/default%00/configmaps/kept",
        "/api/v1/namespaces/default/configmaps/kept%252f",
        "/api/v1/namespaces/default/configmaps/kept;a=b",
        "/api/v1/namespaces/default/configmaps/kept%0d%0a",
        "/api/v1/namespaces/default/configmaps/%6bept/%2e%2e/none",
        "/api/v1/namespaces//configmaps/kept",
        "/healthz/../api/v1/namespaces/default/configmaps/kept",
        "/api/v1/./namespaces/default/configmaps/kept",
        "/api/v1/namespaces/default/secrets/kept",
        &long,
    ] {
        for method in ["GET", "DELETE", "PUT"] {
            let reply = server.ask(method, path, &["Content-Type: application/json"], "").await;
            assert!((400..500).contains(&reply.status), "{method} {path}: {}", reply.head);
        }
    }
    for method in ["TRACE", "CONNECT", "NOPE", "get"] {
        let reply = server.ask(method, MAPS, &[], "").await;
        assert!((400..500).contains(&reply.status), "{method}: {}", reply.head);
    }
    assert_eq!(server.get(&format!("{MAPS}/kept")).await.status, 200);
}

/// Whoever claims to be somebody else is asked whether they may.
#[tokio::test]
async fn forged_impersonation() {
    let server = Fixture::start().await;
    let jane = "Authorization: Bearer other";
    let claims: [&[&str]; 8] = [
        &["Impersonate-User: system:admin"],
        &["Impersonate-User: jane", "Impersonate-Group: system:masters"],
        &["impersonate-user: admin"],
        &["Impersonate-User: system:serviceaccount:kube-system:default"],
        &["Impersonate-Uid: admin-uid"],
        &["Impersonate-Extra-Scopes: all"],
        &["Impersonate-Group: system:masters"],
        &["X-Remote-User: admin", "X-Remote-Group: system:masters"],
    ];
    for claim in claims {
        let headers: Vec<&str> = claim.iter().copied().chain([jane]).collect();
        let reply = server.send("GET", "/api/v1/secrets", &headers, b"").await;
        assert!(matches!(reply.status, 400 | 403), "{claim:?}: {}", reply.text());
        assert_eq!(reply.json()["kind"], "Status");
        let anonymous = server.send("GET", "/api/v1/secrets", claim, b"").await;
        assert!(matches!(anonymous.status, 400 | 401 | 403), "{claim:?}: {}", anonymous.text());
    }
}
