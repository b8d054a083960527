//! When a build may be used again for another artifact.

use std::{path::Path, sync::Arc};

use flumen_build::flux::{Reads, Variables};
use flumen_fs::{MemoryTree, Tree};
use serde_json::{Value, json};

use super::{ROOT, artifact, build_with, spec};

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const OTHER: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";

/// A kustomization on a base, a directory without one, and something else.
const FILES: [(&str, &str); 5] = [
    ("app/kustomization.yaml", "resources: [../base]\n"),
    ("base/kustomization.yaml", "resources: [a.yaml]\n"),
    ("base/a.yaml", MANIFEST),
    ("plain/sub/a.yaml", MANIFEST),
    ("elsewhere/a.yaml", MANIFEST),
];

fn reads(fields: &Value) -> Reads {
    let built = build_with(&artifact(FILES), &spec(fields), &Variables::default());
    built.expect("a build").reads
}

/// The artifact with one file changed, added, or removed.
fn changed(path: &str, content: Option<&str>) -> Arc<dyn Tree> {
    let others = FILES.into_iter().filter(|(name, _)| *name != path);
    artifact(others.chain(content.map(|content| (path, content))))
}

#[track_caller]
fn check(dir: &str, path: &str, content: Option<&str>, unchanged: bool) {
    let reads = reads(&json!({"path": dir}));
    assert!(reads.unchanged_in(&*artifact(FILES), Path::new(ROOT)));
    let found = reads.unchanged_in(&*changed(path, content), Path::new(ROOT));
    assert_eq!(found, unchanged, "{dir} after a change of {path}");
}

#[test]
fn a_change_in_a_base_counts() {
    check("app", "base/a.yaml", Some(OTHER), false);
    check("app", "base/a.yaml", None, false);
    check("app", "base/kustomization.yaml", Some("resources: []\n"), false);
}

#[test]
fn a_change_elsewhere_does_not() {
    check("app", "elsewhere/a.yaml", Some(OTHER), true);
    check("app", "plain/b.yaml", Some(OTHER), true);
    check("app", "app/b.yaml", Some(OTHER), true);
    check("plain", "elsewhere/a.yaml", None, true);
    check("plain", "base/a.yaml", Some(OTHER), true);
}

#[test]
fn new_and_removed_files_of_a_generated_directory_count() {
    check("plain", "plain/b.yaml", Some(OTHER), false);
    check("plain", "plain/sub/deeper/b.yaml", Some(OTHER), false);
    check("plain", "plain/sub/a.yaml", None, false);
    check("plain", "plain/sub/kustomization.yaml", Some("resources: [a.yaml]\n"), false);
}

#[test]
fn a_second_kustomization_file_counts() {
    check("app", "app/kustomization.yml", Some("resources: []\n"), false);
    check("app", "base/Kustomization", Some("resources: []\n"), false);
    check("plain", "plain/kustomization.yaml", Some("resources: []\n"), false);
}

#[test]
fn a_component_that_appears_counts() {
    let fields = json!({
        "path": "app",
        "components": ["../tls"],
        "ignoreMissingComponents": true,
    });
    let reads = reads(&fields);
    assert!(reads.unchanged_in(&*artifact(FILES), Path::new(ROOT)));
    let component = Some("kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n");
    assert!(!reads.unchanged_in(&*changed("tls/kustomization.yaml", component), Path::new(ROOT)));
}

#[test]
fn the_root_may_be_elsewhere() {
    let reads = reads(&json!({"path": "app"}));
    let mut tree = MemoryTree::new();
    for (path, content) in FILES {
        tree.insert_file(Path::new("/other/place").join(path), content);
    }
    assert!(reads.unchanged_in(&tree, Path::new("/other/place")));
    assert!(!reads.unchanged_in(&tree, Path::new("/other")));
    assert!(!reads.unchanged_in(&tree, Path::new("/nowhere")));
}

#[test]
fn a_link_to_the_same_content_counts_when_it_leads_out() {
    let reads = reads(&json!({"path": "app"}));
    let mut tree = MemoryTree::new();
    for (path, content) in FILES {
        tree.insert_file(Path::new(ROOT).join(path), content);
    }
    tree.insert_file("/outside/a.yaml", MANIFEST);
    tree.insert_link(Path::new(ROOT).join("base/a.yaml"), "/outside/a.yaml");
    assert!(!reads.unchanged_in(&tree, Path::new(ROOT)));
}
