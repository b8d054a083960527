//! Why an artifact could not be built, in Flux's words.

use std::path::Path;

use flumen_fs::FsError;
use thiserror::Error;

/// Where on the way a build failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The directory is not in the artifact.
    Path,
    /// The kustomization file could not be generated, or not merged with the specification.
    Generate,
    /// The build itself.
    Build,
    /// Something is encrypted.
    Decrypt,
    /// Variables.
    Substitute,
    /// What was built is no object.
    Decode,
}

/// What is wrong. Paths in it begin with [`ARTIFACT_ROOT`](super::ARTIFACT_ROOT); values of Secrets are
/// never in it.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct BuildError {
    pub stage: Stage,
    message: String,
    hint: Option<String>,
}

impl BuildError {
    pub(super) fn new(stage: Stage, message: impl Into<String>) -> Self {
        Self { stage, message: message.into(), hint: None }
    }

    #[must_use]
    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn of_kustomize(error: &flumen_kustomize::Error) -> Self {
        let message = format!("kustomize build failed: {}", error.in_kustomize_words());
        let hint = error.hint_text().map(ToOwned::to_owned);
        Self { stage: Stage::Build, message, hint }
    }

    pub(super) fn path_not_found(dir: &Path, error: &FsError) -> Self {
        let reason = match error {
            FsError::NotFound { .. } => "no such file or directory".to_owned(),
            FsError::NotDirectory { .. } => "not a directory".to_owned(),
            error => error.to_string(),
        };
        let dir = dir.display();
        Self::new(Stage::Path, format!("kustomization path not found: stat {dir}: {reason}"))
    }

    /// The directory is a file: what Flux meets when it writes a kustomization file into it.
    pub(super) fn path_is_file(path: &Path) -> Self {
        let [name, ..] = flumen_kustomize::FILE_NAMES;
        let file = path.join(name);
        let file = file.display();
        let message = format!("open {file}: not a directory remove {file}: not a directory");
        Self::new(Stage::Generate, message)
            .with_hint("name the directory that holds the manifests, not a file")
    }

    /// What the user can do about it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
