//! `/v2/<name>/blobs/uploads/`

use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;

use super::{
    CONTENT_DIGEST,
    answer::{Failure, failure},
    empty,
    query::Query,
    range, route,
};
use crate::{
    Registry,
    digest::Digest,
    name::RepositoryName,
    uploads::{Appender, Reach, Upload, UploadError},
};

const UPLOAD_ID: HeaderName = HeaderName::from_static("docker-upload-uuid");

/// Begins an upload; also takes all of a blob at once, or a blob of another repository.
pub(super) async fn begin(
    registry: &Registry,
    repository: &RepositoryName,
    query: &Query,
    request: Request,
) -> Result<Response, Failure> {
    if let Some(digest) = &query.digest {
        let digest = route::digest(digest)?;
        let upload = registry.uploads().create().await?;
        let upload = receive(registry, upload, request).await?;
        return store(registry, repository, upload, &digest).await;
    }
    if let (Some(digest), Some(from)) = (&query.mount, &query.from) {
        let (digest, from) = (route::digest(digest)?, route::repository(from)?);
        if registry.store().mount_blob(repository, &from, &digest).await?.is_ok() {
            return Ok(created(repository, &digest));
        }
        // The specification wants an upload to begin when there is nothing to mount.
    }
    let id = registry.uploads().begin(repository).await?;
    Ok(progress(StatusCode::ACCEPTED, repository, &id, 0))
}

pub(super) async fn status(
    registry: &Registry,
    repository: &RepositoryName,
    id: &str,
) -> Result<Response, Failure> {
    let upload =
        registry.uploads().lock(repository, id).await.ok_or_else(failure::upload_unknown)?;
    Ok(progress(StatusCode::NO_CONTENT, repository, id, upload.size()))
}

pub(super) async fn append(
    registry: &Registry,
    repository: &RepositoryName,
    id: &str,
    request: Request,
) -> Result<Response, Failure> {
    let size = extend(registry, repository, id, request).await?;
    Ok(progress(StatusCode::ACCEPTED, repository, id, size))
}

/// Takes what is left of the content, checks it, and makes it a blob.
pub(super) async fn finish(
    registry: &Registry,
    repository: &RepositoryName,
    id: &str,
    query: &Query,
    request: Request,
) -> Result<Response, Failure> {
    let digest = query.digest.as_deref();
    let digest = digest.ok_or_else(|| failure::digest_invalid("the digest is missing"))?;
    let digest = route::digest(digest)?;
    extend(registry, repository, id, request).await?;
    let upload = registry.uploads().take(id).ok_or_else(failure::upload_unknown)?;
    store(registry, repository, upload, &digest).await
}

pub(super) fn cancel(
    registry: &Registry,
    repository: &RepositoryName,
    id: &str,
) -> Result<Response, Failure> {
    if registry.uploads().remove(repository, id) {
        Ok(empty(StatusCode::NO_CONTENT))
    } else {
        Err(failure::upload_unknown())
    }
}

/// Adds the body of a request to an upload and returns the new size.
async fn extend(
    registry: &Registry,
    repository: &RepositoryName,
    id: &str,
    request: Request,
) -> Result<u64, Failure> {
    let upload =
        registry.uploads().lock(repository, id).await.ok_or_else(failure::upload_unknown)?;
    let chunk = range::chunk(request.headers())
        .map_err(|()| failure::upload_invalid("the Content-Range cannot be read"))?;
    if let Some((first, last)) = chunk {
        if first != upload.size() {
            let received = range::received(upload.size());
            return Err(failure::range_invalid("the chunk does not continue the upload")
                .with(header::RANGE, received)
                .with(header::LOCATION, location(repository, id)));
        }
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length != last - first + 1) {
            return Err(failure::size_invalid("Content-Range and Content-Length disagree"));
        }
    }
    match receive(registry, upload, request).await {
        Ok(upload) => Ok(upload.size()),
        Err(error) => {
            // A client that went away may come back; what cannot be stored need not wait for it.
            if error.ends_upload {
                registry.uploads().remove(repository, id);
            }
            Err(error.into())
        }
    }
}

/// The body did not arrive whole.
struct Interrupted {
    failure: Failure,
    ends_upload: bool,
}

impl From<UploadError> for Interrupted {
    fn from(error: UploadError) -> Self {
        Self { failure: error.into(), ends_upload: true }
    }
}

impl From<Interrupted> for Failure {
    fn from(interrupted: Interrupted) -> Self {
        interrupted.failure
    }
}

/// Adds the body of a request to an upload.
async fn receive<U: Reach>(
    registry: &Registry,
    upload: U,
    request: Request,
) -> Result<U, Interrupted> {
    let appender = Appender::start(upload, registry.uploads().max_size());
    let mut body = request.into_body().into_data_stream();
    while let Some(piece) = body.next().await {
        let Ok(piece) = piece else {
            // What arrived stays; the client can ask how far it came.
            let _ = appender.finish().await;
            let failure = failure::upload_invalid("the content ended too early");
            return Err(Interrupted { failure, ends_upload: false });
        };
        if !appender.append(piece).await {
            break;
        }
    }
    Ok(appender.finish().await?)
}

/// Makes a complete upload a blob of the repository.
async fn store(
    registry: &Registry,
    repository: &RepositoryName,
    upload: Upload,
    digest: &Digest,
) -> Result<Response, Failure> {
    let size = upload.size();
    let expected = digest.clone();
    let (content, reserved) = tokio::task::spawn_blocking(move || upload.finish(&expected))
        .await
        .map_err(|_| UploadError::Stopped)??;
    registry.store().add_blob(repository, digest, size, content, reserved).await?;
    Ok(created(repository, digest))
}

fn created(repository: &RepositoryName, digest: &Digest) -> Response {
    let headers = [
        (header::LOCATION, format!("/v2/{}/blobs/{digest}", repository.as_str())),
        (CONTENT_DIGEST, digest.to_string()),
    ];
    (StatusCode::CREATED, headers).into_response()
}

fn progress(status: StatusCode, repository: &RepositoryName, id: &str, size: u64) -> Response {
    let mut response = empty(status);
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, location(repository, id));
    headers.insert(header::RANGE, range::received(size));
    headers.extend(HeaderValue::from_str(id).ok().map(|id| (UPLOAD_ID, id)));
    response
}

fn location(repository: &RepositoryName, id: &str) -> HeaderValue {
    // Neither part can hold anything that a header cannot.
    HeaderValue::try_from(format!("/v2/{}/blobs/uploads/{id}", repository.as_str()))
        .unwrap_or(HeaderValue::from_static("/v2/"))
}
