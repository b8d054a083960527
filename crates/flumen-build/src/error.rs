//! Why inputs could not be turned into objects.

use std::path::{Path, PathBuf};

use flumen_fs::FsError;
use flumen_kustomize::Location;
use flumen_object::{ObjectId, Origin};
use flumen_yaml::Pos;
use thiserror::Error as ThisError;

/// What is wrong; [`Error::location`] says where, [`Error::hint`] what to try.
#[derive(Debug, ThisError)]
pub enum Error {
    #[error("kustomize build failed: {0}")]
    Kustomize(flumen_kustomize::Error),

    /// The engine's complaint about the objects under a patch file.
    #[error("kustomize build failed: {error}")]
    Patching { location: Option<Box<Location>>, error: flumen_kustomize::Error },

    #[error("kustomize build failed: {problem}")]
    Patch { problem: String, file: PathBuf, pos: Pos, hint: Option<&'static str> },

    #[error(transparent)]
    File(#[from] FsError),

    #[error("{error}")]
    Malformed { file: PathBuf, error: flumen_yaml::Error },

    /// A document that should be an object and is not.
    #[error("document {number}: {problem}")]
    Document { number: usize, problem: String, file: PathBuf, pos: Pos },

    #[error("no Kubernetes objects in `{}`", file.display())]
    NoObjects { file: PathBuf },

    #[error("{id} comes from {first} and from {second}")]
    Duplicate { id: Box<ObjectId>, first: Box<Origin>, second: Box<Origin> },

    /// A value that YAML has and JSON has not.
    #[error("{id}: {problem}")]
    Unprintable { id: Box<ObjectId>, problem: String, origin: Box<Origin> },

    #[error("`{}` holds more than {limit} files", dir.display())]
    TooManyFiles { dir: PathBuf, limit: usize },
}

impl Error {
    /// The file and the place in it, if one is to blame.
    pub fn location(&self) -> Option<(&Path, Pos)> {
        let of = |location: &'_ Location| location.pos;
        match self {
            Self::Kustomize(error) => {
                error.location().map(|location| (location.file.as_path(), of(location)))
            }
            Self::Patching { location, .. } => {
                location.as_ref().map(|location| (location.file.as_path(), of(location)))
            }
            Self::Patch { file, pos, .. } | Self::Document { file, pos, .. } => Some((file, *pos)),
            Self::Malformed { file, error } => Some((file, error.pos())),
            Self::Unprintable { origin, .. } => {
                origin.file.as_deref().map(|file| (file, origin.pos))
            }
            Self::Duplicate { second, .. } => second.file.as_deref().map(|file| (file, second.pos)),
            Self::File(_) | Self::NoObjects { .. } | Self::TooManyFiles { .. } => None,
        }
    }

    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Kustomize(error) | Self::Patching { error, .. } => error.hint_text(),
            Self::Patch { hint, .. } => *hint,
            Self::Document { .. } => {
                Some("every document needs `apiVersion`, `kind` and `metadata.name`")
            }
            Self::Duplicate { .. } => Some("an object may be named by one input only"),
            _ => None,
        }
    }
}
