//! The client: one for each cluster, cheap to clone.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::HeaderMap;
use tokio::{sync::Semaphore, time::Instant};

use crate::{Asked, ConnectOptions, Error, Identity, account::Account, connect, discovery};

mod requests;

/// A connection to the API server of a cluster. Clones share it, and what is known of kinds.
///
/// Requests beyond the number that may run at the same time wait for one of them to end.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    /// The headers that say whom to act as.
    identity: Arc<HeaderMap>,
    deadline: Option<Instant>,
}

pub(crate) struct Shared {
    pub(crate) http: connect::Http,
    /// Where the server is, for messages.
    pub(crate) address: String,
    namespace: Option<String>,
    pub(crate) request_timeout: Option<Duration>,
    /// Begins with one permit: the first request makes the connection that the others share. Without
    /// that, each of them would begin one of its own.
    pub(crate) permits: Semaphore,
    max_concurrent: usize,
    tried: AtomicBool,
    connected: AtomicBool,
    pub(crate) requests: AtomicU64,
    /// Of those that are over.
    pub(crate) account: Account,
    pub(crate) kinds: discovery::Cache,
}

impl Client {
    /// Reads the kubeconfig and makes ready to connect; the first request connects.
    ///
    /// Credential plugins that the kubeconfig names are run here.
    pub async fn connect(options: &ConnectOptions) -> Result<Self, Error> {
        let target = connect::target(options)?;
        Self::new(target, options).await
    }

    /// Like [`Self::connect`] with a kubeconfig that came from elsewhere, such as a secret of a cluster.
    ///
    /// It is not trusted: one that would run a program or read a file of this machine is refused.
    pub async fn from_kubeconfig_text(text: &str, options: &ConnectOptions) -> Result<Self, Error> {
        let target = connect::target_of_text(text, options)?;
        Self::new(target, options).await
    }

    async fn new(target: connect::Target, options: &ConnectOptions) -> Result<Self, Error> {
        let max_concurrent = options.max_concurrent.max(1);
        let address = target.address();
        let namespace = target.namespace.clone();
        let identity = Arc::new(target.identity.headers()?);
        let shared = Shared {
            http: connect::Http::new(target).await?,
            address,
            namespace,
            request_timeout: options.request_timeout,
            permits: Semaphore::new(1),
            max_concurrent,
            tried: AtomicBool::new(false),
            connected: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            account: Account::default(),
            kinds: discovery::Cache::default(),
        };
        Ok(Self { shared: Arc::new(shared), identity, deadline: None })
    }

    /// The same connection, used in the name of somebody else.
    pub fn acting_as(&self, identity: &Identity) -> Result<Self, Error> {
        Ok(Self { identity: Arc::new(identity.headers()?), ..self.clone() })
    }

    /// A client whose requests are over by then: none is sent again later, and no answer is waited for.
    /// Watches that are open go on.
    #[must_use]
    pub fn with_deadline(&self, deadline: impl Into<Instant>) -> Self {
        Self { deadline: Some(deadline.into()), ..self.clone() }
    }

    /// The namespace of the context, which is `default` where none is set.
    pub fn namespace(&self) -> &str {
        self.context_namespace().unwrap_or("default")
    }

    /// The namespace of the context, where one is set.
    pub fn context_namespace(&self) -> Option<&str> {
        self.shared.namespace.as_deref()
    }

    /// The address of the server, such as `https://api.example.com:6443`.
    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// How many requests were sent so far, by all clones.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// How often the server was asked in which way and what it answered, by all clones.
    pub fn account(&self) -> BTreeMap<Asked, u64> {
        self.shared.account.read()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn identity(&self) -> &HeaderMap {
        &self.identity
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the server has answered anything yet.
    pub(crate) fn was_connected(&self) -> bool {
        self.shared.connected.load(Ordering::Relaxed)
    }
}

impl Shared {
    pub(crate) fn connected(&self) {
        self.connected.store(true, Ordering::Relaxed);
    }

    pub(crate) fn first_try_is_over(&self) {
        if !self.tried.swap(true, Ordering::Relaxed) {
            self.permits.add_permits(self.max_concurrent - 1);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("address", &self.shared.address).finish_non_exhaustive()
    }
}
