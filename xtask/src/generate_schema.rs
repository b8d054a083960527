//! `cargo xtask generate`: the JSON schema of component files, for editors.
//!
//! The types that read the files know it best. They are asked by a program of their own, so that the
//! tasks need not be built together with all that components need.

use std::{fs, path::Path, process::Command};

use crate::process::{built, cargo, show};

const SCHEMA: &str = "schemas/component.schema.json";

/// Writes the schema, or with `check` only compares it. It can always be judged.
pub(crate) fn run(check: bool) -> Result<Option<String>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace root")?;
    // With all packages, as the tests are built: by itself the example would need most dependencies
    // once more, with fewer features.
    show(&mut cargo(&["build", "--quiet", "--workspace", "--example", "schema"]))
        .map_err(|error| error.to_string())?;
    let program = built("debug/examples/schema").map_err(|error| error.to_string())?;
    let output = Command::new(&program)
        .output()
        .map_err(|error| format!("`{}` does not start: {error}", program.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let path = root.join(SCHEMA);
    if fs::read(&path).is_ok_and(|old| old == output.stdout) {
        return Ok(None);
    }
    if check {
        return Err(format!("`{SCHEMA}` is stale; run `cargo xtask generate`"));
    }
    fs::write(&path, output.stdout).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(None)
}
