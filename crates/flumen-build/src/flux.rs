//! The build of a Flux Kustomization: from an artifact and a specification to the objects to apply.
//!
//! ```text
//! artifact ─▶ kustomization file (found or generated) ─▶ fields of the spec merged into it
//!                                                            │ in memory only
//!                                                            ▼
//!         objects, text, digest ◀─ variables substituted ◀─ build
//! ```
//!
//! Nothing is written, and nothing outside the artifact is read. What was read is remembered: a build
//! whose [`Reads`] are the same in another artifact, and whose [`Request::fingerprint`] is the same, would
//! end in the same objects.

mod artifact;
mod encryption;
mod error;
mod generate;
mod merge;
mod objects;
mod reads;
mod request;
mod substitute;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_fs::{FsError, Tree, clean};
use flumen_kustomize::{LoadRestriction, RemoteSource, Reorder, Session, typed_kustomization};
use flumen_object::{Object, ObjectSet};
use flumen_yaml::{Node, to_json};
use sha2::{Digest as _, Sha256};

pub use self::{
    artifact::ARTIFACT_ROOT,
    encryption::{EncryptedSecret, check_encryption},
    error::{BuildError, Stage},
    objects::set_common_metadata,
    reads::Reads,
    request::{Lookup, Request, Variables},
};
use self::{artifact::ArtifactTree, generate::KustomizationSource, substitute::Substitution};
use crate::{documents, inputs};

/// What labels and annotations say to switch something off.
const DISABLED: &str = "disabled";

/// A variable may be in any number of objects, and a megabyte long. No cluster takes so much.
const MAX_TEXT: usize = 64 << 20;

/// What a build ends in.
pub struct Built {
    /// In the order of the text; without what is no object of a cluster.
    pub objects: ObjectSet,
    /// What was built, after substitution.
    pub yaml: String,
    /// `sha256:…` of the text.
    pub digest: String,
    pub kustomization: KustomizationFile,
    pub reads: Reads,
    /// What was fetched. [`Reads`] does not speak of it.
    pub remote_sources: Vec<RemoteSource>,
    pub warnings: Vec<String>,
}

/// The kustomization file as it was used.
#[derive(Clone, Debug)]
pub struct KustomizationFile {
    /// Where it is, or would be, below [`ARTIFACT_ROOT`].
    pub path: PathBuf,
    pub text: String,
    /// Whether the artifact has none.
    pub created: bool,
}

/// Builds what `request` asks for from an artifact in `tree`.
pub fn build(tree: &Arc<dyn Tree>, request: &Request<'_>) -> Result<Built, BuildError> {
    let artifact = Arc::new(ArtifactTree::open(tree, request.root)?);
    let dir = directory(&artifact, &request.spec.path)?;
    let source = KustomizationSource::find(&artifact, &dir)?;
    // Whatever goes wrong with a generated file, Flux complains first of manifests that are none.
    build_in(&artifact, &dir, &source, request)
        .map_err(|error| source.first_mistake(&artifact, &dir).unwrap_or(error))
}

fn build_in(
    artifact: &Arc<ArtifactTree>,
    dir: &Path,
    source: &KustomizationSource,
    request: &Request<'_>,
) -> Result<Built, BuildError> {
    let kustomization = prepare(artifact, dir, source, request)?;
    artifact.lay_over(&kustomization.path, kustomization.text.as_bytes());

    let options = flumen_kustomize::Options {
        load_restriction: LoadRestriction::None,
        reorder: Reorder::None,
        remotes: request.remotes.clone(),
        ..flumen_kustomize::Options::default()
    };
    let tree = Arc::clone(artifact) as Arc<dyn Tree>;
    let build = Session::new(tree)
        .build(dir, &options)
        .map_err(|error| BuildError::of_kustomize(&error))?;

    let (objects, yaml) = finish(build.objects, request)?;
    let digest = format!("sha256:{:x}", Sha256::digest(&yaml));
    Ok(Built {
        objects: documents::objects_among(objects),
        yaml,
        digest,
        kustomization,
        reads: artifact.take_reads(),
        remote_sources: build.remote_sources,
        warnings: build.warnings,
    })
}

/// Fails unless the artifact at `root` has something at a path of a Kustomization.
pub fn check_path(tree: &Arc<dyn Tree>, root: &Path, path: &str) -> Result<(), BuildError> {
    match directory(&ArtifactTree::open(tree, root)?, path) {
        Err(error) if error.stage == Stage::Path => Err(error),
        // What is there may still be no directory, which is a mistake of the build.
        _ => Ok(()),
    }
}

