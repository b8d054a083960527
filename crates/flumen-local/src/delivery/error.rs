//! Why objects cannot be delivered to a local cluster.

use std::{io, path::PathBuf};

use flumen_source::StorageError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Build(#[from] flumen_build::Error),
    #[error(transparent)]
    Registry(#[from] flumen_oci::Error),
    #[error(transparent)]
    Cluster(#[from] flumen_kube::Error),
    #[error(transparent)]
    Apply(#[from] flumen_apply::Error),
    #[error(transparent)]
    Malformed(#[from] flumen_api::Malformed),
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("the cluster does not serve {kind}")]
    KindNotInstalled { kind: String },
    #[error("`{}` is no directory", path.display())]
    NotADirectory { path: PathBuf },

    #[error("`{}` is no repository for Flux", root.display())]
    NoRepository { root: PathBuf },
    #[error("that is no entry point of `{}`", root.display())]
    NoEntryPoint { root: PathBuf, names: Vec<String> },
    #[error("`{}` has several entry points: {}", root.display(), names.join(", "))]
    SeveralEntryPoints { root: PathBuf, names: Vec<String> },
    #[error(
        "no Kustomization in `{}` builds `./{}` from a GitRepository or OCIRepository, so that none is known to be \
         this repository",
        sync.display(), entry.display()
    )]
    UnknownSource { sync: PathBuf, entry: PathBuf },

    #[error("another `flumen up` reconciles on this cluster already")]
    SecondController,
    #[error("{0}")]
    Storage(StorageError),
    #[error("cannot start: {0}")]
    Runtime(io::Error),
    #[error(transparent)]
    ControllerClient(flumen_kube::Error),
    #[error("{0}")]
    Controller(flumen_controller::RunError),
    #[error("the controller has ended")]
    ControllerStopped,
}

impl From<StorageError> for DeliveryError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::InUse { .. } => Self::SecondController,
            other => Self::Storage(other),
        }
    }
}

impl DeliveryError {
    /// What was being done, where the message does not say it.
    pub const fn context(&self) -> Option<&'static str> {
        match self {
            Self::Storage(_) => Some("opening the artifacts"),
            Self::ControllerClient(_) | Self::Controller(_) => Some("running the controller"),
            _ => None,
        }
    }

    /// What to try.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Build(error) => error.hint().map(str::to_owned),
            Self::Registry(error) => error.hint(),
            Self::Cluster(error) => error.hint(),
            Self::Apply(error) => error.hint(),
            Self::NoRepository { .. } => {
                Some("`--path` names a directory with `flux-system/gotk-sync.yaml`".to_owned())
            }
            Self::NoEntryPoint { names, .. } => Some(format!("there are: {}", names.join(", "))),
            Self::SeveralEntryPoints { names, .. } => {
                names.first().map(|name| format!("choose one, such as `--path {name}`"))
            }
            Self::UnknownSource { .. } => Some(
                "`spec.path` is the directory of the cluster, from the root of the repository; \
                 `--source NAMESPACE/NAME=DIR` names the source otherwise"
                    .to_owned(),
            ),
            Self::SecondController => Some(
                "what is saved in its directory is delivered at once, and `flumen get all -A` shows it; for another \
                 directory end it with `flumen down`, or run a second cluster with `--data DIR`"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
