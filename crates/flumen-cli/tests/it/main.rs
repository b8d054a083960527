//! The command as its users meet it: arguments in, bytes and exit status out.
//!
//! What a build does is tested below, in the engine, and by the golden cases; here stands what only
//! the binary has.
#![allow(clippy::disallowed_methods, reason = "tests touch the disk and look at clocks")]

#[cfg(unix)]
mod apiserver;
mod artifact;
mod build_artifact;
mod cluster;
mod component;
mod copy;
mod deploy;
mod examples;
mod failure;
#[cfg(unix)]
mod flux;
mod golden;
mod hostile;
#[cfg(unix)]
mod local;
mod options;
mod output;
mod pages;
mod reference;
mod registries;
#[cfg(unix)]
mod registry;
#[cfg(unix)]
mod remote;
#[cfg(unix)]
mod serving;
mod signatures;
mod startup;
mod tags;
mod talk;

use std::{
    fs,
    path::{Path, PathBuf},
};

use flumen_testkit::{Outcome, PATIENCE};
use tempfile::TempDir;

/// A directory of its own for each test, with some kustomizations in it.
struct Scratch {
    dir: TempDir,
}

impl Scratch {
    /// Two kustomizations, `a` and `b`, with one config map each, and `both` with both.
    fn new() -> Self {
        let scratch = Self { dir: tempfile::tempdir().expect("scratch directory") };
        for name in ["a", "b"] {
            scratch.write(&format!("{name}/kustomization.yaml"), "resources: [map.yaml]\n");
            scratch.write(&format!("{name}/map.yaml"), &config_map(name));
        }
        scratch.write("both/kustomization.yaml", "resources: [../a, ../b]\n");
        scratch
    }

    /// The real path, as messages show it.
    fn path(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).expect("real path")
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("file");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).expect("file")
    }

    fn names(&self, dir: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path().join(dir))
            .expect("listing")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn flumen(&self, args: &[&str]) -> Outcome {
        flumen_testkit::run(binary(), args, &self.path(), PATIENCE).expect("it runs")
    }

    /// Runs the command and compares its standard output; it must succeed.
    #[track_caller]
    fn check(&self, args: &[&str], expected: &str) {
        let outcome = self.flumen(args);
        assert_eq!(outcome.status, Some(0), "{args:?}: {}", outcome.stderr);
        assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected, "{args:?}");
    }

    /// Runs the command, which must refuse with this status and these words.
    #[track_caller]
    fn check_refused(&self, args: &[&str], status: i32, words: &[&str]) -> String {
        let outcome = self.flumen(args);
        assert_eq!(outcome.status, Some(status), "{args:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{args:?} printed something");
        for word in words {
            assert!(outcome.stderr.contains(word), "{args:?}: {word:?} in {}", outcome.stderr);
        }
        outcome.stderr
    }
}

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_flumen"))
}

/// A config map as it is printed.
fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("directory");
    for entry in fs::read_dir(from).expect("listing") {
        let path = entry.expect("entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy_tree(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}