/// The directory that is built. The path starts at the root, whatever it looks like.
fn directory(artifact: &ArtifactTree, path: &str) -> Result<PathBuf, BuildError> {
    let below = clean(&Path::new("/").join(path)).into_owned();
    let below = below.strip_prefix("/").unwrap_or(&below);
    let dir = artifact::join(Path::new(ARTIFACT_ROOT), below);
    artifact.real_dir(&dir).map_err(|error| {
        let is_in_directory = dir.parent().is_some_and(|dir| artifact.real_dir(dir).is_ok());
        match error {
            FsError::NotDirectory { .. } if is_in_directory => BuildError::path_is_file(&dir),
            error => BuildError::path_not_found(&dir, &error),
        }
    })
}

/// The kustomization file with the fields of the specification.
fn prepare(
    artifact: &ArtifactTree,
    dir: &Path,
    source: &KustomizationSource,
    request: &Request<'_>,
) -> Result<KustomizationFile, BuildError> {
    let (path, mut node, created) = match source {
        KustomizationSource::Found { path, content } => {
            let mut node = typed_kustomization(content, path)
                .map_err(|error| BuildError::new(Stage::Generate, error.to_string()))?;
            if node.get("resources").is_none() {
                merge::keep_valid(&mut node);
            }
            (path.clone(), node, false)
        }
        KustomizationSource::Generated { path, resources } => {
            (path.clone(), generate::listing(resources), true)
        }
    };
    merge::merge(&mut node, request.spec, |component| artifact.exists(&dir.join(component)))?;
    let mut text = Vec::new();
    flumen_yaml::emit(&node, &mut text)
        .map_err(|error| BuildError::new(Stage::Generate, error.to_string()))?;
    Ok(KustomizationFile { path, text: String::from_utf8_lossy(&text).into_owned(), created })
}

/// The objects after substitution, and their text.
fn finish(built: ObjectSet, request: &Request<'_>) -> Result<(Vec<Object>, String), BuildError> {
    let substitution = Substitution::of(request);
    let mut objects = Vec::with_capacity(built.len());
    let mut yaml = Vec::new();
    for mut object in built {
        check_identity(&object)?;
        if request.spec.decryption.is_some() {
            encryption::refuse_encrypted(&object)?;
        }
        if !yaml.is_empty() {
            yaml.extend_from_slice(inputs::SEPARATOR);
        }
        let begin = yaml.len();
        inputs::emit(&object, &mut yaml).map_err(|error| {
            BuildError::new(Stage::Build, format!("kustomize build failed: {error}"))
        })?;
        if let Some(substitution) = &substitution
            && let Some(node) = substitution.apply(&object.node, &yaml[begin..])?
        {
            object.node = node;
            yaml.truncate(begin);
            // The error would show the value, which may come from a Secret.
            inputs::emit(&object, &mut yaml).map_err(|_| {
                substitute::failed(&object.node, "a value has no form in which it can be printed")
            })?;
        }
        if yaml.len() > MAX_TEXT {
            let message = format!("what was built is larger than {MAX_TEXT} bytes");
            return Err(BuildError::new(Stage::Build, message));
        }
        objects.push(object);
    }
    if substitution.is_some() {
        substitute::refuse_equal_ids(&objects)?;
    }
    Ok((objects, String::from_utf8_lossy(&yaml).into_owned()))
}

/// A build lets objects pass that a cluster would not know what to do with.
fn check_identity(object: &Object) -> Result<(), BuildError> {
    if documents::missing_field(&object.node).is_none() {
        return Ok(());
    }
    let id = object.id();
    let shown = match id.gvk.kind.as_str() {
        "Secret" => id.to_string(),
        _ => to_json(&object.node).unwrap_or_else(|_| id.to_string()),
    };
    let message = format!("failed to decode Kubernetes apiVersion, kind and name from: {shown}");
    Err(BuildError::new(Stage::Decode, message))
}

/// Objects may hold secrets, and so may the text.
impl fmt::Debug for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Built")
            .field("digest", &self.digest)
            .field("objects", &self.objects.len())
            .field("reads", &self.reads)
            .finish_non_exhaustive()
    }
}

/// A node under a chain of keys, as text.
fn text_at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n str> {
    node.at(path).and_then(Node::as_str)
}
