//! Artifacts that somebody else serves: an external artifact, or what another source controller stored.

use std::{fmt, io::Write as _, time::Duration};

use reqwest::{Client, Response, StatusCode, Url};
use thiserror::Error;
use tokio::time::sleep;

use crate::{ChecksumError, Owner, Storage, StorageError, Stored, checksum::Checksum};

const USER_AGENT: &str = concat!("flumen/", env!("CARGO_PKG_VERSION"));
const CONNECT: Duration = Duration::from_secs(10);
/// A server that sends nothing for so long is gone.
const IDLE: Duration = Duration::from_secs(30);

/// How artifacts are fetched.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// How often it is tried again when there is no connection or the server fails.
    pub retries: u32,
    /// Before it is tried again; each time twice as long.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// How many bytes an artifact may have.
    pub max_bytes: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            retries: 9,
            first_pause: Duration::from_secs(5),
            longest_pause: Duration::from_secs(30),
            max_bytes: 1 << 30,
        }
    }
}

/// What the status of a source says about its artifact.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'r> {
    pub url: &'r str,
    pub digest: &'r str,
    /// Host and port to ask instead of those of the address.
    pub host: Option<&'r str>,
}

/// Why an artifact could not be fetched, in Flux's words.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("file not found")]
    NotFound,
    #[error("failed to create a new request: {reason}")]
    Address { reason: String },
    #[error(
        "failed to download archive: GET {url} giving up after {tries} attempt(s){}",
        Cause(reason)
    )]
    Unreachable { url: String, tries: u32, reason: String },
    #[error("failed to download archive from {url} (status: {status})")]
    Refused { url: String, status: StatusCode },
    #[error("artifact is greater than the max download size of {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("failed to copy temp contents: {reason}")]
    Interrupted { reason: String },
    #[error("failed to verify archive: empty digest")]
    NoDigest,
    #[error("failed to verify archive: failed to parse digest '{digest}': {reason}")]
    InvalidDigest { digest: String, reason: ChecksumError },
    #[error(
        "failed to verify archive: computed digest doesn't match provided '{digest}' \
         (check whether file size exceeds max download size)"
    )]
    DigestMismatch { digest: String },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Fetches artifacts over HTTP.
#[derive(Clone, Debug)]
pub struct Importer {
    client: Client,
    options: ImportOptions,
}

impl Importer {
    pub fn new(options: ImportOptions) -> Result<Self, ImportError> {
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .referer(false)
            .connect_timeout(CONNECT)
            .read_timeout(IDLE)
            .build()
            .map_err(|error| ImportError::Address { reason: innermost(&error) })?;
        Ok(Self { client, options })
    }

    /// Brings an artifact into the storage, under the name of the object that offers it.
    ///
    /// Nothing is fetched if the storage has it. It must be what its digest says.
    pub async fn import(
        &self,
        remote: Remote<'_>,
        owner: &Owner,
        storage: &Storage,
    ) -> Result<Stored, ImportError> {
        if remote.digest.is_empty() {
            return Err(ImportError::NoDigest);
        }
        let digest = if remote.digest.contains(':') {
            remote.digest.to_owned()
        } else {
            format!("sha256:{}", remote.digest)
        };
        let checksum = Checksum::parse(&digest)
            .map_err(|reason| ImportError::InvalidDigest { digest: digest.clone(), reason })?;
        let file_name = format!("{digest}.tar.gz");
        if let Some(known) = storage.known_as(&digest)
            && let Some(stored) = storage.publish_known(owner, &file_name, &known)?
        {
            return Ok(stored);
        }
        let mut response = self.get(address(remote)?).await?;
        let mut comparison = checksum.begin();
        let mut incoming = storage.incoming()?;
        let mut size = 0;
        let broken = |error: reqwest::Error| ImportError::Interrupted { reason: innermost(&error) };
        while let Some(piece) = response.chunk().await.map_err(broken)? {
            size += piece.len() as u64;
            if size > self.options.max_bytes {
                return Err(ImportError::TooLarge { limit: self.options.max_bytes });
            }
            comparison.update(&piece);
            // Some kilobytes into the cache of the system: not worth another thread.
            incoming.write_all(&piece).map_err(StorageError::Archive)?;
        }
        if !comparison.holds() {
            return Err(ImportError::DigestMismatch { digest });
        }
        let stored = storage.publish(owner, &file_name, incoming)?;
        storage.also_known_as(&stored, &digest);
        Ok(stored)
    }

    /// An answer whose content is still to come.
    async fn get(&self, url: Url) -> Result<Response, ImportError> {
        let mut tries = 0;
        let mut pause = self.options.first_pause;
        loop {
            tries += 1;
            let reason = match self.client.get(url.clone()).send().await {
                Ok(response) if !is_transient(response.status()) => {
                    return match response.status() {
                        StatusCode::OK => Ok(response),
                        StatusCode::NOT_FOUND => Err(ImportError::NotFound),
                        status => Err(ImportError::Refused { url: url.to_string(), status }),
                    };
                }
                Ok(_) => String::new(),
                Err(error) => innermost(&error),
            };
            if tries > self.options.retries {
                return Err(ImportError::Unreachable { url: url.to_string(), tries, reason });
            }
            sleep(pause).await;
            pause = (pause * 2).min(self.options.longest_pause);
        }
    }
}

/// Whether the server may answer otherwise next time.
fn is_transient(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

fn address(remote: Remote<'_>) -> Result<Url, ImportError> {
    let invalid = |reason: String| ImportError::Address { reason };
    let mut url = Url::parse(remote.url).map_err(|error| invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(format!("unsupported protocol scheme \"{}\"", url.scheme())));
    }
    if let Some(host) = remote.host {
        let other = Url::parse(&format!("http://{host}/"));
        let other = other.map_err(|error| invalid(error.to_string()))?;
        let replaced = url
            .set_host(other.host_str())
            .and_then(|()| url.set_port(other.port()).map_err(|()| url::ParseError::InvalidPort));
        replaced.map_err(|error| invalid(error.to_string()))?;
    }
    Ok(url)
}

/// The last cause says most; those above it repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// What is known of a reason, if anything.
struct Cause<'c>(&'c str);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ": {}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_host_can_be_asked() {
        let remote = Remote {
            url: "http://source-controller.flux-system.svc/gitrepository/a/b/c.tar.gz?x=1",
            digest: "",
            host: Some("localhost:8080"),
        };
        let url = address(remote).expect("an address");
        assert_eq!(url.as_str(), "http://localhost:8080/gitrepository/a/b/c.tar.gz?x=1");
        let remote = Remote { url: "http://127.0.0.1:9090/a", host: Some("example.com"), ..remote };
        assert_eq!(address(remote).expect("an address").as_str(), "http://example.com/a");
        for url in ["", "file:///etc/passwd", "ftp://example.com/a", "a/b"] {
            assert!(address(Remote { url, host: None, digest: "" }).is_err(), "{url}");
        }
    }
}
