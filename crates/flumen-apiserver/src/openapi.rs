//! The `OpenAPI` documents.

use std::sync::Arc;

use http::Response;

use crate::{
    Catalog,
    http::{Asked, Body, respond},
};

#[derive(Debug, Default)]
pub(crate) struct OpenApi;

impl OpenApi {
    pub(crate) fn answer(&self, _asked: &Asked, _catalog: &Arc<Catalog>) -> Response<Body> {
        respond::nothing()
    }
}
