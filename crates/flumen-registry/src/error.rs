//! Why a registry does not start or cannot keep its promises.

use std::{io, net::SocketAddr, path::PathBuf};

use crate::store::StoreError;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`{}` is in use by another registry", path.display())]
    InUse { path: PathBuf },

    #[error("cannot open the database `{}`", path.display())]
    Database {
        path: PathBuf,
        #[source]
        source: Box<redb::Error>,
    },

    #[error("cannot {action} `{}`", path.display())]
    Storage {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },

    #[error("the registry cannot read or write what it stores")]
    Store {
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    #[error("cannot use the certificate or key `{}`", path.display())]
    Certificate {
        path: PathBuf,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    #[error("{}:{line}: {what}", path.display())]
    Accounts { path: PathBuf, line: usize, what: &'static str },

    #[error("neither users nor tokens are given")]
    NoAccounts,

    #[error("the system has no random numbers")]
    NoRandomness,

    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },

    #[error("{address} can be reached from other machines, where everyone could write")]
    Exposed { address: SocketAddr },
}

impl From<StoreError> for Error {
    fn from(source: StoreError) -> Self {
        Self::Store { source: Box::new(source) }
    }
}

impl Error {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::InUse { .. } => Some("stop the other one, or give each its own directory"),
            Self::Exposed { .. } => Some("ask for credentials, or allow anonymous access"),
            Self::Listen { .. } => {
                Some("another program may listen there; port 0 takes a free one")
            }
            Self::Accounts { .. } => Some("`htpasswd -B` writes such lines"),
            Self::Database { .. }
            | Self::Storage { .. }
            | Self::Store { .. }
            | Self::Certificate { .. }
            | Self::NoAccounts
            | Self::NoRandomness => None,
        }
    }
}
