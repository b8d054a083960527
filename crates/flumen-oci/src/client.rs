//! Registries over HTTP.
//!
//! A [`Registry`] is one host: its connections, its tokens and its limits. A [`RemoteRepository`] is one
//! path on it and has a method for each thing that the distribution protocol can do.
//!
//! ```text
//! manifests  blobs  uploads  referrers  tags     what is asked
//!      └───────┴───────┼────────┴────────┘
//!                  transport                      tries, time limits, redirects, answers
//!       tokens ─ auth ──┴── connections           who we are; TLS and sockets
//! ```
//!
//! The other side is not trusted. Every answer has a limit in size and time, credentials go to the
//! registry and to the token service that it names and to nobody else, and content is what its digest
//! says or an error.

mod answer;
mod auth;
mod blobs;
mod challenge;
mod connections;
mod credentials;
mod manifests;
mod options;
mod pages;
mod redirect;
mod referrers;
mod retry;
mod scheme;
mod tags;
mod tokens;
mod transport;
mod uploads;

use std::{fmt, sync::Arc};

use reqwest::Url;

use self::transport::Transport;
pub(crate) use self::uploads::MAX_SMALL;
pub use self::{
    credentials::Credentials,
    options::{ClientCertificate, ClientOptions, Pem, Proxy, Timeouts},
};
use crate::{Error, Reference, Result, Target, docker_hub, reference};

/// A host that speaks the distribution protocol. Clones share connections and tokens.
#[derive(Clone)]
pub struct Registry(Arc<Transport>);

impl Registry {
    /// Prepares to talk to `host`, which may have a port. Nothing is sent yet.
    pub fn new(host: &str, options: &ClientOptions) -> Result<Self> {
        Ok(Self(Arc::new(Transport::new(docker_hub::server(host), options)?)))
    }

    /// The host that is asked.
    pub fn host(&self) -> &str {
        self.0.host()
    }

    pub fn repository(&self, path: &str) -> RemoteRepository {
        let path = docker_hub::whole_path(self.host(), path).into();
        RemoteRepository { registry: self.clone(), path }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.host()).finish()
    }
}

/// A repository of a registry.
#[derive(Clone, Debug)]
pub struct RemoteRepository {
    registry: Registry,
    path: Arc<str>,
}

impl RemoteRepository {
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its address, without tag or digest.
    pub fn reference(&self) -> Reference {
        Reference {
            host: self.registry.host().to_owned(),
            repository: self.path.to_string(),
            tag: None,
            digest: None,
        }
    }

    /// Whether content may be mounted from there to here.
    pub fn shares_registry(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.registry.0, &other.registry.0)
            || self.registry.host() == other.registry.host()
    }

    fn transport(&self) -> &Transport {
        &self.registry.0
    }

    /// The address of something below this repository.
    async fn url(&self, rest: &str) -> Result<Url> {
        if !reference::is_repository(&self.path) {
            return Err(Error::InvalidReference { text: self.path.to_string() });
        }
        self.transport().url(&format!("{}/{rest}", self.path)).await
    }

    /// A manifest as messages name it.
    fn manifest_name(&self, target: &Target) -> String {
        let repository = format!("{}/{}", self.registry.host(), self.path);
        match target {
            Target::Tag(tag) => format!("the manifest {repository}:{tag}"),
            Target::Digest(digest) => format!("the manifest {repository}@{digest}"),
        }
    }
}
