//! Small HTTP servers for those who look after the controller: metrics, and whether it is well.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use flumen_serve::{Limits, Running, Silence, serve};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use tokio::net::TcpListener;

use crate::{Controller, metrics};

const LIMITS: Limits = Limits {
    connections: 64,
    handshake: Duration::from_secs(10),
    head: Duration::from_secs(10),
    silence: Silence::Short(Duration::from_secs(30)),
    ping: None,
};

/// Where something is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listen {
    #[default]
    Nowhere,
    /// Here, unless somebody else is there already: nobody has asked for it by name.
    IfFree(SocketAddr),
    At(SocketAddr),
}

/// The servers, for as long as they are kept.
#[derive(Debug, Default)]
pub(crate) struct Endpoints(Vec<Running>);

impl Endpoints {
    /// The error is that of an address that was asked for.
    pub(crate) async fn serve(
        controller: &Arc<Controller>,
    ) -> Result<Self, (SocketAddr, io::Error)> {
        let mut running = Vec::new();
        let options = &controller.options;
        let of_metrics = controller.clone();
        let metrics = move |path: &str| {
            (path == "/metrics").then(|| {
                let text = of_metrics.metrics.text(&of_metrics.queue, &of_metrics.client);
                (StatusCode::OK, metrics::CONTENT_TYPE, text)
            })
        };
        running.extend(listen("metrics", options.metrics_at, metrics).await?);
        let of_health = controller.clone();
        let health = move |path: &str| {
            let is_well = match path.trim_end_matches('/') {
                "/healthz" => true,
                "/readyz" => of_health.is_known(),
                _ => return None,
            };
            let (status, text) = if is_well {
                (StatusCode::OK, "ok")
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "does not know yet what there is")
            };
            Some((status, "text/plain; charset=utf-8", text.to_owned()))
        };
        running.extend(listen("health", options.health_at, health).await?);
        Ok(Self(running))
    }

    pub(crate) async fn shutdown(self) {
        for running in self.0 {
            running.shutdown().await;
        }
    }
}

/// What is answered to a path, if there is something.
type Answer = Option<(StatusCode, &'static str, String)>;

async fn listen(
    what: &'static str,
    place: Listen,
    answer: impl Fn(&str) -> Answer + Clone + Send + Sync + 'static,
) -> Result<Option<Running>, (SocketAddr, io::Error)> {
    let (address, is_asked_for) = match place {
        Listen::Nowhere => return Ok(None),
        Listen::IfFree(address) => (address, false),
        Listen::At(address) => (address, true),
    };
    let listener = match TcpListener::bind(address).await {
        Ok(listener) => listener,
        Err(error) if !is_asked_for && error.kind() == io::ErrorKind::AddrInUse => {
            tracing::warn!(%address, what, "is not served: the address is taken");
            return Ok(None);
        }
        Err(error) => return Err((address, error)),
    };
    let running = serve(listener, None, LIMITS, move |_| {
        let answer = answer.clone();
        service_fn(move |request| {
            let response = respond(&request, &answer);
            async move { Ok::<_, Infallible>(response) }
        })
    });
    let running = running.map_err(|error| (address, error))?;
    tracing::debug!(address = %running.address(), what, "is served");
    Ok(Some(running))
}

fn respond(request: &Request<Incoming>, answer: impl Fn(&str) -> Answer) -> Response<Full<Bytes>> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let answer = if is_read { answer(request.uri().path()) } else { None };
    let (status, content_type, text) =
        answer.unwrap_or((StatusCode::NOT_FOUND, "text/plain; charset=utf-8", String::new()));
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
