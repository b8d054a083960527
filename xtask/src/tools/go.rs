//! Tools written in Go, built from their modules.

use std::{fs, path::Path};

use crate::{
    Result,
    go::{build_command, command},
    process::run_quietly,
};

/// How a tool came about, for people.
const BUILT: &str = "built from";

/// Builds `package@version` and gives the program its name when it is complete.
pub(super) fn install(package: &str, name: &str, cache: &Path) -> Result<&'static str> {
    let staging = cache.join("go").join(name);
    fs::create_dir_all(&staging)?;
    let mut install = build_command("install", &staging, "")?;
    // A name without directory would be a program of the module that we happen to be in.
    run_quietly(install.arg(package).env("GOBIN", &staging))?;
    let program = package.split('@').next().and_then(|path| {
        path.rsplit('/').find(|part| !is_major_version(part)) // as Go names it
    });
    fs::rename(staging.join(program.unwrap_or(name)), cache.join("bin").join(name))?;
    fs::remove_dir_all(&staging)?;
    Ok(BUILT)
}

/// Builds a program that a module on disk holds or needs, and gives it its name when it is complete.
pub(super) fn build(module: &Path, package: &str, program: &Path) -> Result<&'static str> {
    let unfinished = program.with_extension("unfinished");
    run_quietly(build_command("build", module, "")?.arg("-o").arg(&unfinished).arg(package))?;
    fs::rename(unfinished, program)?;
    Ok(BUILT)
}

/// Builds the program of a published module from a copy of it, in which `replaced` take the place of what its
/// module file names.
pub(super) fn build_release(
    module: &str,
    replaced: &[&str],
    program: &Path,
    cache: &Path,
) -> Result<&'static str> {
    let staging = cache.join("go");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    fs::create_dir_all(&staging)?;
    let answer = command(&staging)?.args(["mod", "download", "-json", module]).output()?;
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout)?;
    let Some(published) = answer["Dir"].as_str() else {
        return Err(format!("{module} cannot be had: {}", answer["Error"]).into());
    };
    copy(Path::new(published), &staging)?;
    let mut edit = command(&staging)?;
    edit.args(["mod", "edit"]);
    for taken in replaced {
        let path = taken.split('@').next().unwrap_or(taken);
        edit.arg(format!("-replace={path}={taken}"));
    }
    run_quietly(&mut edit)?;
    let unfinished = program.with_extension("unfinished");
    let mut build = build_command("build", &staging, "")?;
    run_quietly(build.arg("-mod=mod").arg("-o").arg(&unfinished).arg("."))?;
    fs::rename(unfinished, program)?;
    fs::remove_dir_all(&staging)?;
    Ok(BUILT)
}

/// Copies files and directories; the cache of Go is not writable, the copy is.
fn copy(from: &Path, to: &Path) -> Result {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn is_major_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}
