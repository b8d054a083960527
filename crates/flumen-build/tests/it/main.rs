//! Builds through the public interface.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod build;
mod flux;
mod order;
mod patches;

use std::{path::PathBuf, sync::Arc};

use flumen_build::{Error, Inputs, Options, build};
use flumen_fs::MemoryTree;

/// A tree in memory.
fn tree(files: &[(&str, &str)]) -> Arc<MemoryTree> {
    let mut tree = MemoryTree::new();
    for (path, content) in files {
        tree.insert_file(path, *content);
    }
    Arc::new(tree)
}

/// The text of a build.
fn text(files: &[(&str, &str)], inputs: &Inputs) -> Result<String, Error> {
    let built = build(tree(files), inputs, &Options::default())?;
    Ok(String::from_utf8(built.to_yaml()?).expect("UTF-8"))
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}
