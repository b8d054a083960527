//! Artifacts that others serve.

use std::time::Duration;

use flumen_oci::Digest;
use flumen_source::{
    Owner, Storage,
    import::{ImportError, ImportOptions, Importer, Remote},
};

use crate::stub::Stub;

const BODY: &[u8] = b"an archive";

fn importer() -> Importer {
    let pause = Duration::from_millis(1);
    let options =
        ImportOptions { retries: 2, first_pause: pause, longest_pause: pause, max_bytes: 1 << 10 };
    Importer::new(options).expect("a client")
}

fn owner() -> Owner {
    Owner::new("ExternalArtifact", "default", "app").expect("an owner")
}

async fn import(stub: &Stub, digest: &str, storage: &Storage) -> Result<String, ImportError> {
    let url = format!("{}/x.tar.gz", stub.url);
    let remote = Remote { url: &url, digest, host: None };
    importer().import(remote, &owner(), storage).await.map(|stored| stored.path)
}

#[tokio::test]
async fn an_artifact_is_fetched_once() {
    let scratch = tempfile::tempdir().expect("scratch");
    let storage = Storage::open(scratch.path()).expect("opened");
    let stub = Stub::start(vec![("200 OK", BODY.to_vec())]);
    let digest = Digest::of(BODY).to_string();
    let path = import(&stub, &digest, &storage).await.expect("imported");
    assert_eq!(path, format!("externalartifact/default/app/{digest}.tar.gz"));
    assert_eq!(std::fs::read(scratch.path().join(&path)).expect("published"), BODY);
    // Without its algorithm a digest is one of SHA-256, and the storage has it.
    import(&stub, Digest::of(BODY).hex(), &storage).await.expect("known");
    assert_eq!(stub.requests(), ["GET /x.tar.gz HTTP/1.1"]);
    // Of another algorithm nothing is known before the bytes were seen.
    let other = "sha1:c1eb3cb1a30d3a6e0b2ac4d0e5e3e3d33f3a5d1c";
    let error = import(&stub, other, &storage).await.expect_err("another digest");
    assert!(matches!(error, ImportError::DigestMismatch { .. }), "{error}");
}

#[tokio::test]
async fn a_digest_of_any_algorithm_is_remembered_for_as_long_as_the_artifact_is_there() {
    let scratch = tempfile::tempdir().expect("scratch");
    let storage = Storage::open(scratch.path()).expect("opened");
    let stub = Stub::start(vec![("200 OK", BODY.to_vec())]);
    for digest in [
        "sha512:21b9c6c34401c466769ec75e894d47f3d5eb656358ae836dc6d87b7747af6937\
         7f8266913427dfcd0027e68873ae8962f8afd943a29ccfacacabd27113a981be",
        "sha1:0096cb2abf1d7d6711bf29ad90fa5423e5bf3799",
    ] {
        assert_eq!(storage.known_as(digest), None);
        let before = stub.requests().len();
        for _ in 0..2 {
            let path = import(&stub, digest, &storage).await.expect("imported");
            assert_eq!(path, format!("externalartifact/default/app/{digest}.tar.gz"));
        }
        assert_eq!(storage.known_as(digest), Some(Digest::of(BODY)));
        assert_eq!(stub.requests().len(), before + 1, "{digest}");
    }
    storage.remove_owner(&owner()).expect("removed");
    let digest = "sha1:0096cb2abf1d7d6711bf29ad90fa5423e5bf3799";
    assert_eq!(storage.known_as(digest), None);
    import(&stub, digest, &storage).await.expect("imported again");
    assert_eq!(stub.requests().len(), 3);
}

#[tokio::test]
async fn failing_servers_are_asked_again() {
    let scratch = tempfile::tempdir().expect("scratch");
    let storage = Storage::open(scratch.path()).expect("opened");
    let digest = Digest::of(BODY).to_string();
    let stub = Stub::start(vec![
        ("503 Service Unavailable", Vec::new()),
        ("500 Internal Server Error", Vec::new()),
        ("200 OK", BODY.to_vec()),
    ]);
    import(&stub, &digest, &storage).await.expect("imported at last");
    assert_eq!(stub.requests().len(), 3);

    let digest = Digest::of(b"other").to_string();
    let stub = Stub::start(vec![("502 Bad Gateway", Vec::new())]);
    let error = import(&stub, &digest, &storage).await.expect_err("never");
    assert_eq!(
        error.to_string(),
        format!(
            "failed to download archive: GET {}/x.tar.gz giving up after 3 attempt(s)",
            stub.url
        )
    );
}

#[tokio::test]
async fn what_is_not_there_or_something_else_is_final() {
    let scratch = tempfile::tempdir().expect("scratch");
    let storage = Storage::open(scratch.path()).expect("opened");
    let digest = Digest::of(BODY).to_string();

    let stub = Stub::start(vec![("404 Not Found", Vec::new())]);
    let error = import(&stub, &digest, &storage).await.expect_err("not there");
    assert!(matches!(error, ImportError::NotFound), "{error}");
    assert_eq!(stub.requests().len(), 1);

    let stub = Stub::start(vec![("403 Forbidden", Vec::new())]);
    let error = import(&stub, &digest, &storage).await.expect_err("refused");
    assert_eq!(
        error.to_string(),
        format!("failed to download archive from {}/x.tar.gz (status: 403 Forbidden)", stub.url)
    );

    let stub = Stub::start(vec![("200 OK", b"something else".to_vec())]);
    let error = import(&stub, &digest, &storage).await.expect_err("other bytes");
    assert_eq!(
        error.to_string(),
        format!(
            "failed to verify archive: computed digest doesn't match provided '{digest}' (check whether file size exceeds max download size)"
        )
    );
    let error = import(&stub, "", &storage).await.expect_err("no digest");
    assert_eq!(error.to_string(), "failed to verify archive: empty digest");
    let error = import(&stub, "md5:00", &storage).await.expect_err("no digest");
    assert_eq!(
        error.to_string(),
        "failed to verify archive: failed to parse digest 'md5:00': unsupported digest algorithm"
    );

    let stub = Stub::start(vec![("200 OK", vec![0; 2 << 10])]);
    let error = import(&stub, &digest, &storage).await.expect_err("too large");
    assert!(matches!(error, ImportError::TooLarge { limit: 1024 }), "{error}");

    let is_empty = |path: &str| std::fs::read_dir(scratch.path().join(path)).unwrap().count() == 0;
    assert!(is_empty("temp") && is_empty("blobs/sha256"), "nothing stays of it");
}
