//! `/v2/<name>/manifests/<reference>`

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::{
    CONTENT_DIGEST,
    answer::{Failure, failure},
    empty,
};
use crate::{
    Registry,
    digest::{Algorithm, Digest},
    manifest::Manifest,
    name::{Reference, RepositoryName},
    store::StoredManifest,
};

const SUBJECT: HeaderName = HeaderName::from_static("oci-subject");

pub(super) async fn get(
    registry: &Registry,
    repository: &RepositoryName,
    reference: &Reference,
) -> Result<Response, Failure> {
    let manifest = registry.store().manifest(repository, reference).await??;
    let content = manifest.content.clone();
    Ok(respond(&manifest, Body::from(content)))
}

pub(super) async fn head(
    registry: &Registry,
    repository: &RepositoryName,
    reference: &Reference,
) -> Result<Response, Failure> {
    let manifest = registry.store().manifest(repository, reference).await??;
    Ok(respond(&manifest, Body::empty()))
}

/// The bytes as they were pushed. A registry that converts would change the digest, so what the
/// client says it accepts makes no difference.
fn respond(manifest: &StoredManifest, body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, manifest.media_type.clone()),
        (header::CONTENT_LENGTH, manifest.content.len().to_string()),
        (header::ETAG, format!("\"{}\"", manifest.digest)),
        (CONTENT_DIGEST, manifest.digest.to_string()),
    ];
    (headers, body).into_response()
}

pub(super) async fn put(
    registry: &Registry,
    repository: &RepositoryName,
    reference: &Reference,
    request: Request,
) -> Result<Response, Failure> {
    let (head, body) = request.into_parts();
    let content_type = match head.headers.get(header::CONTENT_TYPE) {
        None => None,
        Some(value) => {
            let text = value.to_str().ok();
            let text = text.ok_or_else(|| failure::manifest_invalid("odd Content-Type"))?;
            Some(text.split(';').next().unwrap_or_default().trim()).filter(|text| !text.is_empty())
        }
    };
    registry.store().space().check(0)?;
    let content = receive(body, registry.limits().manifest_size).await?;
    let (tag, digest) = match reference {
        Reference::Tag(tag) => (Some(tag), Digest::of(Algorithm::Sha256, &content)),
        Reference::Digest(digest) if Digest::of(digest.algorithm(), &content) == *digest => {
            (None, digest.clone())
        }
        Reference::Digest(_) => {
            return Err(failure::digest_invalid("the content is not what the digest names"));
        }
    };
    let manifest =
        Manifest::read(&content, &digest, content_type).map_err(failure::manifest_invalid)?;
    let subject = manifest.referrer.as_ref().map(|referrer| referrer.subject.to_string());
    registry.store().put_manifest(repository, tag, &digest, manifest, content).await??;

    let headers = [
        (header::LOCATION, format!("/v2/{}/manifests/{digest}", repository.as_str())),
        (CONTENT_DIGEST, digest.to_string()),
    ];
    let mut response = (StatusCode::CREATED, headers).into_response();
    // Tells the client that it need not keep a list of referrers itself.
    let subject = subject.and_then(|subject| subject.try_into().ok());
    response.headers_mut().extend(subject.map(|subject| (SUBJECT, subject)));
    Ok(response)
}

async fn receive(body: Body, limit: usize) -> Result<Bytes, Failure> {
    to_bytes(body, limit).await.map_err(|_| failure::manifest_too_large(limit))
}

pub(super) async fn delete(
    registry: &Registry,
    repository: &RepositoryName,
    reference: &Reference,
) -> Result<Response, Failure> {
    registry.store().delete_manifest(repository, reference).await??;
    Ok(empty(StatusCode::ACCEPTED))
}
