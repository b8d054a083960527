//! The way of a request: who asks, what for, may they, and what is the answer.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use flumen_serve::Guard;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{
    HeaderValue, Method, Request, Response,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use rustls::pki_types::CertificateDer;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{
    asked::Asked,
    body, encode, health,
    negotiate::{self, Abilities, Accepted, Encoding, Endpoint},
    protobuf, respond,
    respond::Body,
    route::{self, Astray, Route},
};
use crate::{
    Answer, Api, ApiError, Behaviour, Call, Catalog, Payload, Reason, Verb,
    auth::{Auth, Presented},
    discovery::Discovery,
    openapi::OpenApi,
    represent, rules, verbs,
};

/// Requests in progress, watches not counted.
const REQUESTS: usize = 600;
const WATCHES: usize = 20_000;
/// How long a request may take that is no watch.
const PATIENCE: Duration = Duration::from_mins(1);

/// Everything that answers requests.
#[derive(Debug)]
pub(crate) struct Front {
    api: Api,
    auth: Auth,
    guard: Guard,
    discovery: Discovery,
    openapi: OpenApi,
    requests: Arc<Semaphore>,
    watches: Arc<Semaphore>,
    served: AtomicU64,
}

impl Front {
    pub(crate) fn new(api: Api, auth: Auth, guard: Guard) -> Self {
        Self {
            api,
            auth,
            guard,
            discovery: Discovery::default(),
            openapi: OpenApi::default(),
            requests: Arc::new(Semaphore::new(REQUESTS)),
            watches: Arc::new(Semaphore::new(WATCHES)),
            served: AtomicU64::new(0),
        }
    }

    /// What the certificate of a connection says of its client.
    pub(crate) fn read_certificate(&self, chain: &[CertificateDer<'_>]) -> Presented {
        self.auth.read_certificate(chain)
    }

    /// Answers; a bug that makes it panic is an answer too.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        presented: &Presented,
    ) -> Response<Body> {
        self.served.fetch_add(1, Ordering::Relaxed);
        let answering = AssertUnwindSafe(self.answer_or_refuse(request, presented)).catch_unwind();
        answering.await.unwrap_or_else(|_| {
            respond::error(&ApiError::internal("the request made the server fail"), Encoding::Json)
        })
    }

    async fn answer_or_refuse(
        &self,
        request: Request<Incoming>,
        presented: &Presented,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        if let Err(rejection) = self.guard.check(&parts.uri, &parts.headers) {
            return respond::error(&rejection.into(), Encoding::Json);
        }
        let asked = match Asked::of(parts) {
            Ok(asked) => asked,
            Err(error) => return respond::error(&error, Encoding::Json),
        };
        let limit = if asked.info.verb == "watch" { &self.watches } else { &self.requests };
        let Ok(slot) = Arc::clone(limit).try_acquire_owned() else {
            let message = "Too many requests, please try again later.";
            let error = ApiError::new(429, Some(Reason::TooManyRequests), message);
            return respond::error(&error, asked.error_encoding());
        };
        let encoding = asked.error_encoding();
        let answer = timeout(PATIENCE, self.serve(asked, body, presented, slot)).await;
        let answer = answer.unwrap_or_else(|_| {
            let message = "Timeout: request did not complete within the allotted timeout";
            Err(ApiError::new(504, Some(Reason::Timeout), message))
        });
        answer.unwrap_or_else(|error| respond::error(&error, encoding))
    }

    async fn serve(
        &self,
        mut asked: Asked,
        body: Incoming,
        presented: &Presented,
        slot: OwnedSemaphorePermit,
    ) -> Result<Response<Body>, ApiError> {
        let user = self.auth.authenticate(&asked, presented).await?;
        let user = self.auth.impersonate(&asked.headers, user)?;
        self.auth.authorize(&user, &asked.info)?;
        // Handlers are found by how a path begins; no path begins with nothing.
        if asked.info.path.starts_with("//") {
            return Ok(respond::nothing());
        }
        let catalog = self.api.catalog();
        if asked.info.resource.is_none() {
            return self.serve_document(&asked, &catalog);
        }
        let route = match route::route(&catalog, &mut asked) {
            Ok(route) => route,
            Err(Astray::Nothing) => return Ok(respond::nothing()),
            Err(Astray::Refused(error)) => return Err(error),
        };
        let accepted = accepted(&asked, &route)?;
        let (media, body) = self.body(&asked, &route, body).await?;
        let call = Call {
            user,
            query: asked.query.clone(),
            user_agent: asked.user_agent().to_owned(),
            media,
            body,
            representation: accepted.representation,
            target: route.target,
        };
        let answer = verbs::handle(&self.api, Some(&self.auth), &call, route.resource).await?;
        respond_to(&asked, accepted, answer, slot)
    }

