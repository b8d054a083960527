//! Small HTTP servers for those who run the controller: metrics, and whether it is ready.

use std::{io, net::SocketAddr, time::Duration};

use axum::{
    Router,
    http::{StatusCode, header::CONTENT_TYPE},
    routing::get,
};
use flumen_serve::{Limits, Running, Silence, serve_router};
use tokio::net::TcpListener;

/// Where something is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listen {
    #[default]
    Nowhere,
    /// Here, unless the address is taken: it is only a default.
    IfFree(SocketAddr),
    At(SocketAddr),
}

/// The running servers.
#[derive(Debug, Default)]
pub(crate) struct Endpoints(Vec<Running>);

/// An address that was asked for and cannot be served.
type Failure = (SocketAddr, io::Error);

impl Endpoints {
    /// Serves `/metrics` with the text of each moment.
    pub(crate) async fn serve_metrics(
        &mut self,
        place: Listen,
        content_type: &'static str,
        text: impl Fn() -> String + Clone + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let metrics = get(async move || ([(CONTENT_TYPE, content_type)], text()));
        self.serve("metrics", place, Router::new().route("/metrics", metrics)).await
    }

    /// Serves `/healthz`, which succeeds while the process runs, and `/readyz`.
    pub(crate) async fn serve_health(
        &mut self,
        place: Listen,
        is_ready: impl Fn() -> bool + Clone + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let alive = get(async || "ok");
        let ready = get(async move || {
            if is_ready() {
                (StatusCode::OK, "ok")
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "does not know yet what there is")
            }
        });
        let router = Router::new()
            .route("/healthz", alive.clone())
            .route("/healthz/", alive)
            .route("/readyz", ready.clone())
            .route("/readyz/", ready);
        self.serve("health", place, router).await
    }

    async fn serve(
        &mut self,
        what: &'static str,
        place: Listen,
        router: Router,
    ) -> Result<(), Failure> {
        let (address, is_asked_for) = match place {
            Listen::Nowhere => return Ok(()),
            Listen::IfFree(address) => (address, false),
            Listen::At(address) => (address, true),
        };
        let failed = |error| (address, error);
        let listener = match TcpListener::bind(address).await {
            Err(error) if !is_asked_for && error.kind() == io::ErrorKind::AddrInUse => {
                tracing::warn!(%address, what, "is not served: the address is taken");
                return Ok(());
            }
            bound => bound.map_err(failed)?,
        };
        let running = serve_router(listener, None, limits(), &[], router).map_err(failed)?;
        tracing::debug!(address = %running.address(), what, "is served");
        self.0.push(running);
        Ok(())
    }

    pub(crate) async fn shutdown(self) {
        for running in self.0 {
            running.shutdown().await;
        }
    }
}

/// Few clients ask, and all that they ask for is short.
fn limits() -> Limits {
    let silence = Silence::Short(Duration::from_secs(30));
    Limits { connections: 64, silence, ..Limits::default() }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    /// The answer to a request with these headers.
    async fn get(address: SocketAddr, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let head = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it is text");
        answer
    }

    #[tokio::test]
    async fn metrics_and_health_are_served_to_this_machine_and_to_no_page() {
        let free = Listen::At(([127, 0, 0, 1], 0).into());
        let is_ready = Arc::new(AtomicBool::new(false));
        let ready = Arc::clone(&is_ready);
        let mut endpoints = Endpoints::default();
        let measured = endpoints.serve_metrics(free, "text/x-metrics", || "metric 1".to_owned());
        measured.await.expect("it is served");
        let judged = endpoints.serve_health(free, move || ready.load(Ordering::Relaxed));
        judged.await.expect("it is served");
        let [metrics, health] = [0, 1].map(|place| endpoints.0[place].address());

        let answer = get(metrics, "/metrics", "Host: localhost").await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/x-metrics\r\n"),
            "{answer}"
        );
        assert!(answer.ends_with("\r\n\r\nmetric 1"), "{answer}");
        for (path, status) in [("/healthz", 200), ("/readyz", 503), ("/readyz/", 503), ("/", 404)] {
            let answer = get(health, path, "Host: localhost").await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        }
        is_ready.store(true, Ordering::Relaxed);
        assert!(get(health, "/readyz", "Host: localhost").await.ends_with("\r\n\r\nok"));

        let rebound = "Host: evil.example.com";
        let foreign = "Host: localhost\r\nOrigin: http://evil.example.com";
        for (address, path) in [(metrics, "/metrics"), (health, "/healthz")] {
            for headers in [rebound, foreign] {
                let answer = get(address, path, headers).await;
                assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
            }
        }
        endpoints.shutdown().await;
    }
}
