//! What is to be built.

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use flumen_api::{KustomizationSpec, SubstituteKind, SubstituteReference};
use flumen_fs::RemoteTrees;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// A build of one Kustomization from one artifact.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The directory of the tree that is the artifact.
    pub root: &'a Path,
    pub spec: &'a KustomizationSpec,
    /// What the references of `postBuild.substituteFrom` lead to.
    pub variables: &'a Variables,
    /// Whether a variable that is not set and has no default is an error.
    pub strict: bool,
    /// Fetches bases that are named by URL; without it they are refused.
    pub remotes: Option<Arc<dyn RemoteTrees>>,
}

impl Request<'_> {
    /// What the result depends on besides the artifact, as a hash.
    pub fn fingerprint(&self) -> [u8; 32] {
        /// The fields of the specification that a build looks at.
        #[derive(Serialize)]
        struct Fields<'a> {
            path: &'a str,
            names: [&'a Option<String>; 3],
            patches: &'a [flumen_api::Patch],
            images: &'a [flumen_api::Image],
            components: (&'a [String], bool),
            build_metadata: &'a [flumen_api::BuildMetadata],
            post_build: &'a Option<flumen_api::PostBuild>,
            variables: Vec<&'a Lookup>,
            strict: bool,
            remotes: bool,
        }
        let spec = self.spec;
        let references = spec.post_build.iter().flat_map(|post_build| &post_build.substitute_from);
        let fields = Fields {
            path: &spec.path,
            names: [&spec.target_namespace, &spec.name_prefix, &spec.name_suffix],
            patches: &spec.patches,
            images: &spec.images,
            components: (&spec.components, spec.ignore_missing_components),
            build_metadata: &spec.build_metadata,
            post_build: &spec.post_build,
            variables: references.map(|reference| self.variables.of(reference)).collect(),
            strict: self.strict,
            remotes: self.remotes.is_some(),
        };
        // Keys are texts and numbers are finite, so that there is always JSON.
        Sha256::digest(serde_json::to_vec(&fields).unwrap_or_default()).into()
    }
}

/// What the objects gave that hold variables. Whoever asks for a build has looked them up.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<(SubstituteKind, String), Lookup>);

/// An object that holds variables.
#[derive(Clone, Serialize)]
pub enum Lookup {
    /// Its data, decoded.
    Found(BTreeMap<String, String>),
    Missing,
    /// Why it could not be read.
    Failed(String),
}

impl Variables {
    pub fn insert(&mut self, kind: SubstituteKind, name: impl Into<String>, lookup: Lookup) {
        self.0.insert((kind, name.into()), lookup);
    }

    /// What a reference leads to; nothing if nobody has looked.
    pub(super) fn of(&self, reference: &SubstituteReference) -> &Lookup {
        self.0.get(&(reference.kind, reference.name.clone())).unwrap_or(&Lookup::Missing)
    }
}

/// Values may be secret.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(values) => f.debug_set().entries(values.keys()).finish(),
            Self::Missing => f.write_str("Missing"),
            Self::Failed(reason) => f.debug_tuple("Failed").field(reason).finish(),
        }
    }
}
