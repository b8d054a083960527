//! What third parties are served.

use std::sync::Arc;

use flumen_source::{Owner, Storage, serve::serve};
use reqwest::{
    Client, Method, StatusCode,
    header::{HOST, ORIGIN},
};
use tokio::net::TcpListener;

#[tokio::test]
async fn published_files_are_served_and_nothing_else() {
    let scratch = tempfile::tempdir().expect("scratch");
    let storage = Arc::new(Storage::open(scratch.path()).expect("opened"));
    let owner = Owner::new("OCIRepository", "default", "app").expect("an owner");
    let content = vec![7; 200_000];
    let stored = storage.put_bytes(&owner, "sha256:00.tar.gz", &content).expect("stored");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server =
        serve(listener, Arc::clone(&storage), "artifacts.example.com:80").expect("started");
    let base = format!("http://{}", server.address());
    let client = Client::builder().no_proxy().build().expect("a client");
    let ask = |method: Method, path: &str| client.request(method, format!("{base}/{path}")).send();

    let answer = ask(Method::GET, &stored.path).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(answer.headers().contains_key("last-modified"));
    assert_eq!(answer.bytes().await.expect("content"), content);
    let answer = ask(Method::GET, &stored.path.replace(':', "%3A")).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    let answer = ask(Method::HEAD, &stored.path).await.expect("an answer");
    assert_eq!(answer.headers()["content-length"], "200000");

    let blob = format!("blobs/sha256/{}", stored.digest.hex());
    for path in [
        "",
        "ocirepository",
        "ocirepository/default/app",
        "ocirepository/default/app/",
        "ocirepository/default/app/other.tar.gz",
        "ocirepository/default/app/..%2Fapp%2Fsha256:00.tar.gz",
        ".lock",
        &blob,
    ] {
        let answer = ask(Method::GET, path).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path:?}");
    }
    let answer = ask(Method::DELETE, &stored.path).await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);

    let own = format!("http://{}", server.address());
    for (name, value, status) in [
        (HOST, "artifacts.example.com", StatusCode::OK),
        (HOST, "localhost:9090", StatusCode::OK),
        (HOST, "evil.example.com", StatusCode::FORBIDDEN),
        (ORIGIN, "http://evil.example.com", StatusCode::FORBIDDEN),
        (ORIGIN, own.as_str(), StatusCode::OK),
    ] {
        let request = client.get(format!("{base}/{}", stored.path)).header(name, value);
        assert_eq!(request.send().await.expect("an answer").status(), status, "{value}");
    }
    server.shutdown().await;
}
