//! Which resources there are, as clients ask before anything else.

mod aggregated;
mod api_services;
mod legacy;
mod protobuf;
mod versions;

use std::sync::Arc;

use http::{
    HeaderValue, Method, Response,
    header::{ETAG, IF_NONE_MATCH, VARY},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    ApiError, Catalog,
    http::{
        Asked, Body, health_paths,
        negotiate::{self, Abilities, Encoding},
        respond, route,
    },
};
use aggregated::Form;

pub(crate) use api_services::register;

/// The documents of the newest catalog that was asked about.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    made: Mutex<Vec<Made>>,
}

/// An aggregated document, ready to send.
#[derive(Clone, Debug)]
struct Made {
    catalog: Arc<Catalog>,
    form: Form,
    core: bool,
    body: bytes::Bytes,
    etag: String,
}

impl Discovery {
    /// Answers `/api`, `/apis` and what is below, down to the lists of resources.
    pub(crate) fn answer(
        &self,
        asked: &Asked,
        catalog: &Arc<Catalog>,
    ) -> Result<Response<Body>, ApiError> {
        let path = asked.info.path.as_str();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        // The list of groups alone is answered to any method, and so are groups of definitions.
        let reads_only = match parts.as_slice() {
            ["api", ..] => parts.len() <= 2,
            ["apis", group, ..] => parts.len() <= 3 && route::is_builtin_group(catalog, group),
            _ => false,
        };
        if reads_only && asked.method != Method::GET && exists(catalog, &parts) {
            return Err(ApiError::method_not_allowed());
        }
        let document = match parts.as_slice() {
            ["api" | "apis"] => {
                if let Some(form) = Form::wanted(&asked.accept) {
                    return Ok(self.aggregated(asked, catalog, form, parts[0] == "api"));
                }
                let core = parts[0] == "api";
                if core { legacy::versions(asked) } else { legacy::groups(catalog) }
            }
            ["api", "v1"] => legacy::resources(catalog, "", "v1").unwrap_or_default(),
            ["api", ..] => return Err(ApiError::unknown_resource()),
            ["apis", group] => match legacy::group(catalog, group) {
                Some(group) => group,
                None => return Ok(respond::nothing()),
            },
            ["apis", group, version] => match legacy::resources(catalog, group, version) {
                Some(list) => list,
                None if route::is_builtin_group(catalog, group) => {
                    return Err(ApiError::unknown_resource());
                }
                None => return Ok(respond::nothing()),
            },
            _ => return Ok(respond::nothing()),
        };
        negotiate::check_producible(&asked.accept, negotiate::Endpoint::Object)?;
        let abilities = Abilities { watch: false, tables: true };
        let accepted = negotiate::negotiate(&asked.accept, abilities).unwrap_or_default();
        if accepted.encoding == Encoding::Protobuf
            && let Some(body) = protobuf::encode(&document)
        {
            return Ok(respond::bytes(200, Encoding::Protobuf.media_type(), body));
        }
        let pretty = accepted.pretty || asked.is_pretty();
        Ok(respond::object(200, &document, accepted.encoding, pretty))
    }

    /// All paths, for people who ask at the root.
    pub(crate) fn root_paths(catalog: &Catalog) -> Value {
        let mut paths: Vec<String> = [
            "/.well-known/openid-configuration",
            "/api",
            "/api/v1",
            "/apis",
            "/metrics",
            "/openapi/v2",
            "/openapi/v3",
            "/openid/v1/jwks",
            "/version",
        ]
        .map(str::to_owned)
        .to_vec();
        for (group, versions) in versions::groups(catalog) {
            paths.push(format!("/apis/{group}"));
            paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
        }
        paths.extend(health_paths());
        paths.sort();
        json!({ "paths": paths })
    }

    fn aggregated(
        &self,
        asked: &Asked,
        catalog: &Arc<Catalog>,
        form: Form,
        core: bool,
    ) -> Response<Body> {
        let made = self.made(catalog, form, core);
        if asked.header(IF_NONE_MATCH) == made.etag {
            let mut response = respond::bytes(304, form.media_type(), "");
            mark(&mut response, &made.etag);
            return response;
        }
        let (body, gzip) = respond::compressed(made.body.to_vec(), asked.accepts_gzip());
        let mut response = respond::bytes(200, form.media_type(), body);
        if gzip {
            respond::mark_gzip(&mut response);
        }
        mark(&mut response, &made.etag);
        response
    }

    fn made(&self, catalog: &Arc<Catalog>, form: Form, core: bool) -> Made {
        let mut all = self.made.lock();
        all.retain(|made| Arc::ptr_eq(&made.catalog, catalog));
        if let Some(made) = all.iter().find(|made| made.form == form && made.core == core) {
            return made.clone();
        }
        let body = aggregated::document(catalog, form, core).to_string();
        let etag = format!("\"{}\"", respond::hash(body.as_bytes()));
        let made = Made { catalog: Arc::clone(catalog), form, core, body: body.into(), etag };
        all.push(made.clone());
        made
    }
}

/// Whether a built-in group has this version, if one is named.
fn exists(catalog: &Catalog, parts: &[&str]) -> bool {
    match parts {
        ["api", version] => *version == "v1",
        ["apis", group, version] => legacy::resources(catalog, group, version).is_some(),
        _ => true,
    }
}

fn mark(response: &mut Response<Body>, etag: &str) {
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("public"));
}
