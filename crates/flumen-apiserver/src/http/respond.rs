//! Answers as HTTP.

use std::{convert::Infallible, fmt::Write as _, io::Write as _};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, WARNING},
};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use super::{encode, negotiate::Encoding};
use crate::{ApiError, Reason};

pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Below this size, compression costs more than it saves.
const WORTH_COMPRESSING: usize = 128 * 1024;

pub(crate) const PLAIN: &str = "text/plain; charset=utf-8";

pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

/// An answer that no cache may keep, as nearly all are.
pub(crate) fn bytes(code: u16, media_type: &str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(body));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::OK);
    let headers = response.headers_mut();
    if let Ok(media_type) = HeaderValue::from_str(media_type) {
        headers.insert(CONTENT_TYPE, media_type);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// What the server says about places where there is nothing.
pub(crate) fn nothing() -> Response<Body> {
    bytes(404, PLAIN, "404 page not found\n")
}

pub(crate) fn json(value: &Value) -> Response<Body> {
    object(200, value, Encoding::Json, false)
}

/// An object as text.
pub(crate) fn object(code: u16, value: &Value, encoding: Encoding, pretty: bool) -> Response<Body> {
    let encoding = if encoding == Encoding::Protobuf { Encoding::Json } else { encoding };
    match encode::text(value, encoding, pretty) {
        Ok(body) => bytes(code, encoding.media_type(), body),
        // What cannot be YAML can be JSON.
        Err(_) => bytes(code, Encoding::Json.media_type(), value.to_string()),
    }
}

pub(crate) fn error(error: &ApiError, encoding: Encoding) -> Response<Body> {
    let mut response = match super::protobuf::status(error, encoding) {
        Some(body) => bytes(error.code(), Encoding::Protobuf.media_type(), body),
        None => object(error.code(), &error.to_status(), encoding, false),
    };
    let after = error.details().map_or(0, |details| details.retry_after_seconds);
    let after = match error.reason() {
        Some(Reason::TooManyRequests) if after == 0 => 1,
        _ => after,
    };
    if after > 0 {
        response.headers_mut().insert(RETRY_AFTER, after.into());
    }
    warn(&mut response, error.warnings());
    response
}

/// What tells one document from another: as an entity tag without quotes.
pub(crate) fn hash(body: &[u8]) -> String {
    Sha512::digest(body).iter().fold(String::with_capacity(128), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Compresses a body that is large enough.
pub(crate) fn compressed(body: Vec<u8>, accepts_gzip: bool) -> (Vec<u8>, bool) {
    if !accepts_gzip || body.len() < WORTH_COMPRESSING {
        return (body, false);
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    match encoder.write_all(&body).and_then(|()| encoder.finish()) {
        Ok(small) => (small, true),
        Err(_) => (body, false),
    }
}

pub(crate) fn mark_gzip(response: &mut Response<Body>) {
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
}

/// Adds warnings as the headers that clients show.
pub(crate) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings {
        let mut text = String::with_capacity(warning.len() + 2);
        for c in warning.chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                c if c.is_control() => text.push(' '),
                c => text.push(c),
            }
        }
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{text}\"").as_bytes()) {
            response.headers_mut().append(WARNING, value);
        }
    }
}
