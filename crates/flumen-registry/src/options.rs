//! How a registry runs.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crate::Accounts;

/// Everything that can be chosen. [`Options::new`] is a registry for this machine alone.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory that holds everything; made when it is missing.
    pub data: PathBuf,
    /// Where to listen. Port 0 takes a free one.
    pub address: SocketAddr,
    /// Host names, besides `localhost`, that requests to a registry on the loopback interface may carry.
    pub names: Vec<String>,
    pub auth: Auth,
    pub tls: Option<Tls>,
    pub limits: Limits,
    /// Is told about failures that are not a client's, one line each.
    pub report: Report,
}

impl Options {
    /// A registry on a free port of the loopback interface, for anyone on this machine.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            names: Vec::new(),
            auth: Auth::default(),
            tls: None,
            limits: Limits::default(),
            report: Report::default(),
        }
    }
}

/// Who may do what.
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// Everyone who can connect may do everything; refused beyond the loopback interface.
    #[default]
    LoopbackOnly,
    /// The same on any interface.
    Anonymous,
    /// Only those who prove who they are.
    Required(Accounts),
}

/// The certificate that the server shows, and its key; both PEM files.
#[derive(Clone, Debug)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// What clients can make the registry spend.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one manifest.
    pub manifest_size: usize,
    /// Bytes of one blob.
    pub blob_size: u64,
    /// Bytes of all blobs and uploads together.
    pub total_size: Option<u64>,
    /// Bytes of the disk that are left to others, and to the database.
    pub keep_free: u64,
    /// Uploads that are open at the same time.
    pub uploads: usize,
    /// An upload that nobody continues is dropped after this time.
    pub upload_expiry: Duration,
    /// A blob that no manifest names is kept for this time, so that pushes can finish.
    pub garbage_age: Duration,
    /// How often expired uploads and old garbage are looked for.
    pub cleaning_interval: Duration,
    /// Connections that are open at the same time; more wait to be accepted.
    pub connections: usize,
    /// A client must send the head of a request within this time.
    pub header_timeout: Duration,
    /// A connection on which nothing moves for this time is closed.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            manifest_size: 4 << 20,
            blob_size: 64 << 30,
            total_size: None,
            keep_free: 64 << 20,
            uploads: 256,
            upload_expiry: Duration::from_hours(1),
            garbage_age: Duration::from_hours(24),
            cleaning_interval: Duration::from_mins(10),
            connections: 1024,
            header_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_mins(1),
        }
    }
}

/// Where failures are told; nowhere unless somebody listens.
#[derive(Clone, Default)]
pub struct Report(Option<Arc<Listener>>);

type Listener = dyn Fn(&str) + Send + Sync;

impl Report {
    pub fn to(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    pub(crate) fn failure(&self, error: &dyn std::error::Error) {
        if let Some(listener) = &self.0 {
            let causes = std::iter::successors(Some(error), |error| (*error).source());
            let messages: Vec<String> = causes.map(ToString::to_string).collect();
            listener(&messages.join(": "));
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report")
    }
}
