//! Prints the JSON schema of component files; `cargo xtask generate` keeps it in `schemas/`.

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let schema = serde_json::to_string_pretty(&flumen_pipeline::config::schema())?;
    writeln!(io::stdout().lock(), "{schema}")
}
