//! `cargo xtask generate`: the JSON schemas of component and install files, for editors.
//!
//! The types that read the files know it best. They are asked by a program of their own, so that the
//! tasks need not be built together with all that components need.

use std::{fs, path::Path, process::Command};

use crate::test::Built;

/// What there is a schema of.
const FILES: [&str; 2] = ["component", "install"];

/// Writes the schemas, or with `check` only compares them. They can always be judged.
pub(crate) fn run(check: bool, built: &Built) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    let program = built.example("schema").ok_or("the example `schema` was not built")?;
    FILES.iter().try_for_each(|file| generate(root, program, file, check))?;
    Ok(None)
}

fn generate(root: &Path, program: &Path, file: &str, check: bool) -> Result<(), String> {
    let output = Command::new(program)
        .arg(file)
        .output()
        .map_err(|error| format!("`{}` does not start: {error}", program.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let name = format!("schemas/{file}.schema.json");
    let path = root.join(&name);
    if fs::read(&path).is_ok_and(|old| old == output.stdout) {
        return Ok(());
    }
    if check {
        return Err(format!("`{name}` is stale; run `cargo xtask generate`"));
    }
    fs::write(&path, output.stdout).map_err(|error| format!("{}: {error}", path.display()))
}
