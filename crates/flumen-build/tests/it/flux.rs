//! Builds of Flux Kustomizations.

mod confinement;
mod corpus;
mod merge;
mod reads;
mod variables;

use std::{path::Path, sync::Arc};

use flumen_api::KustomizationSpec;
use flumen_build::flux::{BuildError, Built, Request, Variables, build};
use flumen_fs::{MemoryTree, Tree};
use serde_json::{Value, json};

/// Where the artifact is in the trees of these tests.
const ROOT: &str = "/data/unpacked";

/// An artifact in memory.
fn artifact<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Arc<dyn Tree> {
    let mut tree = MemoryTree::new();
    tree.insert_dir(ROOT);
    for (path, content) in files {
        tree.insert_file(Path::new(ROOT).join(path), content);
    }
    Arc::new(tree)
}

/// A specification with these fields.
fn spec(fields: &Value) -> KustomizationSpec {
    let mut spec = json!({
        "interval": "5m",
        "prune": true,
        "sourceRef": {"kind": "GitRepository", "name": "repo"},
    });
    for (key, value) in fields.as_object().expect("fields") {
        spec[key] = value.clone();
    }
    serde_json::from_value(spec).expect("a specification")
}

fn build_with(
    tree: &Arc<dyn Tree>,
    spec: &KustomizationSpec,
    variables: &Variables,
) -> Result<Built, BuildError> {
    let root = Path::new(ROOT);
    build(tree, &Request { root, spec, variables, strict: true, remotes: None })
}
