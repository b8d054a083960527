//! Prints a JSON schema; `cargo xtask generate` keeps both of them in `schemas/`.

use std::{
    env,
    io::{self, Write as _},
};

use flumen_pipeline::{config, install};

fn main() -> io::Result<()> {
    let schema = match env::args().nth(1).as_deref() {
        Some("component") => config::schema(),
        Some("install") => install::schema(),
        _ => return Err(io::Error::other("expected `component` or `install`")),
    };
    writeln!(io::stdout().lock(), "{}", serde_json::to_string_pretty(&schema)?)
}
