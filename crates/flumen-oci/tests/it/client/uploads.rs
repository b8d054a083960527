//! Uploads: how many requests they take, and what goes wrong with them.

use std::time::Duration;

use bytes::Bytes;
use flumen_oci::{BlobStream, Descriptor, Error};
use futures_util::stream;

use super::{impatient, options, remote, repository};
use crate::stub::{Reply, Stub, reply};

const LARGE: usize = 9 << 20;

fn blob(size: usize) -> (Descriptor, BlobStream) {
    let bytes = Bytes::from(vec![b'x'; size]);
    (Descriptor::of("text/plain", &bytes), BlobStream::from_bytes(bytes))
}

/// How a registry starts an upload.
fn started() -> Reply {
    reply(202).with("Location", "/upload/1?state=a%2Fb")
}

#[tokio::test]
async fn a_small_blob_takes_one_request_where_the_registry_knows_how() {
    let stub = Stub::start(|_, _| reply(201)).await;
    let repository = repository(stub.host(), &options());
    let (descriptor, content) = blob(5);
    repository.put_blob(&descriptor, content).await.expect("an upload");
    let digest = descriptor.digest.to_string().replace(':', "%3A");
    assert_eq!(stub.asked(), [format!("POST /v2/org/app/blobs/uploads/?digest={digest}")]);
    assert_eq!(stub.seen()[0].body_text(), "xxxxx");
}

#[tokio::test]
async fn elsewhere_it_takes_two_and_the_content_is_sent_in_vain_once() {
    let stub =
        Stub::start(|seen, _| if seen.method == "PUT" { reply(201) } else { started() }).await;
    let repository = repository(stub.host(), &options());
    for size in [5, 6] {
        let (descriptor, content) = blob(size);
        repository.put_blob(&descriptor, content).await.expect("an upload");
    }
    let lengths: Vec<_> =
        stub.seen().iter().map(|seen| (seen.method.clone(), seen.body.len())).collect();
    let expected = [("POST", 5), ("PUT", 5), ("POST", 0), ("PUT", 6)];
    assert_eq!(lengths, expected.map(|(method, length)| (method.to_owned(), length)));
    assert!(stub.asked()[1].starts_with("PUT /upload/1?state=a%2Fb&digest=sha256%3A"));
}

#[tokio::test]
async fn a_large_blob_is_sent_as_it_comes() {
    let stub =
        Stub::start(|seen, _| if seen.method == "PUT" { reply(201) } else { started() }).await;
    let (descriptor, content) = blob(LARGE);
    repository(stub.host(), &options()).put_blob(&descriptor, content).await.expect("an upload");
    let seen = stub.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].header("content-length"), Some(LARGE.to_string().as_str()));
    assert_eq!(seen[1].header("transfer-encoding"), None);
    assert_eq!(Descriptor::of("text/plain", &seen[1].body), descriptor);
}

#[tokio::test]
async fn a_registry_that_wants_pieces_gets_them_the_second_time() {
    let stub = Stub::start(|seen, _| match seen.method.as_str() {
        "POST" => started(),
        "PATCH" => reply(202).with("Location", "/upload/2"),
        _ if seen.body.is_empty() => reply(201),
        _ => reply(413),
    })
    .await;
    let repository = repository(stub.host(), &options());
    let (descriptor, content) = blob(LARGE);
    let error = repository.put_blob(&descriptor, content).await.expect_err("too much at once");
    assert!(error.is_transient(), "{error}");
    let (descriptor, content) = blob(LARGE);
    repository.put_blob(&descriptor, content).await.expect("pieces");
    let seen = stub.seen();
    let patches: Vec<_> = seen.iter().filter(|seen| seen.method == "PATCH").collect();
    let ranges: Vec<_> = patches.iter().filter_map(|seen| seen.header("content-range")).collect();
    assert_eq!(ranges, ["0-4194303", "4194304-8388607", "8388608-9437183"]);
    let bytes: Vec<u8> = patches.iter().flat_map(|seen| seen.body.clone()).collect();
    assert_eq!(Descriptor::of("text/plain", &bytes), descriptor);
}

