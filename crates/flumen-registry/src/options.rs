//! How a registry runs.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

/// Everything that can be chosen. [`Options::new`] is a registry for this machine alone.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory that holds everything; made when it is missing.
    pub data: PathBuf,
    /// Where to listen. Port 0 takes a free one.
    pub address: SocketAddr,
    pub auth: Auth,
    pub tls: Option<Tls>,
    pub limits: Limits,
}

impl Options {
    /// A registry on a free port of the loopback interface, for anyone on this machine.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            auth: Auth::default(),
            tls: None,
            limits: Limits::default(),
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
}

/// The certificate that the server shows, and its key; both PEM files.
#[derive(Clone, Debug)]
pub struct Tls {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// What a client can make the registry spend.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of one manifest.
    pub manifest_size: usize,
    /// Bytes of one blob.
    pub blob_size: u64,
    /// Uploads that are open at the same time.
    pub uploads: usize,
    /// An upload that nobody continues is dropped after this time.
    pub upload_expiry: Duration,
    /// A blob that no manifest names is kept for this time, so that pushes can finish.
    pub garbage_age: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            manifest_size: 4 << 20,
            blob_size: 64 << 30,
            uploads: 256,
            upload_expiry: Duration::from_secs(60 * 60),
            garbage_age: Duration::from_secs(24 * 60 * 60),
        }
    }
}
