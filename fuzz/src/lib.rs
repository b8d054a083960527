//! What the targets share: building a tree that exists only in memory.

use std::{path::Path, sync::Arc};

use flumen_fs::MemoryTree;
use flumen_kustomize::{Options, Session};

/// A few objects with lists, maps and scalars of all kinds, for patches and replacements to work on.
pub const OBJECTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}, annotations: {note: 'a: b'}}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: main
        image: web:1
        args: [one, two, three]
        env: [{name: A, value: a}, {name: B, value: b}]
        ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]
      volumes: [{name: v, emptyDir: {}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf}
data: {host: example.org, port: '80', text: \"one\\ntwo\\n\"}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 3, ratio: 1.5, on: true, none: null, list: [1, [2], {a: b}], map: {a: {b: {c: d}}}}
";

/// Builds the tree at its root and prints what comes out. Errors are good answers.
pub fn build(tree: MemoryTree) {
    let session = Session::new(Arc::new(tree));
    if let Ok(build) = session.build(Path::new("/"), &Options::default()) {
        for object in build.objects.iter() {
            let _ = flumen_yaml::emit(&object.node, &mut Vec::new());
        }
    }
}

/// Builds a kustomization over [`OBJECTS`] that reads the given file.
pub fn build_over_objects(kustomization: &str, file: &str, content: &[u8]) {
    let mut tree = MemoryTree::new();
    tree.insert_file("/kustomization.yaml", kustomization);
    tree.insert_file("/objects.yaml", OBJECTS);
    tree.insert_file(Path::new("/").join(file), content);
    build(tree);
}
