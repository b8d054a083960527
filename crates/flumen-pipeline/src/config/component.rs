//! A component whose configuration keeps all rules.

use std::{path::PathBuf, time::Duration};

use flumen_git::GitReference;
use flumen_oci::{Digest, Reference, Target};
use flumen_yaml::Pos;

use super::format::{ComponentFile, LoadRestrictor};

#[derive(Clone, Debug)]
pub struct Component {
    /// The file that it is configured in.
    pub file: PathBuf,
    /// The configuration as written, with `dependencies` completed.
    pub config: ComponentFile,
    pub source: Source,
    pub build_timeout: Duration,
    pub deploy_timeout: Duration,
    /// Changes when the configuration does.
    pub checksum: Digest,
    pub(super) name_pos: Pos,
}

impl Component {
    pub fn name(&self) -> &str {
        &self.config.name
    }
}

/// Where manifests come from. It is derived from which key is set, never written down.
#[derive(Clone, Debug)]
pub enum Source {
    Inline(Inline),
    Kustomize(Kustomize),
    OciArtifact(OciArtifact),
}

impl Source {
    /// The name of its type.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Inline(_) => "inline",
            Self::Kustomize(_) => "kustomize",
            Self::OciArtifact(_) => "oci_artifact",
        }
    }
}

/// Documents that are packed as they are.
#[derive(Clone, Debug)]
pub struct Inline {
    pub text: String,
    /// The file that holds them, if it is not the component's own.
    pub file: Option<PathBuf>,
    /// The line of that file that they begin on; none if they are escaped there, as in JSON.
    pub first_line: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Kustomize {
    pub path: String,
    pub patches: Vec<String>,
    pub enable_helm: bool,
    pub load_restrictor: LoadRestrictor,
    pub repository: RepositorySource,
}

/// The repository that a kustomization lies in.
#[derive(Clone, Debug)]
pub struct RepositorySource {
    /// A URL or path, or the name of a connected repository.
    pub repo: String,
    /// The source root in it.
    pub directory: String,
    pub revision: GitReference,
    pub is_connected: bool,
}

/// An artifact on a registry.
#[derive(Clone, Debug)]
pub struct OciArtifact {
    /// The repository, without tag and digest.
    pub reference: Reference,
    pub target: Target,
    pub credentials_ref: Option<String>,
}
