//! Blobs whose connection breaks, and blobs that are not what they should be.

use flumen_oci::{BlobStream, Descriptor, Error, Result};

use super::{options, repository};
use crate::stub::{Reply, Seen, Stub, reply};

const SIZE: usize = 200_000;

fn content() -> Vec<u8> {
    (0..SIZE).map(|n| u8::try_from(n % 251).unwrap_or_default()).collect()
}

fn descriptor() -> Descriptor {
    Descriptor::of("text/plain", &content())
}

/// An answer that promises `total` bytes and ends after those that there are.
fn cut(status: &str, total: usize, bytes: &[u8]) -> Reply {
    let mut reply = format!("HTTP/1.1 {status}\r\nContent-Length: {total}\r\n\r\n").into_bytes();
    reply.extend(bytes);
    Reply::Bytes(reply)
}

async fn download(stub: &Stub) -> Result<Vec<u8>> {
    let blob = repository(stub.host(), &options()).blob(&descriptor()).await;
    blob.map(BlobStream::collect)?.await.map(Into::into)
}

fn start_of(seen: &Seen) -> Option<usize> {
    seen.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
}

#[tokio::test]
async fn a_download_goes_on_where_it_broke() {
    let stub = Stub::start(|seen, _| match start_of(seen) {
        None => cut("200 x", SIZE, &content()[..SIZE / 3]),
        Some(start) => {
            let range = format!("bytes {start}-{}/{SIZE}", SIZE - 1);
            let rest = &content()[start..];
            let head = format!("206 x\r\nContent-Range: {range}");
            // The second connection breaks as well.
            cut(&head, rest.len(), &rest[..rest.len().min(SIZE / 2)])
        }
    })
    .await;
    assert!(download(&stub).await.expect("all of it") == content());
    assert_eq!(stub.asked().len(), 3);
}

#[tokio::test]
async fn a_registry_that_knows_no_ranges_starts_again() {
    let stub = Stub::start(|_, before| {
        if before == 0 {
            cut("200 x", SIZE, &content()[..SIZE / 3])
        } else {
            reply(200).body(content())
        }
    })
    .await;
    assert!(download(&stub).await.expect("all of it") == content());
}

#[tokio::test]
async fn another_range_than_was_asked_for_is_refused() {
    let stub = Stub::start(|_, before| {
        if before == 0 {
            cut("200 x", SIZE, &content()[..SIZE / 3])
        } else {
            reply(206)
                .with("Content-Range", &format!("bytes 0-{}/{SIZE}", SIZE - 1))
                .body(content())
        }
    })
    .await;
    let error = download(&stub).await.expect_err("the wrong range");
    assert!(matches!(error, Error::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn a_download_that_always_breaks_ends() {
    let stub = Stub::start(|_, _| cut("200 x", SIZE, &content()[..SIZE / 3])).await;
    let error = download(&stub).await.expect_err("never all of it");
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert_eq!(stub.asked().len(), 6);
}

#[tokio::test]
async fn other_content_is_refused() {
    let mut swapped = content();
    swapped[SIZE / 2] ^= 1;
    let stub = Stub::start(move |_, _| reply(200).body(&swapped)).await;
    let error = download(&stub).await.expect_err("other content");
    assert!(matches!(error, Error::DigestMismatch { .. }), "{error}");
}

#[tokio::test]
async fn another_size_is_refused_before_it_is_read() {
    let stub = Stub::start(|_, _| reply(200).body("short")).await;
    let repository = repository(stub.host(), &options());
    let error = repository.blob(&descriptor()).await.expect_err("another size");
    assert!(matches!(error, Error::SizeMismatch { .. }), "{error}");
    let error = repository.has_blob(&descriptor()).await.expect_err("another size");
    assert!(matches!(error, Error::SizeMismatch { .. }), "{error}");
}

#[tokio::test]
async fn content_without_end_is_cut() {
    let mut endless = b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..100 {
        endless.extend(b"10000\r\n");
        endless.extend(vec![b'x'; 0x10000]);
        endless.extend(b"\r\n");
    }
    let stub = Stub::start(move |_, _| Reply::Silence(endless.clone())).await;
    let error = download(&stub).await.expect_err("too much");
    assert!(matches!(error, Error::SizeMismatch { .. }), "{error}");
}

#[tokio::test]
async fn a_trickle_is_no_download() {
    let head = format!("HTTP/1.1 200 x\r\nContent-Length: {SIZE}\r\n\r\nabc").into_bytes();
    let stub = Stub::start(move |_, _| Reply::Silence(head.clone())).await;
    let blob = repository(stub.host(), &options()).blob(&descriptor()).await.expect("a beginning");
    // From here on the clock jumps to the next time limit whenever there is nothing else to do.
    tokio::time::pause();
    let error = blob.collect().await.expect_err("silence");
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let stub = Stub::start(|_, _| reply(404)).await;
    let error = download(&stub).await.expect_err("nothing");
    let digest = descriptor().digest.to_string();
    assert!(matches!(&error, Error::NotFound { what, .. } if what.contains(&digest)), "{error}");
    assert!(!repository(stub.host(), &options()).has_blob(&descriptor()).await.expect("an answer"));
}
