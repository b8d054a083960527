//! A repository for Flux in a directory: where it begins, and what it begins with.
//!
//! `flux bootstrap` commits `gotk-sync.yaml` into a directory of each cluster: a source, which is the repository itself,
//! and a Kustomization of the cluster's directory. Everything else follows from these two.

use std::path::{Path, PathBuf};

use flumen_api::{Kustomization, SourceKind};
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
        let wanted = wanted.map(from_root);
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
        let mut kustomizations = Vec::new();
        for object in &bootstrap.objects {
            if is_of_kind(object, "Kustomization") {
                let read = flumen_api::read::<Kustomization>(&as_json(&object.node)?);
                kustomizations.push(read.map_err(|malformed| Failure::new(malformed.to_string()))?);
            }
        }
        let sync = self.sync_of(&kustomizations);
        bootstrap.sources.extend(sync.and_then(source_of).map(|key| (key, self.root.clone())));
        bootstrap.owner =
            sync.or(kustomizations.first()).map(|Kustomization { metadata, .. }| {
                Key::new(Kind::Kustomization, &metadata.namespace, &metadata.name)
            });
        Ok(bootstrap)
    }

    /// The one whose source is this repository, because it builds the entry point. Others may build anything.
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

    /// What to say if nothing tells which source this repository is.
    pub(crate) fn unsourced(&self) -> CommandError {
        let (sync, entry) = (self.sync.display(), self.entry.display());
        let message = format!(
            "no Kustomization in `{sync}` builds `./{entry}` from a GitRepository or OCIRepository, so that none is \
             known to be this repository"
        );
        let hint = "`spec.path` is the directory of the cluster, from the root of the repository; \
                    `--source NAMESPACE/NAME=DIR` names the source otherwise";
        Failure::new(message).hint(hint).into()
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

/// A path in a repository as it leads from the root, which itself is empty.
fn from_root(path: &Path) -> PathBuf {
    let below = clean(path);
    let below = below.strip_prefix("/").unwrap_or(&below);
    if below == Path::new(".") { PathBuf::new() } else { below.to_owned() }
}

/// The source of a Kustomization, if a directory can stand for it.
fn source_of(kustomization: &Kustomization) -> Option<Key> {
    let source = &kustomization.spec.source_ref;
    let kind = match source.kind {
        SourceKind::GitRepository => Kind::GitRepository,
        SourceKind::OciRepository => Kind::OciRepository,
        SourceKind::Bucket | SourceKind::ExternalArtifact => return None,
    };
    Some(Key::new(kind, kustomization.source_namespace(), &source.name))
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What a repository with this sync in `flux-system` below `entry` begins with.
    fn begin(entry: &str, sync: &str) -> (FluxRepository, Bootstrap) {
        let root = tempfile::tempdir().expect("a directory");
        let system = root.path().join(entry).join("flux-system");
        fs::create_dir_all(&system).expect("created");
        fs::write(system.join("kustomization.yaml"), "resources: [gotk-sync.yaml]\n")
            .expect("written");
        fs::write(system.join(SYNC), sync).expect("written");
        let found = FluxRepository::find(root.path(), Some(Path::new(entry))).expect("searched");
        let repository = found.expect("a repository for Flux");
        let bootstrap = repository.bootstrap(&Ui::new()).expect("built");
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
        let message = repository.unsourced().message();
        assert!(message.contains("`clusters/a/flux-system` builds `./clusters/a`"), "{message}");
    }
}
