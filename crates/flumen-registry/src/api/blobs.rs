//! `/v2/<name>/blobs/<digest>`

use std::io::{self, Read as _, Seek as _, SeekFrom};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures_util::{Stream, stream};

use super::{CONTENT_DIGEST, answer::Failure, empty, range::Wanted};
use crate::{
    Registry,
    digest::Digest,
    name::RepositoryName,
    store::{BlobContent, Refusal},
};

/// How much is read from the disk at a time. Larger pieces cost memory per download and save
/// little; smaller ones cost a change of threads each.
const PIECE: u64 = 256 << 10;

pub(super) async fn head(
    registry: &Registry,
    repository: &RepositoryName,
    digest: &Digest,
) -> Result<Response, Failure> {
    let size = registry.store().blob_size(repository, digest).await?.ok_or(Refusal::BlobUnknown)?;
    Ok(respond(StatusCode::OK, digest, size, Body::empty()))
}

pub(super) async fn get(
    registry: &Registry,
    repository: &RepositoryName,
    digest: &Digest,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let blob = registry.store().open_blob(repository, digest).await?.ok_or(Refusal::BlobUnknown)?;
    let size = blob.size;
    match Wanted::of(headers, size) {
        Wanted::All => {
            let body = Body::from_stream(content(blob, 0, size));
            Ok(respond(StatusCode::OK, digest, size, body))
        }
        Wanted::Part(first, last) => {
            let length = last - first + 1;
            let body = Body::from_stream(content(blob, first, length));
            let mut response = respond(StatusCode::PARTIAL_CONTENT, digest, length, body);
            let range = HeaderValue::try_from(format!("bytes {first}-{last}/{size}"));
            response.headers_mut().extend(range.ok().map(|range| (header::CONTENT_RANGE, range)));
            Ok(response)
        }
        Wanted::Impossible => {
            let range = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            Ok((StatusCode::RANGE_NOT_SATISFIABLE, range).into_response())
        }
    }
}

pub(super) async fn delete(
    registry: &Registry,
    repository: &RepositoryName,
    digest: &Digest,
) -> Result<Response, Failure> {
    registry.store().delete_blob(repository, digest).await??;
    Ok(empty(StatusCode::ACCEPTED))
}

fn respond(status: StatusCode, digest: &Digest, length: u64, body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::ETAG, format!("\"{digest}\"")),
        (CONTENT_DIGEST, digest.to_string()),
    ];
    (status, headers, body).into_response()
}

/// Pieces of the file, each read on a thread that may wait for the disk.
fn content(blob: BlobContent, start: u64, length: u64) -> impl Stream<Item = io::Result<Bytes>> {
    let state = (blob.file, start, length);
    stream::try_unfold(state, |(mut file, start, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let read = tokio::task::spawn_blocking(move || {
            let wanted = left.min(PIECE);
            let mut piece = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
            file.seek(SeekFrom::Start(start))?;
            file.by_ref().take(wanted).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            Ok((file, piece))
        });
        let (file, piece) = read.await.map_err(io::Error::other)??;
        let size = piece.len() as u64;
        Ok(Some((Bytes::from(piece), (file, start + size, left - size))))
    })
}
