//! HTTPS or plain HTTP.

use std::time::Duration;

use reqwest::{Body, Method, StatusCode, Url, header::HeaderMap};

use super::{
    connections::{Connections, Peer},
    redirect,
};
use crate::{Error, Result};

/// Somebody who waits for the other protocol may never answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// What servers write when HTTP arrives where TLS was expected fits into this.
const MAX_COMPLAINT: usize = 1 << 10;

/// The address of a registry that is only spoken to over HTTPS.
pub(super) fn secure(host: &str) -> Result<Url> {
    parse("https", host)
}

/// Finds out what a registry speaks. Nothing secret is sent.
///
/// A port that is not 443 is nearly always plain HTTP when somebody asks for an insecure registry,
/// and a server of plain HTTP may wait for ever for the end of what it takes for a line. Without a
/// port there are two, and HTTPS is the better one.
pub(super) async fn probe(host: &str, connections: &Connections) -> Result<Url> {
    let secure = parse("https", host)?;
    let plain = parse("http", host)?;
    let has_own_port = secure.port().is_some();
    let (first, second) = if has_own_port { (plain, secure) } else { (secure, plain) };
    match speaks(&first, connections).await {
        Ok(true) => Ok(first),
        Ok(false) => Ok(second),
        Err(failure) => match speaks(&second, connections).await {
            Ok(true) => Ok(second),
            _ => Err(failure),
        },
    }
}

fn parse(scheme: &str, host: &str) -> Result<Url> {
    Url::parse(&format!("{scheme}://{host}/v2/"))
        .map_err(|_| Error::InvalidReference { text: host.to_owned() })
}

async fn speaks(url: &Url, connections: &Connections) -> Result<bool> {
    let mut answer = connections
        .send(Peer::Registry, Method::GET, url, HeaderMap::new(), Body::default(), PATIENCE)
        .await?;
    if url.scheme() == "https" {
        return Ok(true);
    }
    if answer.status().is_redirection() {
        let target = redirect::target(url, answer.headers());
        return Ok(!target.is_ok_and(|target| target.scheme() == "https"));
    }
    if answer.status() != StatusCode::BAD_REQUEST {
        return Ok(true);
    }
    let complaint = tokio::time::timeout(PATIENCE, answer.chunk()).await;
    let complaint = complaint.ok().and_then(Result::ok).flatten().unwrap_or_default();
    let complaint = &complaint[..complaint.len().min(MAX_COMPLAINT)];
    Ok(!String::from_utf8_lossy(complaint).contains("HTTPS"))
}
