//! What a test may find outside the repository, and how it says that it did not.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Where `cargo xtask test` wants to be told what was skipped or retried; it repeats the lines at the end.
const SKIP_LOG: &str = "FLUMEN_SKIP_LOG";

/// The directory of the workspace manifest.
pub fn repository_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}

/// The larger corpora and benchmarks that some checkouts have beside them, as `../shared`.
pub fn shared_dir() -> Option<PathBuf> {
    let beside = repository_root().parent()?.join("shared");
    beside.join("corpus").is_dir().then_some(beside)
}

/// Says in one line that a check was left out. Tests call this instead of passing silently.
pub fn skip(what: &str, why: &str) {
    report(&format!("skipped: {what}: {why}\n"));
}

/// Says in one line that something failed and runs again. Nothing is retried without it.
#[cfg(feature = "network")]
pub(crate) fn retry(what: &str, why: &str) {
    let why = why.lines().next().unwrap_or_default();
    report(&format!("retried: {what}: {why}\n"));
}

fn report(line: &str) {
    // Straight to the handle: the test harness captures the macros of passing tests.
    let _ = io::stderr().lock().write_all(line.as_bytes());
    if let Some(log) = env::var_os(SKIP_LOG)
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(log)
    {
        let _ = file.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_root_holds_the_workspace() {
        let manifest = std::fs::read_to_string(repository_root().join("Cargo.toml"));
        assert!(manifest.expect("manifest").contains("[workspace]"));
    }
}
