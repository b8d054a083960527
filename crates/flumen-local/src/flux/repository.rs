//! A repository for Flux in a directory: its entry point, and what it starts from.
//!
//! `flux bootstrap` commits `gotk-sync.yaml` into a directory of each cluster: a source, which is the repository itself,
//! and a Kustomization of the cluster's directory. Everything else follows from these two.

use std::path::{Path, PathBuf};

use flumen_api::{Kustomization, SourceKind};
use flumen_build::Built;
use flumen_controller::{GIT_REPOSITORY, KUSTOMIZATION, Key, OCI_REPOSITORY, is_flux_component};
use flumen_fs::{DiskTree, EntryKind, Tree as _, clean};
use flumen_object::{Object, ObjectSet};
use flumen_yaml::{Node, to_json};
use serde_json::{Value, json};

use super::{Bootstrap, NAMESPACE, NOWHERE, bootstrap::objects_of_json};
use crate::{DeliveryError, build_directory};

const SYNC: &str = "gotk-sync.yaml";
/// Directories of clusters are not deeper in practice.
const MAX_DEPTH: usize = 6;
/// A larger directory is not searched further: it is no repository of manifests.
const MAX_DIRECTORIES: usize = 10_000;

/// A repository and one of its clusters.
#[derive(Debug)]
pub struct FluxRepository {
    root: PathBuf,
    /// The directory of the cluster, from the root.
    entry: PathBuf,
    /// The directory with the sync, from the root.
    sync: PathBuf,
}

impl FluxRepository {
    /// Looks for the entry point `wanted`, or for the only one; `None` if the directory is no repository for Flux.
    pub fn find(root: &Path, wanted: Option<&Path>) -> Result<Option<Self>, DeliveryError> {
        let mut search = Search { found: Vec::new(), left: MAX_DIRECTORIES };
        search.look(root, &mut PathBuf::new(), 0);
        let wanted = wanted.map(from_root);
        let entry = |sync: &Path| sync.parent().unwrap_or(Path::new("")).to_owned();
        let is_wanted = |sync: &&PathBuf| wanted.as_ref().is_none_or(|path| entry(sync) == *path);
        let names: Vec<String> =
            search.found.iter().map(|sync| entry(sync).display().to_string()).collect();
        let fitting: Vec<&PathBuf> = search.found.iter().filter(is_wanted).collect();
        match (fitting.as_slice(), names.as_slice()) {
            ([sync], _) => {
                let (root, sync) = (root.to_owned(), (*sync).clone());
                Ok(Some(Self { root, entry: entry(&sync), sync }))
            }
            ([], []) if wanted.is_none() => Ok(None),
            ([], []) => Err(DeliveryError::NoRepository { root: root.to_owned() }),
            ([], _) => Err(DeliveryError::NoEntryPoint { root: root.to_owned(), names }),
            _ => Err(DeliveryError::SeveralEntryPoints { root: root.to_owned(), names }),
        }
    }

    /// The directory of the cluster, from the root.
    pub fn entry(&self) -> &Path {
        &self.entry
    }

    /// Builds the directory of the sync.
    pub fn build(&self) -> Result<Built, DeliveryError> {
        Ok(build_directory(&self.root.join(&self.sync))?)
    }

    /// Selects from the objects of [`Self::build`] what the controller starts from.
    pub fn bootstrap(&self, built: ObjectSet) -> Result<Bootstrap, DeliveryError> {
        let mut bootstrap = Bootstrap::default();
        for object in built {
            if is_flux_component(&object) {
                bootstrap.skipped.push(object.id());
            } else if is_needed(&object) {
                bootstrap.objects.push(object);
            }
        }
        if !bootstrap.objects.iter().any(|object| is_of_kind(object, "Kustomization")) {
            bootstrap.objects.extend(self.default_sync()?);
        }
        let mut kustomizations = Vec::new();
        for object in &bootstrap.objects {
            if is_of_kind(object, "Kustomization") {
                kustomizations.push(flumen_api::read::<Kustomization>(&as_json(&object.node)?)?);
            }
        }
        let sync = self.sync_of(&kustomizations);
        bootstrap.sources.extend(sync.and_then(source_of).map(|key| (key, self.root.clone())));
        bootstrap.owner =
            sync.or(kustomizations.first()).map(|Kustomization { metadata, .. }| {
                Key::new(&KUSTOMIZATION, &metadata.namespace, &metadata.name)
            });
        Ok(bootstrap)
    }

    /// Returns the Kustomization whose source is this repository, because it builds the entry point.
    ///
    /// Where the entry point is the root, a Kustomization of another repository may have the same path. The one
    /// that `flux bootstrap` writes is named after its namespace.
    fn sync_of<'k>(&self, kustomizations: &'k [Kustomization]) -> Option<&'k Kustomization> {
        let builds_entry =
            |one: &&Kustomization| from_root(Path::new(&one.spec.path)) == self.entry;
        kustomizations
            .iter()
            .filter(builds_entry)
            .min_by_key(|Kustomization { metadata, .. }| metadata.name != metadata.namespace)
    }

    /// The error if it is unknown which source is this repository.
    pub fn unsourced(&self) -> DeliveryError {
        DeliveryError::UnknownSource { sync: self.sync.clone(), entry: self.entry.clone() }
    }

    /// Returns what `flux bootstrap` would write into a sync that is still empty, as in templates of repositories.
    fn default_sync(&self) -> Result<Vec<Object>, DeliveryError> {
        let metadata = json!({"name": NAMESPACE, "namespace": NAMESPACE});
        let source = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": metadata,
            "spec": {"interval": "1m", "url": format!("{NOWHERE}/{NAMESPACE}")},
        });
        let kustomization = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": metadata,
            "spec": {
                "interval": "10m",
                "path": format!("./{}", self.entry.display()),
                "prune": true,
                "sourceRef": {"kind": "GitRepository", "name": NAMESPACE},
            },
        });
        let mut objects = Vec::new();
        for object in [source, kustomization] {
            objects.extend(objects_of_json(&object.to_string())?);
        }
        Ok(objects)
    }
}

