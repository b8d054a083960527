//! Nothing outside the artifact is read.

use std::{path::Path, sync::Arc};

use flumen_build::flux::{BuildError, Built, Request, Stage, Variables, build};
use flumen_fs::{MemoryTree, Tree};
use serde_json::json;

use super::{ROOT, build_with, spec};

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outside}\n";

/// An artifact beside something that is not for it.
fn built(path: &str, files: &[(&str, &str)], links: &[(&str, &str)]) -> Result<Built, BuildError> {
    let mut tree = MemoryTree::new();
    tree.insert_file("/outside/secret.yaml", MANIFEST);
    tree.insert_file("/outside/kustomization.yaml", "resources: [secret.yaml]\n");
    for (path, content) in files {
        tree.insert_file(Path::new(ROOT).join(path), *content);
    }
    for (path, target) in links {
        tree.insert_link(Path::new(ROOT).join(path), *target);
    }
    let tree: Arc<dyn Tree> = Arc::new(tree);
    build_with(&tree, &spec(&json!({"path": path})), &Variables::default())
}

#[track_caller]
fn refused(path: &str, files: &[(&str, &str)], links: &[(&str, &str)], expected: &str) {
    let error = built(path, files, links).expect_err("outside").to_string();
    assert_eq!(error, expected);
}

#[test]
fn paths_cannot_lead_out() {
    refused(
        "a",
        &[("a/kustomization.yaml", "resources: [../../outside/secret.yaml]\n")],
        &[],
        "kustomize build failed: accumulating resources: accumulation err='accumulating resources from \
         '../../outside/secret.yaml': fs-security-constraint read /tmp/outside/secret.yaml: path \
         '/tmp/outside/secret.yaml' is not in or below '/tmp/kustomization-0'': must build at directory: \
         not a valid directory: fs-security-constraint abs /tmp/outside/secret.yaml: path \
         '/tmp/outside/secret.yaml' is not in or below '/tmp/kustomization-0'",
    );
    refused(
        "a",
        &[("a/kustomization.yaml", "resources: [../../nowhere]\n")],
        &[],
        "kustomize build failed: accumulating resources: accumulation err='accumulating resources from \
         '../../nowhere': fs-security-constraint read /tmp/nowhere: path '/tmp/nowhere' is not in or below \
         '/tmp/kustomization-0'': must build at directory: not a valid directory: fs-security-constraint abs \
         /tmp/nowhere: path '/tmp/nowhere' is not in or below '/tmp/kustomization-0'",
    );
}

#[test]
fn components_cannot_lead_out() {
    refused(
        "a",
        &[("a/kustomization.yaml", "components: [../../outside]\n")],
        &[],
        "kustomize build failed: accumulating components: loader.New \"must build at directory: not a valid \
         directory: fs-security-constraint abs /tmp/outside: path '/tmp/outside' is not in or below \
         '/tmp/kustomization-0'\"",
    );
}

#[test]
fn links_cannot_lead_out() {
    let kustomization = [("a/kustomization.yaml", "resources: [m.yaml]\n")];
    refused(
        "a",
        &kustomization,
        &[("a/m.yaml", "/outside/secret.yaml")],
        "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'm.yaml': \
         fs-security-constraint read /tmp/kustomization-0/a/m.yaml: path '/tmp/kustomization-0/a/m.yaml' is not \
         in or below '/tmp/kustomization-0'': must build at directory: '/tmp/kustomization-0/a/m.yaml': file is not \
         directory",
    );
    let error = built("linked", &kustomization, &[("linked", "/outside")]).expect_err("outside");
    assert_eq!(error.stage, Stage::Path);
}

#[test]
fn linked_directories_are_not_walked() {
    let built = built(
        "a",
        &[("a/readme.md", "")],
        &[("a/out", "/outside"), ("a/again", "/data/unpacked/a")],
    );
    assert_eq!(built.expect("a build").yaml, "");
}

#[test]
fn the_path_begins_at_the_root() {
    let files = [("a/m.yaml", MANIFEST)];
    for path in ["a", "./a", "/a", "../../a", "b/../a/"] {
        let file = built(path, &files, &[]).expect("a build").kustomization;
        assert_eq!(file.path, Path::new("/tmp/kustomization-0/a/kustomization.yaml"), "{path}");
        assert!(file.created);
    }
    refused(
        "b",
        &files,
        &[],
        "kustomization path not found: stat /tmp/kustomization-0/b: no such file or directory",
    );
}

#[test]
fn an_artifact_that_is_its_whole_tree_can_be_left_too() {
    let mut tree = MemoryTree::new();
    tree.insert_file("/a/kustomization.yaml", "resources: [../../etc]\n");
    tree.insert_file("/b/m.yaml", MANIFEST);
    tree.insert_file("/etc/m.yaml", MANIFEST);
    let tree: Arc<dyn Tree> = Arc::new(tree);
    let built = |path: &str| {
        let (spec, variables) = (spec(&json!({"path": path})), Variables::default());
        let root = Path::new("/");
        build(
            &tree,
            &Request { root, spec: &spec, variables: &variables, strict: true, remotes: None },
        )
    };
    let error = built("a").expect_err("outside").to_string();
    assert!(
        error.ends_with("path '/tmp/etc' is not in or below '/tmp/kustomization-0'"),
        "{error}"
    );
    let reads = built("b").expect("a build").reads;
    assert!(reads.unchanged_in(&*tree, Path::new("/")));
}