    async fn body(
        &self,
        asked: &Asked,
        route: &Route,
        body: Incoming,
    ) -> Result<(Option<crate::Media>, bytes::Bytes), ApiError> {
        let verb = route.target.verb;
        if matches!(verb, Verb::Get | Verb::List | Verb::Watch) {
            return Ok((None, bytes::Bytes::new()));
        }
        let custom = !matches!(route.resource.behaviour, Behaviour::Builtin { .. });
        let media = if verb == Verb::Patch {
            let media = body::media(asked.header(CONTENT_TYPE), verb, custom);
            let warning = rules::deprecation(&route.resource).filter(|_| custom);
            let warnings = warning.map(str::to_owned).into_iter().collect();
            Some(media.map_err(|error| error.with_warnings(warnings))?)
        } else {
            None
        };
        let bytes = body::read(body).await?;
        let deletes = matches!(verb, Verb::Delete | Verb::DeleteCollection);
        if media.is_some() || bytes.is_empty() && deletes {
            return Ok((media, bytes));
        }
        Ok((Some(body::media(asked.header(CONTENT_TYPE), verb, custom)?), bytes))
    }

    /// Answers what is no resource.
    fn serve_document(
        &self,
        asked: &Asked,
        catalog: &Arc<Catalog>,
    ) -> Result<Response<Body>, ApiError> {
        let path = asked.info.path.as_str();
        if let Some(answer) = health::answer(path, &asked.query) {
            return Ok(answer);
        }
        match path {
            "/" => Ok(respond::json(&Discovery::root_paths(catalog))),
            "/version" | "/version/" if asked.method != Method::GET => {
                Err(ApiError::method_not_allowed())
            }
            "/version" | "/version/" => Ok(respond::json(&super::version())),
            "/metrics" => {
                let served = self.served.load(Ordering::Relaxed);
                let text = format!(
                    "# TYPE apiserver_request_total counter\napiserver_request_total {served}\n"
                );
                Ok(respond::bytes(200, respond::PLAIN, text))
            }
            path if path.starts_with("/openapi/") => Ok(self.openapi.answer(asked, catalog)),
            _ => match self.auth.document(path) {
                Some(document) => Ok(document),
                None => self.discovery.answer(asked, catalog),
            },
        }
    }
}

/// Groups whose real servers make no tables of a status.
const PLAIN_STATUS: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

fn accepted(asked: &Asked, route: &Route) -> Result<Accepted, ApiError> {
    let verb = route.target.verb;
    let endpoint = match route.resource.behaviour {
        Behaviour::Builtin { .. } if matches!(verb, Verb::List | Verb::Watch) => {
            Endpoint::Collection
        }
        Behaviour::Builtin { .. } => Endpoint::Object,
        Behaviour::Custom { .. } => Endpoint::Custom,
    };
    negotiate::check_producible(&asked.accept, endpoint)?;
    let group = &*route.resource.group;
    let is_plain_status = route.target.subresource == "status" && PLAIN_STATUS.contains(&group);
    let abilities = Abilities { watch: verb == Verb::Watch, tables: !is_plain_status };
    let mut accepted = negotiate::negotiate(&asked.accept, abilities)?;
    accepted.pretty |= asked.is_pretty();
    Ok(accepted)
}

fn respond_to(
    asked: &Asked,
    accepted: Accepted,
    answer: Answer,
    slot: OwnedSemaphorePermit,
) -> Result<Response<Body>, ApiError> {
    let value = match answer.payload {
        Payload::Watch(events) => {
            let mut response = watch(accepted, events, slot);
            respond::warn(&mut response, &answer.warnings);
            return Ok(response);
        }
        Payload::Text(text) => {
            let is_empty = text.is_empty();
            let mut response = respond::bytes(answer.code, "text/plain", text);
            if is_empty {
                response.headers_mut().remove(CONTENT_TYPE);
            }
            respond::warn(&mut response, &answer.warnings);
            return Ok(response);
        }
        Payload::List { resource, metadata, items } if accepted.is_plain() => {
            let body = encode::list(&resource, &metadata, &items)?;
            return Ok(respond_with(asked, (answer.code, &answer.warnings), Encoding::Json, body));
        }
        payload => represent::payload(payload, accepted.representation, &asked.query)?,
    };
    let (body, encoding) = match protobuf::object(&value, accepted.encoding) {
        Some(body) => (body, Encoding::Protobuf),
        None if accepted.encoding == Encoding::Protobuf => {
            (encode::text(&value, Encoding::Json, accepted.pretty)?, Encoding::Json)
        }
        None => (encode::text(&value, accepted.encoding, accepted.pretty)?, accepted.encoding),
    };
    Ok(respond_with(asked, (answer.code, &answer.warnings), encoding, body))
}

fn respond_with(
    asked: &Asked,
    (code, warnings): (u16, &[String]),
    encoding: Encoding,
    body: Vec<u8>,
) -> Response<Body> {
    let (body, gzip) = respond::compressed(body, asked.accepts_gzip());
    let mut response = respond::bytes(code, encoding.media_type(), body);
    if gzip {
        respond::mark_gzip(&mut response);
    }
    respond::warn(&mut response, warnings);
    response
}

/// Events as they come. The place among the watches is free again when the client is gone.
fn watch(
    accepted: Accepted,
    events: std::pin::Pin<Box<dyn futures_util::Stream<Item = bytes::Bytes> + Send>>,
    slot: OwnedSemaphorePermit,
) -> Response<Body> {
    let frames = events.map(move |line| {
        let _held = &slot;
        Ok(Frame::data(line))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    let media_type =
        if accepted.stream { "application/json;stream=watch" } else { "application/json" };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
