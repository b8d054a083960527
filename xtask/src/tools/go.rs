//! Tools written in Go, built from their modules.

use std::{fs, path::Path, process::Command};

use crate::{
    Result,
    process::{find, run_quietly},
};

/// Builds `package@version` and gives the program its name when it is complete.
pub(super) fn install(package: &str, name: &str, cache: &Path) -> Result<&'static str> {
    let go = find("go").ok_or("Go is not installed")?;
    let staging = cache.join("go").join(name);
    fs::create_dir_all(&staging)?;
    let mut command = Command::new(go);
    // A name without directory would be a program of the module that we happen to be in.
    command.args(["install", "-trimpath", "-ldflags=-s -w", package]).current_dir(&staging);
    // No C compiler is needed, and no settings of the user's own work take part.
    command.env("GOBIN", &staging).env("CGO_ENABLED", "0").env("GOFLAGS", "");
    run_quietly(&mut command)?;
    let program = package.split('@').next().and_then(|path| {
        path.rsplit('/').find(|part| !is_major_version(part)) // as Go names it
    });
    fs::rename(staging.join(program.unwrap_or(name)), cache.join("bin").join(name))?;
    fs::remove_dir_all(&staging)?;
    Ok("built from")
}

fn is_major_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
