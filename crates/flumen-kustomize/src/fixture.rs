//! Resources from YAML and back, for the tests of transformers.

use std::{path::Path, sync::Arc};

use flumen_fs::MemoryTree;
use flumen_object::Origin;
use flumen_schema::Schema;
use flumen_yaml::{Budget, Text};

use crate::{
    build_annotations,
    loader::{LoadRestriction, Loader},
    resmap::ResMap,
    resource::Resource,
    transform::Scene,
};

/// The resources of a text. Their history is written as kustomize writes it, in annotations.
pub(crate) fn resources(yaml: &str) -> ResMap {
    let schema = Schema::builtin();
    let mut resources = ResMap::default();
    let nodes = flumen_yaml::read(&Text::from(yaml), 1, &Budget::default()).expect("valid YAML");
    for node in nodes {
        let mut resource = Resource::new(node, Origin::default());
        build_annotations::absorb(&mut resource);
        resources.append(resource, &schema).expect("distinct ids");
    }
    resources
}

/// What `resources` reads, as kustomize prints it.
pub(crate) fn print(resources: &ResMap) -> String {
    let mut out = Vec::new();
    for (index, resource) in resources.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(b"---\n");
        }
        flumen_yaml::emit(resource.node(), &mut out).expect("printable");
    }
    String::from_utf8(out).expect("YAML is UTF-8")
}

/// Runs `body` in a directory with these files.
pub(crate) fn with_scene<T>(files: &[(&str, &str)], body: impl FnOnce(&Scene<'_>) -> T) -> T {
    let mut tree = MemoryTree::new();
    tree.insert_file("/build/kustomization.yaml", "");
    for (path, content) in files {
        tree.insert_file(Path::new("/build").join(path), *content);
    }
    let loader = Loader::open(Arc::new(tree), Path::new("/build"), LoadRestriction::RootOnly)
        .expect("the directory exists");
    let schema = Schema::builtin();
    let file = Arc::from(Path::new("/build/kustomization.yaml"));
    body(&Scene { schema: &schema, loader: &loader, file: &file })
}
