//! Tests only: runs one transformer on manifests written in place.

use std::{path::Path, sync::Arc};

use flumen_fs::MemoryTree;
use flumen_object::Origin;
use flumen_schema::Schema;
use flumen_yaml::{Budget, Text};

use crate::{
    config::FieldSpec,
    error::Result,
    loader::{LoadRestriction, Loader},
    resmap::ResMap,
    resource::Resource,
    transform::Scene,
};

/// Calls `run` with a scene whose directory holds `files`.
pub(crate) fn on_stage<T>(files: &[(&str, &[u8])], run: impl FnOnce(&Scene<'_>) -> T) -> T {
    let mut tree = MemoryTree::new();
    tree.insert_dir("/app");
    for (name, content) in files {
        tree.insert_file(format!("/app/{name}"), *content);
    }
    let loader = Loader::open(Arc::new(tree), Path::new("/app"), LoadRestriction::RootOnly, None)
        .expect("the directory is there");
    let file: Arc<Path> = Arc::from(Path::new("/app/kustomization.yaml"));
    run(&Scene { schema: &Schema::builtin(), loader: &loader, file: &file })
}

pub(crate) fn resources(manifests: &str) -> ResMap {
    let nodes = flumen_yaml::read(&Text::from(manifests), 1, &Budget::default());
    let mut resources = ResMap::default();
    for node in nodes.expect("the manifests are YAML") {
        resources.resources_mut().push(Resource::new(node, Origin::default()));
    }
    resources
}

/// What the resources print, one document after the other.
pub(crate) fn printed(resources: &ResMap) -> String {
    let documents = resources.iter().map(|resource| {
        let mut out = Vec::new();
        flumen_yaml::emit(resource.node(), &mut out).expect("the tree prints");
        String::from_utf8(out).expect("YAML is UTF-8")
    });
    documents.collect::<Vec<_>>().join("---\n")
}

/// Runs transformers and returns what comes out, or the message.
pub(crate) fn transformed(
    manifests: &str,
    run: impl FnOnce(&mut ResMap, &Scene<'_>) -> Result<()>,
) -> String {
    let mut resources = resources(manifests);
    match on_stage(&[], |scene| run(&mut resources, scene)) {
        Ok(()) => printed(&resources),
        Err(error) => format!("error: {error}\n"),
    }
}

/// A specification that selects every kind.
pub(crate) fn spec(path: &'static str, create: bool) -> FieldSpec {
    let any = || "".into();
    FieldSpec { group: any(), version: any(), kind: any(), path: path.into(), create }
}