/// Returns a path relative to the root of the repository; that of the root is empty.
fn from_root(path: &Path) -> PathBuf {
    let below = clean(path);
    let below = below.strip_prefix("/").unwrap_or(&below);
    if below == Path::new(".") { PathBuf::new() } else { below.to_owned() }
}

/// Returns the source of a Kustomization, if it can be served from a directory.
fn source_of(kustomization: &Kustomization) -> Option<Key> {
    let source = &kustomization.spec.source_ref;
    let kind = match source.kind {
        SourceKind::GitRepository => &GIT_REPOSITORY,
        SourceKind::OciRepository => &OCI_REPOSITORY,
        SourceKind::Bucket | SourceKind::ExternalArtifact => return None,
    };
    Some(Key::new(kind, kustomization.source_namespace(), &source.name))
}

/// CRDs, namespaces, and the kinds that the controller reconciles; it applies all others itself.
fn is_needed(object: &Object) -> bool {
    let gvk = object.id().gvk;
    matches!(&*gvk.kind, "CustomResourceDefinition" | "Namespace")
        || matches!(&*gvk.group, "source.toolkit.fluxcd.io" | "kustomize.toolkit.fluxcd.io")
}

fn is_of_kind(object: &Object, kind: &str) -> bool {
    *object.id().gvk.kind == *kind
}

fn as_json(node: &Node) -> Result<Value, DeliveryError> {
    let text = to_json(node).map_err(|error| DeliveryError::NotJson(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| DeliveryError::NotJson(error.to_string()))
}

struct Search {
    found: Vec<PathBuf>,
    left: usize,
}

impl Search {
    /// Searches a directory and those below; unreadable ones are skipped.
    fn look(&mut self, root: &Path, below: &mut PathBuf, depth: usize) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let Ok(entries) = DiskTree.entries(&root.join(&below)) else { return };
        for entry in entries {
            let is_directory = entry.kind == EntryKind::Directory;
            if entry.name == SYNC && !is_directory {
                self.found.push(below.clone());
            } else if is_directory && depth < MAX_DEPTH && !entry.name.starts_with('.') {
                below.push(&entry.name);
                self.look(root, below, depth + 1);
                below.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository with this sync in `flux-system` below `entry`, and what it starts from.
    fn begin(entry: &str, sync: &str) -> (FluxRepository, Bootstrap) {
        let root = tempfile::tempdir().expect("a directory");
        let system = root.path().join(entry).join("flux-system");
        fs::create_dir_all(&system).expect("created");
        fs::write(system.join("kustomization.yaml"), "resources: [gotk-sync.yaml]\n")
            .expect("written");
        fs::write(system.join(SYNC), sync).expect("written");
        let found = FluxRepository::find(root.path(), Some(Path::new(entry))).expect("searched");
        let repository = found.expect("a repository for Flux");
        let built = repository.build().expect("built");
        let bootstrap = repository.bootstrap(built.objects).expect("read");
        (repository, bootstrap)
    }

    fn kustomization(name: &str, path: &str, source: &str) -> String {
        format!(
            "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{name: {name}, namespace: flux-system}}\n\
             spec: {{interval: 1m, prune: true, path: {path}, sourceRef: {source}}}\n"
        )
    }

    #[track_caller]
    fn check(entry: &str, kustomizations: &[(&str, &str, &str)], source: &str, owner: &str) {
        let sync: Vec<String> = kustomizations
            .iter()
            .map(|(name, path, source)| kustomization(name, path, source))
            .collect();
        let (repository, bootstrap) = begin(entry, &sync.concat());
        let sources: Vec<String> = bootstrap.sources.keys().map(ToString::to_string).collect();
        assert_eq!(sources.join(", "), source);
        assert!(bootstrap.sources.values().all(|directory| *directory == repository.root));
        let found = bootstrap.owner.map(|key| key.to_string());
        assert_eq!(found.as_deref(), Some(owner));
    }

    #[test]
    fn only_the_source_of_the_entry_point_is_the_repository() {
        let own = "{kind: GitRepository, name: fleet}";
        let foreign = "{kind: OCIRepository, name: podinfo}";
        check(
            "clusters/a",
            &[
                ("podinfo", "./deploy", foreign),
                ("cluster", "./clusters/a/", own),
                ("apps", "./apps", own),
            ],
            "GitRepository/flux-system/fleet",
            "Kustomization/flux-system/cluster",
        );
        // At the root, others may have the same path.
        check(
            ".",
            &[("podinfo", "./", foreign), ("flux-system", "/", own)],
            "GitRepository/flux-system/fleet",
            "Kustomization/flux-system/flux-system",
        );
        check(
            "clusters/a",
            &[("cluster", "clusters/b", own)],
            "",
            "Kustomization/flux-system/cluster",
        );
    }

    #[test]
    fn a_sync_that_names_no_source_of_its_own_is_told_what_to_do() {
        let source = "{kind: GitRepository, name: fleet}";
        let (repository, _) = begin("clusters/a", &kustomization("cluster", "clusters/b", source));
        let message = repository.unsourced().to_string();
        assert!(message.contains("`clusters/a/flux-system` builds `./clusters/a`"), "{message}");
    }
}
