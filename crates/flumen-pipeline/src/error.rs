//! Why a build, a sync, a deploy or the local store failed.

use std::path::{Path, PathBuf};

use flumen_oci::Digest;
use flumen_yaml::Pos;
use thiserror::Error as ThisError;

use crate::template::TemplateError;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A message says what is wrong; [`Error::location`] where, [`Error::hint`] what to try.
#[derive(Debug, ThisError)]
pub enum Error {
    #[error("unsupported source type: {0}")]
    UnsupportedSource(String),

    /// A plan of one source type without what that type builds from.
    #[error("the build plan has no {0}")]
    IncompletePlan(&'static str),

    #[error("`{name}` is not a connected repository")]
    NotConnected { name: String },

    #[error("there are no stored credentials `{name}`")]
    NoCredentials { name: String },

    /// What is wrong is not quoted: it may be a password.
    #[error("`{}` does not hold credentials", path.display())]
    InvalidCredentials { path: PathBuf },

    #[error("source root `{directory}` does not exist in '{url}'")]
    NoSourceRoot { url: String, directory: String },

    #[error(transparent)]
    Build(#[from] flumen_build::Error),

    #[error(transparent)]
    Git(#[from] flumen_git::Error),

    #[error(transparent)]
    Registry(#[from] flumen_oci::Error),

    /// The artifact is there, but it holds no manifests.
    #[error("{reference} does not hold readable manifests")]
    NotManifests {
        reference: String,
        #[source]
        source: Box<Self>,
    },

    #[error("OCI artifact not found on install deploy - sync job may not have completed")]
    NothingToSync,

    #[error("{digest} was deployed, and the install's registry does not have it any more")]
    ArtifactGone { digest: Digest },

    #[error("{artifact}: {error}")]
    Unreadable { artifact: Digest, error: flumen_yaml::Error },

    #[error(transparent)]
    Template(#[from] TemplateError),

    #[error(transparent)]
    Apply(#[from] flumen_apply::Error),

    #[error("the plan cannot be written down")]
    Plan(#[from] flumen_diff::PlanError),

    #[error("there is no plan `{name}` that waits for a decision")]
    NoSuchPlan { name: String },

    #[error("the cluster changes faster than plans are carried out")]
    PlanKeepsChanging,

    #[error("cannot use `{}`", path.display())]
    State {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },

    /// Work on another thread ended without an answer.
    #[error("the work was stopped")]
    Stopped,
}

impl Error {
    /// The file and the place in it, if one is to blame.
    pub fn location(&self) -> Option<(&Path, Pos)> {
        match self {
            Self::Build(error) => error.location(),
            _ => None,
        }
    }

    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotConnected { .. } => {
                Some("name its address with `--repo NAME=URL`, or use `public_repo`".to_owned())
            }
            Self::NoCredentials { .. } => {
                Some("`--credentials FILE` names a file with stored credentials".to_owned())
            }
            Self::InvalidCredentials { .. } => {
                Some("each line is a name and its credentials: ci = \"user:password\"".to_owned())
            }
            Self::NothingToSync => {
                Some("`flumen component build` builds it; sync copies the last build".to_owned())
            }
            Self::ArtifactGone { .. } => Some(
                "deploy a build that is there; nothing is built again for a rollback".to_owned(),
            ),
            Self::Template(error) => error.hint().map(str::to_owned),
            Self::Apply(error) => error.hint(),
            Self::NoSuchPlan { .. } => Some(
                "`flumen plan list` shows those that wait; a decision is used once, and a plan \
                 that is outdated is replaced"
                    .to_owned(),
            ),
            Self::PlanKeepsChanging => Some("look who else writes to the same objects".to_owned()),
            Self::Build(error) => error.hint().map(str::to_owned),
            Self::Git(error) => error.hint().map(str::to_owned),
            Self::Registry(error) => error.hint(),
            Self::NotManifests { source, .. } => source.hint(),
            _ => None,
        }
    }
}
