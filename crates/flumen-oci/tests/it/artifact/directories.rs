//! Unpacking into a directory, and comparing with one.

use std::{fs, path::Path};

use flumen_archive::{Budget, PathOptions};
use flumen_oci::{
    Error, Repository,
    artifact::{PullOptions, compare_with_path, pack_path, pull_to_dir},
};
use tempfile::TempDir;

use super::{TestRegistry, YAML, metadata, tag};

fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("scratch directory");
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        fs::write(path, content).expect("file");
    }
    dir
}

/// All files below a directory, with their content.
fn files(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(dir) = ahead.pop() {
        for entry in fs::read_dir(&dir).expect("listing") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                ahead.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                found.push((name, fs::read_to_string(&path).expect("content")));
            }
        }
    }
    found.sort();
    found
}

async fn push(repository: &Repository, dir: &Path) {
    let packed = pack_path(dir, &PathOptions::default(), &metadata()).expect("packed");
    packed.push(repository, Some("v1")).await.expect("pushed");
}

#[tokio::test]
async fn a_tree_comes_back_and_replaces_what_was_there() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let source = tree(&[("a/b/c.yaml", YAML), ("d.yaml", "new")]);
    push(&repository, source.path()).await;

    let target = tree(&[("d.yaml", "old"), ("a/kept.yaml", "kept")]);
    let options = PullOptions::default();
    let pulled = pull_to_dir(&repository, &tag("v1"), target.path(), &options).await;
    assert_eq!(pulled.expect("pulled").files.len(), 2);
    let expected = [("a/b/c.yaml", YAML), ("a/kept.yaml", "kept"), ("d.yaml", "new")];
    let expected: Vec<(String, String)> =
        expected.map(|(name, content)| (name.to_owned(), content.to_owned())).into();
    assert_eq!(files(target.path()), expected);
}

#[tokio::test]
async fn a_refusal_leaves_the_directory_as_it_was() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let source = tree(&[("a.yaml", YAML), ("b.yaml", YAML), ("c.yaml", YAML)]);
    push(&repository, source.path()).await;
    let before = [("a.yaml", "old")];
    let few =
        PullOptions { budget: Budget { files: 3, ..Budget::default() }, ..PullOptions::default() };
    let small = PullOptions {
        budget: Budget { bytes: 200, ..Budget::default() },
        ..PullOptions::default()
    };
    for (options, message) in [(few, "too many files"), (small, "is too large")] {
        let target = tree(&before);
        let error = pull_to_dir(&repository, &tag("v1"), target.path(), &options).await;
        let error = error.expect_err("over the budget");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.hint().expect("a hint").contains("--max-size"));
        assert_eq!(files(target.path()), [("a.yaml".to_owned(), "old".to_owned())]);
    }
    // A directory in the place of a file.
    let target = tree(&[("a.yaml/x", "old")]);
    let options = PullOptions::default();
    pull_to_dir(&repository, &tag("v1"), target.path(), &options).await.expect_err("a directory");
    assert_eq!(files(target.path()), [("a.yaml/x".to_owned(), "old".to_owned())]);
}

#[tokio::test]
async fn the_directory_must_exist() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let dir = tree(&[("file", "x")]);
    for name in ["missing", "file"] {
        let path = dir.path().join(name);
        let error = pull_to_dir(&repository, &tag("v1"), &path, &PullOptions::default()).await;
        assert!(matches!(error.expect_err("no directory"), Error::Io { .. }));
    }
}

#[tokio::test]
async fn links_in_the_target_are_not_followed() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let source = tree(&[("sub/a.yaml", YAML), ("b.yaml", YAML)]);
    push(&repository, source.path()).await;
    let outside = tree(&[("a.yaml", "outside"), ("b.yaml", "outside")]);
    let target = tree(&[]);
    std::os::unix::fs::symlink(outside.path().join("b.yaml"), target.path().join("b.yaml"))
        .expect("link");
    let options = PullOptions::default();
    pull_to_dir(&repository, &tag("v1"), target.path(), &options).await.expect("pulled");
    assert!(target.path().join("b.yaml").symlink_metadata().expect("file").is_file());

    std::os::unix::fs::symlink(outside.path(), target.path().join("other")).expect("link");
    fs::remove_dir_all(target.path().join("sub")).expect("removed");
    fs::rename(target.path().join("other"), target.path().join("sub")).expect("renamed");
    pull_to_dir(&repository, &tag("v1"), target.path(), &options).await.expect_err("a link");
    let untouched = [("a.yaml", "outside"), ("b.yaml", "outside")];
    let untouched: Vec<(String, String)> =
        untouched.map(|(name, content)| (name.to_owned(), content.to_owned())).into();
    assert_eq!(files(outside.path()), untouched);
}

#[tokio::test]
async fn a_directory_is_compared_file_by_file() {
    let registry = TestRegistry::start().await;
    let repository = registry.repository();
    let source = tree(&[("a.yaml", "a"), ("b.yaml", "b"), ("c.yaml", "c")]);
    push(&repository, source.path()).await;
    let compare = async |dir: &Path| {
        let (tree, pull) = (PathOptions::default(), PullOptions::default());
        let changes = compare_with_path(&repository, &tag("v1"), dir, &tree, &pull).await;
        changes.expect("compared").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(compare(source.path()).await.is_empty());
    let other = tree(&[("a.yaml", "a"), ("b.yaml", "B"), ("d.yaml", "d")]);
    assert_eq!(
        compare(other.path()).await,
        ["b.yaml: differs", "c.yaml: only in the artifact", "d.yaml: only in the directory"]
    );
}

#[test]
fn links_are_packed_only_when_asked_for() {
    let source = tree(&[("a.yaml", YAML)]);
    std::os::unix::fs::symlink("a.yaml", source.path().join("link.yaml")).expect("link");
    let resolve = PathOptions { resolve_symlinks: true, ..PathOptions::default() };
    let without = pack_path(source.path(), &PathOptions::default(), &metadata()).expect("packed");
    let with = pack_path(source.path(), &resolve, &metadata()).expect("packed");
    assert_ne!(without.layer(), with.layer());
    std::os::unix::fs::symlink(".", source.path().join("circle")).expect("link");
    pack_path(source.path(), &resolve, &metadata()).expect_err("a circle");
}
