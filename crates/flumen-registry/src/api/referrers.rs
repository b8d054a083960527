//! `/v2/<name>/referrers/<digest>`

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{answer::Failure, query::Query};
use crate::{Registry, digest::Digest, name::RepositoryName};

const FILTERS_APPLIED: HeaderName = HeaderName::from_static("oci-filters-applied");
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// Clients refuse indexes larger than this; longer lists come in parts.
const MAX_BYTES: usize = 3 << 20;

pub(super) async fn list(
    registry: &Registry,
    repository: &RepositoryName,
    subject: &Digest,
    query: &Query,
) -> Result<Response, Failure> {
    let after = query.last.clone().unwrap_or_default();
    let page = registry.store().referrers(repository, subject, after, MAX_BYTES).await?;
    let mut manifests: Vec<Value> =
        page.entries.iter().filter_map(|entry| serde_json::from_str(entry).ok()).collect();
    if let Some(wanted) = &query.artifact_type {
        manifests.retain(|manifest| manifest["artifactType"] == **wanted);
    }
    let body = json!({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": manifests});
    let mut response = ([(header::CONTENT_TYPE, OCI_INDEX)], body.to_string()).into_response();
    let headers = response.headers_mut();
    if query.artifact_type.is_some() {
        headers.insert(FILTERS_APPLIED, HeaderValue::from_static("artifactType"));
    }
    if let Some(last) = page.next {
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.append_pair("last", &last);
        if let Some(wanted) = &query.artifact_type {
            parameters.append_pair("artifactType", wanted);
        }
        let path = format!("/v2/{}/referrers/{subject}", repository.as_str());
        let link = format!("<{path}?{}>; rel=\"next\"", parameters.finish());
        headers.extend(link.try_into().ok().map(|link: HeaderValue| (header::LINK, link)));
    }
    Ok(response)
}
