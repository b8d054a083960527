//! The `OpenAPI` documents: what `kubectl explain` shows, and what clients check manifests against.
//!
//! Documents are made when they are first asked for, and kept until the catalog changes.

mod documents;
mod gnostic;
mod paths;
mod schemas;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, VARY},
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    Catalog,
    http::{Asked, Body, negotiate, respond},
};

/// The name of the binary form, and the one that older clients ask for: `@` has no place in a media type, so
/// nobody could read it in an answer.
const V2_PROTOBUF: [&str; 2] = [
    "com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// Paths that have a document without resources.
const BARE: [&str; 5] =
    [".well-known/openid-configuration", "api", "apis", "openid/v1/jwks", "version"];

#[derive(Debug, Default)]
pub(crate) struct OpenApi {
    made: Mutex<Option<Made>>,
}

/// The documents of one catalog so far.
#[derive(Debug)]
struct Made {
    catalog: Arc<Catalog>,
    documents: BTreeMap<String, Document>,
}

#[derive(Clone, Debug)]
struct Document {
    body: Bytes,
    hash: String,
}

impl Document {
    fn new(body: Vec<u8>) -> Self {
        let hash = respond::hash(&body);
        Self { body: body.into(), hash }
    }
}

impl OpenApi {
    pub(crate) fn answer(&self, asked: &Asked, catalog: &Arc<Catalog>) -> Response<Body> {
        let path = asked.info.path.trim_end_matches('/');
        match path.strip_prefix("/openapi/v3") {
            Some("") => self.index(asked, catalog),
            Some(rest) => self.v3(asked, catalog, rest.trim_start_matches('/')),
            None if path == "/openapi/v2" => self.v2(asked, catalog),
            None => respond::nothing(),
        }
    }

    fn index(&self, asked: &Asked, catalog: &Arc<Catalog>) -> Response<Body> {
        let mut entries = serde_json::Map::new();
        for path in paths_of(catalog) {
            let document = self.document(catalog, &path, || v3_document(catalog, &path));
            if let Some(Document { hash, .. }) = document {
                let url = format!("/openapi/v3/{path}?hash={hash}");
                entries.insert(path, json!({ "serverRelativeURL": url }));
            }
        }
        let index = Document::new(json!({ "paths": entries }).to_string().into_bytes());
        send(asked, respond::PLAIN, &index)
    }

    fn v3(&self, asked: &Asked, catalog: &Arc<Catalog>, path: &str) -> Response<Body> {
        let found = paths_of(catalog)
            .contains(path)
            .then(|| self.document(catalog, path, || v3_document(catalog, path)))
            .flatten();
        let Some(document) = found else {
            let mut missing = respond::bytes(404, "", "");
            missing.headers_mut().remove(CONTENT_TYPE);
            return missing;
        };
        let wanted = asked.query.get("hash").unwrap_or_default();
        if !wanted.is_empty() && wanted != document.hash {
            let mut moved = respond::bytes(301, respond::PLAIN, "");
            let to = format!("/openapi/v3/{path}?hash={}", document.hash);
            if let Ok(to) = HeaderValue::from_str(&to) {
                moved.headers_mut().insert(LOCATION, to);
            }
            return moved;
        }
        let mut response = send(asked, "application/json", &document);
        if !wanted.is_empty() {
            let forever = HeaderValue::from_static("public, immutable");
            response.headers_mut().insert(CACHE_CONTROL, forever);
        }
        response
    }

    /// Older clients read protobuf alone here.
    fn v2(&self, asked: &Asked, catalog: &Arc<Catalog>) -> Response<Body> {
        let is_protobuf = negotiate::clauses(&asked.accept)
            .first()
            .is_some_and(|clause| V2_PROTOBUF.contains(&clause.subtype));
        let (key, media_type) = if is_protobuf {
            ("v2 protobuf", format!("application/{}", V2_PROTOBUF[0]))
        } else {
            ("v2", "application/json".to_owned())
        };
        let document = self.document(catalog, key, || {
            let document = documents::v2(catalog);
            Some(if is_protobuf { gnostic::encode(&document) } else { text(&document) })
        });
        document.map_or_else(respond::nothing, |document| send(asked, &media_type, &document))
    }

    fn document(
        &self,
        catalog: &Arc<Catalog>,
        key: &str,
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Document> {
        let mut made = self.made.lock();
        if made.as_ref().is_none_or(|made| !Arc::ptr_eq(&made.catalog, catalog)) {
            *made = Some(Made { catalog: Arc::clone(catalog), documents: BTreeMap::new() });
        }
        let documents = &mut made.as_mut()?.documents;
        if let Some(document) = documents.get(key) {
            return Some(document.clone());
        }
        let document = Document::new(make()?);
        documents.insert(key.to_owned(), document.clone());
        Some(document)
    }
}

fn send(asked: &Asked, media_type: &str, document: &Document) -> Response<Body> {
    let etag = format!("\"{}\"", document.hash);
    let mut response = if asked.header(IF_NONE_MATCH) == etag {
        let mut response = respond::bytes(304, media_type, "");
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let (body, gzip) = respond::compressed(document.body.to_vec(), asked.accepts_gzip());
        let mut response = respond::bytes(200, media_type, body);
        if gzip {
            respond::mark_gzip(&mut response);
        }
        response
    };
    let headers = response.headers_mut();
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept"));
    response
}

/// The paths that have a document of their own.
fn paths_of(catalog: &Catalog) -> BTreeSet<String> {
    let mut paths: BTreeSet<String> = BARE.iter().map(|path| (*path).to_owned()).collect();
    for resource in catalog.resources() {
        let path = prefix(&resource.group, &resource.version);
        let path = path.trim_start_matches('/');
        paths.insert(path.to_owned());
        if let Some((group, _)) = path.rsplit_once('/').filter(|(group, _)| *group != "api") {
            paths.insert(group.to_owned());
        }
    }
    paths
}

fn v3_document(catalog: &Catalog, path: &str) -> Option<Vec<u8>> {
    let document = match path.split('/').collect::<Vec<_>>().as_slice() {
        ["api", version] => documents::v3(catalog, "", version)?,
        ["apis", group, version] => documents::v3(catalog, group, version)?,
        _ => documents::v3_without_resources(path),
    };
    Some(text(&document))
}

fn text(document: &Value) -> Vec<u8> {
    document.to_string().into_bytes()
}

/// The path below which a group version is.
fn prefix(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}
