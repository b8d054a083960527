//! The HTTP server of artifacts, for who does not live in this process.
//!
//! It knows GET and HEAD of published files and nothing else: no listing, no other directory.

use std::{
    convert::Infallible,
    fs, io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use flumen_serve::{Limits, Running, Silence};
use futures_util::TryStreamExt as _;
use http_body_util::{BodyExt as _, Empty, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Frame},
    header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LAST_MODIFIED},
    service::service_fn,
};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use tokio::net::TcpListener;
use tokio_util::io::ReaderStream;

use crate::Storage;

/// An artifact may take as long as it takes; a client that stands still may not.
const LIMITS: Limits = Limits {
    connections: 1024,
    handshake: Duration::from_secs(10),
    head: Duration::from_secs(10),
    silence: Silence::Short(Duration::from_mins(1)),
    ping: None,
};

const PIECE: usize = 64 << 10;

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Serves what is published in a storage until the server is stopped.
pub fn serve(listener: TcpListener, storage: Arc<Storage>) -> io::Result<Running> {
    flumen_serve::serve(listener, None, LIMITS, move |_| {
        let storage = Arc::clone(&storage);
        service_fn(move |request| {
            let storage = Arc::clone(&storage);
            async move { Ok::<_, Infallible>(answer(&request, &storage).await) }
        })
    })
}

async fn answer<B>(request: &Request<B>, storage: &Arc<Storage>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let path = request.uri().path().trim_start_matches('/').replace("%3A", ":");
    let opened = {
        let storage = Arc::clone(storage);
        tokio::task::spawn_blocking(move || {
            let file = storage.open_published(&path)?;
            let found = file.metadata().ok()?;
            Some((file, found))
        })
    };
    match opened.await {
        Ok(Some((file, found))) => send(file, &found, request.method() == Method::HEAD),
        Ok(None) => empty(StatusCode::NOT_FOUND),
        Err(_) => empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn send(file: fs::File, found: &fs::Metadata, is_head: bool) -> Response<Body> {
    let body = if is_head {
        Empty::new().map_err(|never| match never {}).boxed_unsync()
    } else {
        let pieces = ReaderStream::with_capacity(tokio::fs::File::from_std(file), PIECE);
        StreamBody::new(pieces.map_ok(Frame::data)).boxed_unsync()
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_LENGTH, HeaderValue::from(found.len()));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    if let Some(value) = found.modified().ok().and_then(date) {
        headers.insert(LAST_MODIFIED, value);
    }
    response
}

fn date(time: SystemTime) -> Option<HeaderValue> {
    let time = Timestamp::try_from(time).ok()?;
    let text = DateTimePrinter::new().timestamp_to_rfc9110_string(&time).ok()?;
    HeaderValue::from_str(&text).ok()
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}
