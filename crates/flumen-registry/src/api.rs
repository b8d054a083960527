//! The endpoints of the distribution specification, one file each.

mod answer;
mod blobs;
mod catalog;
mod manifests;
mod query;
mod range;
mod referrers;
mod route;
mod tags;
mod uploads;

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};

use crate::{Auth, Registry, accounts::Identity};
use answer::{Failure, failure};
use query::Query;
use route::Route;

const API_VERSION: HeaderName = HeaderName::from_static("docker-distribution-api-version");
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");

pub(crate) async fn handle(State(registry): State<Registry>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let result = match authorize(&registry, &head).await {
        Ok(()) => dispatch(&registry, Request::from_parts(head, body)).await,
        Err(failure) => Err(failure),
    };
    let mut response = result.unwrap_or_else(|failure| {
        if let Some(cause) = failure.cause() {
            registry.report().failure(cause);
        }
        failure.into_response()
    });
    response.headers_mut().insert(API_VERSION, HeaderValue::from_static("registry/2.0"));
    response
}

async fn authorize(registry: &Registry, request: &Parts) -> Result<(), Failure> {
    let Auth::Required(accounts) = registry.auth() else { return Ok(()) };
    let header = request.headers.get(header::AUTHORIZATION);
    let header = header.map(|value| value.to_str().unwrap_or_default());
    let may_read = accounts.anonymous_read && matches!(request.method, Method::GET | Method::HEAD);
    // Clients ask the base whether they need credentials at all, also those that will write.
    let is_base = matches!(request.uri.path(), "/v2" | "/v2/");
    match accounts.identify(header).await {
        Identity::Known => Ok(()),
        Identity::Anonymous if may_read && !is_base => Ok(()),
        Identity::Anonymous | Identity::Wrong => Err(failure::unauthorized(accounts.challenge())),
    }
}

async fn dispatch(registry: &Registry, request: Request) -> Result<Response, Failure> {
    let route = Route::parse(request.uri().path())?;
    let query = Query::parse(request.uri().query());
    let method = request.method().clone();
    match (route, method) {
        (Route::Base, Method::GET | Method::HEAD) => {
            Ok(([(header::CONTENT_TYPE, "application/json")], "{}").into_response())
        }
        (Route::Catalog, Method::GET) => catalog::list(registry, &query).await,
        (Route::Tags(repository), Method::GET) => tags::list(registry, &repository, &query).await,
        (Route::Referrers(repository, digest), Method::GET) => {
            referrers::list(registry, &repository, &digest, &query).await
        }
        (Route::Manifest(repository, reference), method) => match method {
            Method::GET => manifests::get(registry, &repository, &reference).await,
            Method::HEAD => manifests::head(registry, &repository, &reference).await,
            Method::PUT => manifests::put(registry, &repository, &reference, request).await,
            Method::DELETE => manifests::delete(registry, &repository, &reference).await,
            _ => Err(failure::method_not_allowed()),
        },
        (Route::Blob(repository, digest), method) => match method {
            Method::GET => blobs::get(registry, &repository, &digest, request.headers()).await,
            Method::HEAD => blobs::head(registry, &repository, &digest).await,
            Method::DELETE => blobs::delete(registry, &repository, &digest).await,
            _ => Err(failure::method_not_allowed()),
        },
        (Route::NewUpload(repository), Method::POST) => {
            uploads::begin(registry, &repository, &query, request).await
        }
        (Route::Upload(repository, id), method) => match method {
            Method::GET => uploads::status(registry, &repository, &id).await,
            Method::PATCH => uploads::append(registry, &repository, &id, request).await,
            Method::PUT => uploads::finish(registry, &repository, &id, &query, request).await,
            Method::DELETE => uploads::cancel(registry, &repository, &id),
            _ => Err(failure::method_not_allowed()),
        },
        _ => Err(failure::method_not_allowed()),
    }
}

/// An answer without a body.
fn empty(status: StatusCode) -> Response {
    status.into_response()
}
