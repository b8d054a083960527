//! `/v2/_catalog`

use axum::response::Response;
use serde_json::json;

use super::{
    answer::Failure,
    query::Query,
    tags::{limit, paged},
};
use crate::Registry;

pub(super) async fn list(registry: &Registry, query: &Query) -> Result<Response, Failure> {
    let limit = limit(query)?;
    let after = query.last.clone().unwrap_or_default();
    let page = registry.store().repositories(after, limit).await?;
    let body = json!({"repositories": page.entries});
    Ok(paged("/v2/_catalog", limit, page.next.as_deref(), &body))
}
