//! What stands behind a cluster: the programs of Kubernetes, or our own server.

use std::{io, path::Path};

#[cfg(feature = "embedded")]
use super::embedded::Embedded;
use super::programs::Programs;
use crate::certificate::Authority;

/// Which API server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerKind {
    Real,
    #[cfg(feature = "embedded")]
    Embedded,
}

impl ServerKind {
    /// The names of the programs that it needs.
    pub(super) fn programs(self, controllers: bool) -> Vec<&'static str> {
        match self {
            Self::Real => Programs::names(controllers).collect(),
            #[cfg(feature = "embedded")]
            Self::Embedded => Vec::new(),
        }
    }
}

/// Running servers; they end when the value is dropped.
#[derive(Debug)]
pub(super) enum Servers {
    Real(Programs),
    #[cfg(feature = "embedded")]
    Embedded(Embedded),
}

impl Servers {
    /// Starts an API server that is ready for the controllers, if there will be any.
    pub(super) fn start(
        kind: ServerKind,
        scratch: &Path,
        authority: &Authority,
        controllers: bool,
    ) -> io::Result<Self> {
        match kind {
            ServerKind::Real => Programs::start(scratch, authority, controllers).map(Self::Real),
            #[cfg(feature = "embedded")]
            ServerKind::Embedded => {
                Embedded::start(scratch, authority, controllers).map(Self::Embedded)
            }
        }
    }

    /// Starts the controllers, if they are programs of their own; those act with the rights of a
    /// kubeconfig.
    pub(super) fn start_controllers(&mut self, kubeconfig: &Path) -> io::Result<()> {
        match self {
            Self::Real(programs) => programs.start_controllers(kubeconfig),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Ok(()),
        }
    }

    pub(super) fn has_controllers(&self) -> bool {
        match self {
            Self::Real(programs) => programs.has_controllers(),
            #[cfg(feature = "embedded")]
            Self::Embedded(server) => server.has_controllers(),
        }
    }

    /// Where the API server listens.
    pub(super) fn address(&self) -> String {
        let port = match self {
            Self::Real(programs) => programs.port(),
            #[cfg(feature = "embedded")]
            Self::Embedded(server) => server.port(),
        };
        format!("https://127.0.0.1:{port}")
    }

    /// Ends the API server and starts it again on the same port, over the same objects.
    pub(super) fn restart_apiserver(&mut self) -> io::Result<()> {
        match self {
            Self::Real(programs) => programs.restart_apiserver(),
            #[cfg(feature = "embedded")]
            Self::Embedded(server) => server.restart(),
        }
    }

    /// An error when one of the programs is no longer running.
    pub(super) fn check(&mut self) -> io::Result<()> {
        match self {
            Self::Real(programs) => programs.check(),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => Ok(()),
        }
    }

    /// The ends of their logs, where they write any.
    pub(super) fn last_words(&self) -> String {
        match self {
            Self::Real(programs) => programs.last_words(),
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => String::new(),
        }
    }
}
