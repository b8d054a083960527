//! `/v2/<name>/tags/list`

use axum::{
    http::header,
    response::{IntoResponse as _, Response},
};
use serde_json::json;

use super::{
    answer::{Failure, failure},
    query::Query,
};
use crate::{Registry, name::RepositoryName};

/// Longer lists come in parts, whatever the client asks for.
const MAX_ENTRIES: usize = 10_000;

pub(super) async fn list(
    registry: &Registry,
    repository: &RepositoryName,
    query: &Query,
) -> Result<Response, Failure> {
    let limit = limit(query)?;
    let after = query.last.clone().unwrap_or_default();
    let page = registry.store().tags(repository, after, limit).await??;
    let body = json!({"name": repository.as_str(), "tags": page.entries});
    let path = format!("/v2/{}/tags/list", repository.as_str());
    Ok(paged(&path, limit, page.next.as_deref(), &body))
}

/// How many entries the client wants.
pub(super) fn limit(query: &Query) -> Result<usize, Failure> {
    let Some(text) = &query.n else { return Ok(MAX_ENTRIES) };
    let wanted = text.parse::<usize>().map_err(|_| failure::number_invalid())?;
    Ok(wanted.min(MAX_ENTRIES))
}

/// A part of a list, with a link to the next one.
pub(super) fn paged(
    path: &str,
    limit: usize,
    next: Option<&str>,
    body: &serde_json::Value,
) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (kind, body.to_string()).into_response();
    let link = next
        .and_then(|last| format!("<{path}?n={limit}&last={last}>; rel=\"next\"").try_into().ok());
    response.headers_mut().extend(link.map(|link| (header::LINK, link)));
    response
}
