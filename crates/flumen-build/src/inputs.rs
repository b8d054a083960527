//! What is built, and the build.

use std::{path::PathBuf, sync::Arc};

use flumen_fs::Tree;
use flumen_kustomize::LoadRestriction;
use flumen_object::ObjectSet;

use crate::Error;

/// What to build from, in this order.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Directories that hold a kustomization file.
    pub kustomizations: Vec<PathBuf>,
    /// Manifests, or directories of them.
    pub files: Vec<PathBuf>,
    /// Texts that were read already, with the name that messages use for them.
    pub documents: Vec<(String, Vec<u8>)>,
    /// Patch files that go over all of it, in order.
    pub patches: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    pub load_restriction: LoadRestriction,
    pub enable_helm: bool,
}

/// The objects in apply order, and what deserves attention.
#[derive(Debug)]
pub struct Built {
    pub objects: ObjectSet,
    pub warnings: Vec<String>,
}

impl Built {
    /// The text that is packaged: the objects as YAML documents separated by `---`.
    pub fn to_yaml(&self) -> Result<Vec<u8>, Error> {
        Ok(Vec::new())
    }
}

/// Builds all inputs, patches the result and puts it in apply order.
pub fn build(_tree: Arc<dyn Tree>, _inputs: &Inputs, _options: &Options) -> Result<Built, Error> {
    Ok(Built { objects: ObjectSet::default(), warnings: Vec::new() })
}
