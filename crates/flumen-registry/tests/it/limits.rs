//! What clients cannot make the registry do.

use flumen_registry::{Auth, Error, Options, Server};
use reqwest::{Method, StatusCode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::client::{Fixture, MANIFEST, assert_refused, image, sha256};

#[tokio::test]
async fn large_content_is_refused() {
    let registry = Fixture::with(|options| {
        options.limits.blob_size = 1000;
        options.limits.manifest_size = 1000;
    })
    .await;
    let content = vec![0; 1001];
    let path = format!("/v2/a/blobs/uploads/?digest={}", sha256(&content));
    assert_refused(registry.post(&path, content.clone()).await, 413, "SIZE_INVALID").await;

    let location = registry.begin_upload("a").await;
    let patch = |body: Vec<u8>| registry.request(Method::PATCH, &location).body(body).send();
    assert_eq!(patch(vec![0; 1000]).await.expect("an answer").status(), StatusCode::ACCEPTED);
    assert_refused(patch(vec![0]).await.expect("an answer"), 413, "SIZE_INVALID").await;
    assert_eq!(registry.files_of_uploads(), 0);

    let config = registry.push_blob("a", b"{}").await;
    let mut manifest = image((&config, 2), &[]);
    manifest["annotations"] = serde_json::json!({"long": "x".repeat(1000)});
    let refused = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_refused(refused, 413, "SIZE_INVALID").await;
}

#[tokio::test]
async fn only_so_many_uploads_are_open() {
    let registry = Fixture::with(|options| options.limits.uploads = 2).await;
    let first = registry.begin_upload("a").await;
    registry.begin_upload("a").await;
    let third = registry.post("/v2/a/blobs/uploads/", "").await;
    assert_refused(third, 429, "TOOMANYREQUESTS").await;
    assert_eq!(registry.files_of_uploads(), 2);
    assert_eq!(registry.delete(&first).await.status(), StatusCode::NO_CONTENT);
    registry.begin_upload("a").await;
}

#[tokio::test]
async fn a_full_registry_says_so_and_recovers() {
    let registry = Fixture::with(|options| options.limits.total_size = Some(1000)).await;
    let first = registry.push_blob("a", &[1; 600]).await;
    // The same content takes no more room.
    registry.push_blob("b", &[1; 300]).await;
    let second = [2; 600];
    let path = format!("/v2/a/blobs/uploads/?digest={}", sha256(&second));
    assert_refused(registry.post(&path, second.to_vec()).await, 507, "DENIED").await;
    let location = registry.begin_upload("a").await;
    let patch = registry.request(Method::PATCH, &location).body(second.to_vec()).send().await;
    assert_refused(patch.expect("an answer"), 507, "DENIED").await;
    assert_eq!(registry.files_of_uploads(), 0);
    let kept = registry.get(&format!("/v2/a/blobs/{first}")).await;
    assert!(kept.bytes().await.expect("a body")[..] == [1; 600]);

    assert_eq!(
        registry.delete(&format!("/v2/a/blobs/{first}")).await.status(),
        StatusCode::ACCEPTED
    );
    registry.push_blob("a", &second).await;

    // What is counted is what is there, also after a restart.
    let registry = registry.restart(|_| {}).await;
    let third = [3; 600];
    let path = format!("/v2/a/blobs/uploads/?digest={}", sha256(&third));
    assert_refused(registry.post(&path, third.to_vec()).await, 507, "DENIED").await;
}

#[tokio::test]
async fn a_disk_that_is_nearly_full_is_left_alone() {
    let registry = Fixture::with(|options| options.limits.keep_free = u64::MAX).await;
    let path = format!("/v2/a/blobs/uploads/?digest={}", sha256(b"x"));
    assert_refused(registry.post(&path, "x").await, 507, "DENIED").await;
    let manifest = image((&sha256(b"{}"), 2), &[]);
    let refused = registry.put_manifest("a", "v1", MANIFEST, &manifest).await;
    assert_refused(refused, 507, "DENIED").await;
}

#[tokio::test]
async fn connections_that_stand_still_are_closed() {
    let registry = Fixture::start().await;
    // The clock jumps to the next time limit whenever there is nothing else to do.
    tokio::time::pause();
    let address = registry.server.address();
    let beginnings = [
        "",
        "GET /v2/ HT",
        "POST /v2/a/blobs/uploads/?digest=sha256:00 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc",
    ];
    for beginning in beginnings {
        let mut stream = TcpStream::connect(address).await.expect("connects");
        stream.write_all(beginning.as_bytes()).await.expect("writes");
        // Ends only because the other side closes.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
    }
    tokio::time::resume();
    assert_eq!(registry.files_of_uploads(), 0);
    assert_eq!(registry.get("/v2/").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn the_world_is_not_let_in_by_accident() {
    let data = tempfile::tempdir().expect("a directory");
    let mut options = Options::new(data.path());
    options.address = "0.0.0.0:0".parse().expect("an address");
    let refused = Server::start(options.clone()).await.expect_err("is refused");
    assert!(matches!(refused, Error::Exposed { .. }), "{refused}");
    assert!(refused.hint().is_some());
    options.auth = Auth::Anonymous;
    Server::start(options).await.expect("starts").shutdown().await;
}

#[tokio::test]
async fn a_directory_belongs_to_one_registry_until_it_is_shut_down() {
    let registry = Fixture::start().await;
    let digest = registry.push("a", "v1", b"layer").await;
    let second = Server::start(Options::new(registry.data.path())).await.expect_err("is refused");
    assert!(matches!(second, Error::InUse { .. }), "{second}");

    // A connection that is kept open does not hold up the end.
    let idle = TcpStream::connect(registry.server.address()).await.expect("connects");
    let registry = registry.restart(|_| {}).await;
    drop(idle);
    let head = registry.head("/v2/a/manifests/v1").await;
    assert_eq!(crate::client::header(&head, "docker-content-digest"), digest);
}
