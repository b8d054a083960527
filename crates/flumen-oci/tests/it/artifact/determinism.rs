//! Equal content has an equal layer, wherever it lies.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use flumen_archive::PathOptions;
use flumen_oci::artifact::{Format, Metadata, pack_path, pack_yaml};

use super::{YAML, metadata};

const PACKS: usize = 300;
const FILES: usize = 12;

/// The files of the tree in an order that differs from round to round.
fn shuffled(round: usize) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = (0..FILES)
        .map(|n| if n % 3 == 0 { format!("dir{n}/f{n}.yaml") } else { format!("f{n}.yaml") })
        .map(PathBuf::from)
        .collect();
    let mut state = round as u64 + 1;
    for index in (1..paths.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let other = usize::try_from(state >> 33).unwrap_or_default() % (index + 1);
        paths.swap(index, other);
    }
    paths
}

/// Writes the tree in that order, with the permissions that a umask would leave.
fn write_tree(root: &Path, round: usize) {
    let umask = [0o022, 0o077, 0o002][round % 3];
    let set_mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & !umask)).expect("mode");
    };
    for path in shuffled(round) {
        let target = root.join(&path);
        let parent = target.parent().expect("parent");
        fs::create_dir_all(parent).expect("directory");
        fs::write(&target, format!("# {}\n{YAML}", path.display()).repeat(50)).expect("file");
        set_mode(&target, 0o666);
        set_mode(parent, 0o777);
    }
}

#[test]
fn three_hundred_packs_of_a_tree_have_one_layer() {
    let options = PathOptions { normalize_modes: true, ..PathOptions::default() };
    let mut layers = BTreeSet::new();
    for round in 0..PACKS {
        let dir = tempfile::tempdir().expect("scratch directory");
        write_tree(dir.path(), round);
        let packed = pack_path(dir.path(), &options, &metadata()).expect("packed");
        layers.insert(packed.layer().expect("a layer").clone());
    }
    assert_eq!(layers.len(), 1, "{layers:?}");
}

#[test]
fn acceptance_03_the_same_text_has_the_same_layer() {
    let later = Metadata {
        created: "2025-01-02T03:04:05Z".parse().expect("a time"),
        revision: "other".to_owned(),
        ..metadata()
    };
    let first = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &metadata()).expect("packed");
    let second = pack_yaml(YAML.as_bytes(), Format::Kustomizer, &later).expect("packed");
    assert_eq!(first.blobs, second.blobs);
    assert_ne!(first.manifest, second.manifest, "annotations differ");
}