#[tokio::test]
async fn other_content_never_arrives_in_full() {
    let stub =
        Stub::start(|seen, _| if seen.method == "PUT" { reply(201) } else { started() }).await;
    let (mut descriptor, content) = blob(LARGE);
    descriptor.digest = Descriptor::of("text/plain", b"something else").digest;
    let content = BlobStream::verified(content, &descriptor);
    let error = repository(stub.host(), &options()).put_blob(&descriptor, content).await;
    assert!(matches!(error, Err(Error::DigestMismatch { .. })), "{error:?}");
    assert!(stub.seen().iter().all(|seen| seen.method != "PUT"));
}

#[tokio::test]
async fn content_of_another_size_is_refused() {
    for announced in [LARGE - 1, LARGE + 1] {
        let stub =
            Stub::start(|seen, _| if seen.method == "PUT" { reply(201) } else { started() }).await;
        let (mut descriptor, content) = blob(LARGE);
        descriptor.size = announced as u64;
        let error = repository(stub.host(), &options()).put_blob(&descriptor, content).await;
        assert!(matches!(error, Err(Error::SizeMismatch { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn an_upload_that_stands_still_is_given_up() {
    let stub = Stub::start(|_, _| started()).await;
    let (descriptor, _) = blob(LARGE);
    let never = BlobStream::verified(stream::pending(), &descriptor);
    let repository = repository(stub.host(), &impatient());
    let error = repository.put_blob(&descriptor, never).await.expect_err("nothing to send");
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn an_acknowledgement_that_never_comes_is_given_up() {
    let stub =
        Stub::start(
            |seen, _| {
                if seen.method == "PUT" { Reply::Silence(Vec::new()) } else { started() }
            },
        )
        .await;
    let mut options = impatient();
    options.timeouts.commit = Duration::from_millis(200);
    let (descriptor, content) = blob(LARGE);
    let error = repository(stub.host(), &options).put_blob(&descriptor, content).await;
    assert!(matches!(error, Err(Error::TimedOut { .. })), "{error:?}");
}

#[tokio::test]
async fn the_address_of_an_upload_may_be_elsewhere_but_not_anywhere() {
    let storage = Stub::start(|_, _| reply(201)).await;
    let location = format!("http://{}/upload", storage.host());
    let stub = Stub::start(move |seen, _| match seen.header("authorization") {
        Some(_) => reply(202).with("Location", &location),
        None => reply(401).with("WWW-Authenticate", "Basic realm=\"x\""),
    })
    .await;
    let mut options = options();
    options.credentials = "user:secret".parse().ok();
    for size in [5, LARGE] {
        let (descriptor, content) = blob(size);
        repository(stub.host(), &options).put_blob(&descriptor, content).await.expect("an upload");
    }
    assert_eq!(storage.seen().len(), 2);
    assert!(storage.seen().iter().all(|seen| seen.header("authorization").is_none()));

    for location in ["http://[::1:%zz", "file:///tmp/x"] {
        let stub = Stub::start(move |_, _| reply(202).with("Location", location)).await;
        let (descriptor, content) = blob(5);
        let error = repository(stub.host(), &options).put_blob(&descriptor, content).await;
        assert!(matches!(error, Err(Error::Protocol { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn what_a_failed_mount_started_is_used() {
    let stub =
        Stub::start(|seen, _| if seen.method == "PUT" { reply(201) } else { started() }).await;
    let remote = remote(stub.host(), &options());
    for size in [5, LARGE] {
        let (descriptor, content) = blob(size);
        assert!(!remote.mount_blob(&descriptor, "org/base").await.expect("an answer"));
        let repository = flumen_oci::Repository::Remote(remote.clone());
        repository.put_blob(&descriptor, content).await.expect("an upload");
    }
    let methods: Vec<_> = stub.seen().iter().map(|seen| seen.method.clone()).collect();
    assert_eq!(methods, ["POST", "PUT", "POST", "PUT"]);
    assert!(stub.asked()[0].ends_with("&from=org%2Fbase"), "{:?}", stub.asked());
}

#[tokio::test]
async fn a_manifest_that_is_stored_as_something_else_is_noticed() {
    let stub =
        Stub::start(|_, _| reply(201).with("Docker-Content-Digest", &format!("sha256:{:064}", 0)))
            .await;
    let manifest = flumen_oci::RawManifest::new(flumen_oci::media_type::OCI_MANIFEST, "{}");
    let error = repository(stub.host(), &options()).put_manifest(&manifest, Some("v1")).await;
    assert!(matches!(error, Err(Error::DigestMismatch { .. })), "{error:?}");
}
