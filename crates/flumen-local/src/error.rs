//! Why a local cluster does not start, or stop.

use std::{io, path::PathBuf};

use thiserror::Error;

#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot use the directory `{}`", path.display())]
    Directory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("an instance runs in `{}`", path.display())]
    Running { path: PathBuf },
    #[error("`{}` names no process", path.display())]
    Record { path: PathBuf },
    #[error("cannot stop process {pid}")]
    Stop {
        pid: i32,
        #[source]
        source: io::Error,
    },
    #[error("process {pid} was told to stop and has not")]
    StillRunning { pid: i32 },
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}`: {error}", path.display())]
    Yaml { path: PathBuf, error: flumen_yaml::Error },
    #[error("`{}` is no kubeconfig", path.display())]
    NotAKubeconfig { path: PathBuf },
    #[error(transparent)]
    Unprintable(#[from] flumen_yaml::EmitError),
    #[error("the system gives no memory or no place for files")]
    Memory(#[source] io::Error),
    #[error(transparent)]
    Store(#[from] flumen_store::OpenError),
    #[error(transparent)]
    Server(#[from] flumen_apiserver::ServerError),
    #[error("the API server cannot write its first objects: {0}")]
    Boot(flumen_apiserver::ApiError),
    #[error(transparent)]
    Registry(#[from] flumen_registry::Error),
}

impl Error {
    /// What to try.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Running { .. } => Some(
                "`flumen status` shows it and `flumen down` ends it; `--data` names another place",
            ),
            Self::Record { .. } => Some("end the process by hand, then run `flumen reset`"),
            Self::StillRunning { .. } => Some("wait a moment, or end the process by hand"),
            Self::Store(error) => error.hint(),
            Self::Server(error) => error.hint(),
            Self::Registry(error) => error.hint(),
            _ => None,
        }
    }
}
