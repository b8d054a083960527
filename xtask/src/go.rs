//! The `go` on the path, and how programs are built with it.

use std::{path::Path, process::Command};

use crate::{Result, process::find};

/// `go` in a directory. No settings of the user's own work take part.
pub(crate) fn command(directory: &Path) -> Result<Command> {
    let mut command = Command::new(find("go").ok_or("Go is not installed")?);
    command.current_dir(directory).env("GOFLAGS", "").env("GOWORK", "off");
    Ok(command)
}

/// `go build` or `go install`, with what is linked in beside the program.
///
/// All programs are built alike, so that what they share is compiled once. No C compiler is needed.
pub(crate) fn build_command(verb: &str, directory: &Path, linked: &str) -> Result<Command> {
    let mut command = command(directory)?;
    command.args([verb, "-trimpath", "-gcflags=all=-dwarf=false"]);
    command.arg(format!("-ldflags=-s -w{linked}"));
    // The compiler runs for seconds and spends a good part of them on garbage.
    command.env("CGO_ENABLED", "0").env("GOGC", "400");
    Ok(command)
}
