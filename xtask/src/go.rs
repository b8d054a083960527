//! The `go` on the path, and how programs are built with it.

use std::{path::Path, process::Command};

use crate::{Result, process::find};

/// `go` in a directory. No settings of the user's own work take part.
pub(crate) fn command(directory: &Path) -> Result<Command> {
    let mut command = Command::new(find("go").ok_or("Go is not installed")?);
    command.current_dir(directory).env("GOFLAGS", "").env("GOWORK", "off");
    Ok(command)
}

/// How much work the compiler puts into a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effort {
    /// For programs that run for seconds: without inlining, the compiler needs a quarter less time.
    Little,
    /// For programs whose speed matters.
    Full,
}

/// `go build` or `go install`, with flags for the linker.
///
/// All programs of a module are built alike, so that the packages they share are compiled once. No C compiler is
/// needed.
pub(crate) fn build_command(
    verb: &str,
    directory: &Path,
    effort: Effort,
    linked: &str,
) -> Result<Command> {
    let mut command = command(directory)?;
    let inlining = match effort {
        Effort::Little => " -l",
        Effort::Full => "",
    };
    command.args([verb, "-trimpath"]).arg(format!("-gcflags=all=-dwarf=false{inlining}"));
    command.arg(format!("-ldflags=-s -w{linked}"));
    // The compiler runs for seconds and spends a good part of them on garbage.
    command.env("CGO_ENABLED", "0").env("GOGC", "400");
    Ok(command)
}
