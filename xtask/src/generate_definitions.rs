//! `cargo xtask generate`: the definitions of `flumen-api`.
//!
//! As with the schemas of files, the types are asked by a program of their own. They need little, so the program is built
//! alone: what only it needs is then in nothing else that is built.

use std::{fs, io, path::Path};

use crate::process::{cargo, show};

const DEFINITIONS: &str = "crates/flumen-api/crds";

/// Writes the definitions, or with `check` only compares them. They can always be judged.
pub(crate) fn run(check: bool) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    let made = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut program = cargo(&["run", "--quiet", "--package", "flumen-api", "--features", "schema"]);
    program.args(["--example", "definitions", "--"]).arg(made.path());
    show(&mut program).map_err(|error| error.to_string())?;
    let files = fs::read_dir(made.path()).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut files = files.map_err(|error| error.to_string())?;
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        let text = fs::read(file.path()).map_err(|error| error.to_string())?;
        let path = root.join(DEFINITIONS).join(file.file_name());
        if fs::read(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            let name = file.file_name();
            let name = name.to_string_lossy();
            return Err(format!("`{DEFINITIONS}/{name}` is stale; run `cargo xtask generate`"));
        }
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(None)
}
