//! Servers that answer with an axum router.

use std::{io, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::{Guard, Limits, Running, serve};

/// Serves a router, and checks the `Host` and `Origin` headers of its requests.
///
/// `names` are those under which clients reach the server besides `localhost`; they may have a port. A server without
/// TLS on the loopback interface answers under no others.
pub fn serve_router(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    limits: Limits,
    names: &[String],
    router: Router,
) -> io::Result<Running> {
    let guard = Guard::for_server(listener.local_addr()?, tls.is_some(), names);
    let router = router.layer(from_fn_with_state(Arc::new(guard), check));
    serve(listener, tls, limits, move |_| TowerToHyperService::new(router.clone()))
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(rejection) => rejection.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpStream,
    };

    use super::*;

    /// The status line of the answer.
    async fn ask(server: &Running, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).await.expect("it connects");
        let head = format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it is text");
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn every_path_is_guarded() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let router = Router::new().route("/here", get(async || "here"));
        let names = ["mine.example.com".to_owned()];
        let server = serve_router(listener, None, Limits::default(), &names, router);
        let server = server.expect("it listens");
        for (path, status) in [("/here", "200 OK"), ("/elsewhere", "404 Not Found")] {
            let own = ask(&server, path, "Host: mine.example.com").await;
            assert_eq!(own, format!("HTTP/1.1 {status}"));
            for headers in
                ["Host: evil.example.com", "Host: localhost\r\nOrigin: http://evil.example.com"]
            {
                assert_eq!(ask(&server, path, headers).await, "HTTP/1.1 403 Forbidden");
            }
        }
        server.shutdown().await;
    }
}
