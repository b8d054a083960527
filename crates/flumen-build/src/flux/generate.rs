//! The kustomization file of a directory: the one that is there, or one that lists all manifests.

use std::path::{Path, PathBuf};

use flumen_fs::{Bounds, FsError, Tree};
use flumen_kustomize::{FILE_NAMES, check_manifests};
use flumen_yaml::{Entry, Map, Node, Pos, Value};

use super::{BuildError, Stage, artifact::ArtifactTree};
use crate::files::{MAX_FILES, directory};

const EXTENSIONS: [&str; 2] = [".yaml", ".yml"];

/// Makes a file valid that lists nothing.
const PLACEHOLDER: &str = "_placeholder";

/// Where the kustomization file comes from.
#[derive(Debug)]
pub(super) enum KustomizationSource {
    Found { path: PathBuf, content: Vec<u8> },
    Generated { path: PathBuf, resources: Vec<Resource> },
}

/// An entry of a generated file.
#[derive(Debug)]
pub(super) struct Resource {
    /// Below the directory of the file.
    path: PathBuf,
    /// Whether it is a directory with a kustomization file of its own.
    is_kustomization: bool,
}

impl KustomizationSource {
    pub(super) fn find(tree: &ArtifactTree, dir: &Path) -> Result<Self, BuildError> {
        if let Some((path, content)) = kustomization_in(tree, dir)? {
            return Ok(Self::Found { path, content });
        }
        let [name, ..] = FILE_NAMES;
        Ok(Self::Generated { path: dir.join(name), resources: resources_in(tree, dir)? })
    }

    /// The first manifest of a generated file that is none.
    ///
    /// Flux looks before it builds. Here a build that succeeds has proved it, so that nothing is read
    /// twice.
    pub(super) fn first_mistake(&self, tree: &ArtifactTree, dir: &Path) -> Option<BuildError> {
        let Self::Generated { resources, .. } = self else { return None };
        let files = resources.iter().filter(|resource| !resource.is_kustomization);
        files.map(|file| dir.join(&file.path)).find_map(|file| {
            let content = tree.read(&file, Bounds::Anywhere).ok()?;
            let error = check_manifests(&content, &file).err()?;
            let message =
                format!("failed to decode Kubernetes YAML from {}: {error}", file.display());
            Some(BuildError::new(Stage::Generate, message).with_hint(
                "without a kustomization file every YAML file below the path must be a manifest",
            ))
        })
    }
}

/// A kustomization file that lists `resources`.
pub(super) fn listing(resources: &[Resource]) -> Node {
    let content = if resources.is_empty() {
        Entry::new("namespace", Node::string(PLACEHOLDER))
    } else {
        let name = |resource: &Resource| format!("./{}", resource.path.display());
        let names = resources.iter().map(|resource| Node::string(name(resource)));
        Entry::new("resources", Node::seq(names.collect()))
    };
    let fields = vec![
        Entry::new("apiVersion", Node::string("kustomize.config.k8s.io/v1beta1")),
        Entry::new("kind", Node::string("Kustomization")),
        content,
    ];
    Node::new(Pos::default(), Value::Map(Map::from(fields)))
}

/// The first of the names that is a file.
fn kustomization_in(
    tree: &ArtifactTree,
    dir: &Path,
) -> Result<Option<(PathBuf, Vec<u8>)>, BuildError> {
    for name in FILE_NAMES {
        let path = dir.join(name);
        match tree.read(&path, Bounds::Anywhere) {
            Ok(content) => return Ok(Some((path, content))),
            Err(
                FsError::NotFound { .. } | FsError::IsDirectory { .. } | FsError::Outside { .. },
            ) => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    Ok(None)
}

/// Everything below a directory that a kustomization can list, in the order of a walk by name.
fn resources_in(tree: &ArtifactTree, dir: &Path) -> Result<Vec<Resource>, BuildError> {
    let mut resources = Vec::new();
    let mut entries = 0;
    // What is still to be looked at, next one last.
    let mut ahead = vec![PathBuf::new()];
    while let Some(path) = ahead.pop() {
        let place = dir.join(&path);
        if let Some(real) = directory(tree, &place) {
            let is_root = path.as_os_str().is_empty();
            if !is_root && kustomization_in(tree, &real)?.is_some() {
                resources.push(Resource { path, is_kustomization: true });
                continue;
            }
            let names = tree.list(&real).map_err(|error| unreadable(&error))?;
            entries += names.len();
            if entries > MAX_FILES {
                let message = format!("`{}` holds more than {MAX_FILES} files", dir.display());
                return Err(BuildError::new(Stage::Generate, message));
            }
            ahead.extend(names.into_iter().rev().map(|name| path.join(name)));
        } else if is_manifest(&path) {
            resources.push(Resource { path, is_kustomization: false });
        }
    }
    Ok(resources)
}

fn is_manifest(path: &Path) -> bool {
    let name = path.to_string_lossy();
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

fn unreadable(error: &FsError) -> BuildError {
    BuildError::new(Stage::Generate, error.to_string())
}
