//! A repository for Flux in a directory: where it begins, and what it begins with.
//!
//! `flux bootstrap` commits `gotk-sync.yaml` into a directory of each cluster: a source, which is the repository itself,
//! and a Kustomization of the cluster's directory. Everything else follows from these two.

use std::path::{Path, PathBuf};

use flumen_api::Kustomization;
use flumen_controller::{Key, Kind, is_flux_component};
use flumen_fs::{DiskTree, EntryKind, Tree as _, clean};
use flumen_object::Object;
use serde_json::json;

use crate::{
    bootstrap::{Bootstrap, NAMESPACE, as_json, objects_of_json},
    error::{CommandError, Failure},
    local_delivery,
    ui::Ui,
};

const SYNC: &str = "gotk-sync.yaml";
/// Clusters are not deeper in any repository that people can find their way in.
const MAX_DEPTH: usize = 6;
/// What is larger is searched no further: it is not a repository of manifests.
const MAX_DIRECTORIES: usize = 10_000;

/// The address of a source that has none of its own; no host has such a name.
pub(crate) const NOWHERE: &str = "https://local.invalid";

/// A repository, and the cluster of it that is meant.
#[derive(Debug)]
pub(crate) struct FluxRepository {
    root: PathBuf,
    /// The directory of the cluster, from the root.
    entry: PathBuf,
    /// The directory with the sync, from the root.
    sync: PathBuf,
}

impl FluxRepository {
    /// Looks for the entry point of a directory; `None` if this is no repository for Flux.
    pub(crate) fn find(root: &Path, wanted: Option<&Path>) -> Result<Option<Self>, CommandError> {
        let mut search = Search { found: Vec::new(), left: MAX_DIRECTORIES };
        search.look(root, &mut PathBuf::new(), 0);
        let wanted = wanted.map(|path| clean(path).into_owned());
        let entry = |sync: &Path| sync.parent().unwrap_or(Path::new("")).to_owned();
        let is_wanted = |sync: &&PathBuf| wanted.as_ref().is_none_or(|path| entry(sync) == *path);
        let root_name = root.display();
        let names: Vec<String> =
            search.found.iter().map(|sync| entry(sync).display().to_string()).collect();
        let fitting: Vec<&PathBuf> = search.found.iter().filter(is_wanted).collect();
        match (fitting.as_slice(), names.as_slice()) {
            ([sync], _) => {
                let (root, sync) = (root.to_owned(), (*sync).clone());
                Ok(Some(Self { root, entry: entry(&sync), sync }))
            }
            ([], []) if wanted.is_none() => Ok(None),
            ([], []) => Err(Failure::new(format!("`{root_name}` is no repository for Flux"))
                .hint(format!("`--path` names a directory with `flux-system/{SYNC}`"))
                .into()),
            ([], names) => {
                let message = format!("that is no entry point of `{root_name}`");
                Err(Failure::new(message).hint(format!("there are: {}", names.join(", "))).into())
            }
            (_, names) => {
                let message =
                    format!("`{root_name}` has several entry points: {}", names.join(", "));
                let hint = format!("choose one, such as `--path {}`", names[0]);
                Err(Failure::new(message).hint(hint).into())
            }
        }
    }

    /// The directory of the cluster, from the root.
    pub(crate) fn entry(&self) -> &Path {
        &self.entry
    }

    /// Builds the directory of the sync, and takes from it what the rest follows from.
    pub(crate) fn bootstrap(&self, ui: &Ui) -> Result<Bootstrap, CommandError> {
        let built = local_delivery::build(&self.root.join(&self.sync), ui)?;
        let mut bootstrap = Bootstrap::default();
        for object in built.objects {
            if is_flux_component(&object) {
                bootstrap.skipped.push(object.id());
            } else if begins_something(&object) {
                bootstrap.objects.push(object);
            }
        }
        if !bootstrap.objects.iter().any(|object| is_of_kind(object, "Kustomization")) {
            bootstrap.objects.extend(self.default_sync()?);
        }
        for object in &bootstrap.objects {
            if !is_of_kind(object, "Kustomization") {
                continue;
            }
            let read = flumen_api::read::<Kustomization>(&as_json(&object.node)?)
                .map_err(|malformed| Failure::new(malformed.to_string()))?;
            let source = &read.spec.source_ref;
            let kind = match source.kind {
                flumen_api::SourceKind::GitRepository => Kind::GitRepository,
                flumen_api::SourceKind::OciRepository => Kind::OciRepository,
                _ => continue,
            };
            let key = Key::new(kind, read.source_namespace(), &source.name);
            bootstrap.sources.insert(key, self.root.clone());
            let metadata = &read.metadata;
            bootstrap.owner.get_or_insert_with(|| {
                Key::new(Kind::Kustomization, &metadata.namespace, &metadata.name)
            });
        }
        Ok(bootstrap)
    }

    /// What `flux bootstrap` would write into a sync that is still empty, as it is in templates of repositories.
    fn default_sync(&self) -> Result<Vec<Object>, CommandError> {
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

/// Definitions, namespaces, and what the controller reads. Anything else comes from the controller itself.
fn begins_something(object: &Object) -> bool {
    let gvk = object.id().gvk;
    matches!(&*gvk.kind, "CustomResourceDefinition" | "Namespace")
        || matches!(&*gvk.group, "source.toolkit.fluxcd.io" | "kustomize.toolkit.fluxcd.io")
}

fn is_of_kind(object: &Object, kind: &str) -> bool {
    *object.id().gvk.kind == *kind
}

struct Search {
    found: Vec<PathBuf>,
    left: usize,
}

impl Search {
    /// Looks into a directory and those below. What cannot be read holds nothing that could be used.
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
