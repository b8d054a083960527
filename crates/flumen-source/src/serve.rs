//! The HTTP server of artifacts, for clients in other processes.
//!
//! It answers GET and HEAD of published files and nothing else: no listing, no other directory.

use std::{fs, io, sync::Arc, time::SystemTime};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{
        HeaderValue, StatusCode, Uri,
        header::{CONTENT_LENGTH, CONTENT_TYPE, LAST_MODIFIED},
    },
    response::{IntoResponse as _, Response},
    routing::get,
};
use flumen_serve::{Limits, Running, serve_router};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use tokio::net::TcpListener;
use tokio_util::io::ReaderStream;

use crate::Storage;

const PIECE: usize = 64 << 10;

/// Serves the published artifacts of a storage until the server is stopped. Clients know it by the advertised host,
/// which may have a port.
pub fn serve(
    listener: TcpListener,
    storage: Arc<Storage>,
    advertised_host: &str,
) -> io::Result<Running> {
    // The storage reads the path: the router would decode it.
    let router = Router::new().fallback_service(get(answer).with_state(storage));
    serve_router(listener, None, Limits::default(), &[advertised_host.to_owned()], router)
}

async fn answer(State(storage): State<Arc<Storage>>, uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/').replace("%3A", ":");
    let opened = tokio::task::spawn_blocking(move || {
        let file = storage.open_published(&path)?;
        let found = file.metadata().ok()?;
        Some((file, found))
    });
    match opened.await {
        Ok(Some((file, found))) => send(file, &found),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn send(file: fs::File, found: &fs::Metadata) -> Response {
    let pieces = ReaderStream::with_capacity(tokio::fs::File::from_std(file), PIECE);
    let mut response = Response::new(Body::from_stream(pieces));
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
