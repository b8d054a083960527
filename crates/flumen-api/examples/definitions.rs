//! Writes the definitions into a directory; `cargo xtask generate` keeps them in `crds/`.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    let directory =
        env::args_os().nth(1).ok_or_else(|| io::Error::other("expected a directory"))?;
    for (name, text) in flumen_api::generate_definitions()? {
        fs::write(Path::new(&directory).join(name), text)?;
    }
    Ok(())
}
