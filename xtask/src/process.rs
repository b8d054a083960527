//! Starting other programs: Cargo, the binary under test, the reference tool.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use flumen_testkit::repository_root;

use crate::Result;

/// The Cargo that started us, in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository_root());
    command
}

/// Runs a command whose output belongs on the screen.
pub(crate) fn show(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{}` ended with {status}", line_of(command)).into())
}

/// Runs a command and returns its standard output whatever its status.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command whose output only matters when it fails: then its last line tells why.
pub(crate) fn run_quietly(command: &mut Command) -> Result {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(format!("`{}` ended with {}: {}", line_of(command), output.status, last.trim()).into())
}

/// Builds the release binary and returns its path.
pub(crate) fn release_binary() -> Result<PathBuf> {
    build_release(&mut release_build())
}

/// The same with the names of its functions.
pub(crate) fn release_binary_with_symbols() -> Result<PathBuf> {
    build_release(release_build().env("CARGO_PROFILE_RELEASE_STRIP", "none"))
}

fn release_build() -> Command {
    cargo(&["build", "--release", "--quiet", "--package", "flumen-cli"])
}

fn build_release(build: &mut Command) -> Result<PathBuf> {
    show(build)?;
    let flumen = format!("flumen{}", env::consts::EXE_SUFFIX);
    Ok(target_directory()?.join("release").join(flumen))
}

/// The directory that Cargo writes to.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let metadata = capture(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().ok_or("cargo names no target directory")?;
    Ok(PathBuf::from(target))
}

/// Where a program is on `PATH`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(&name)).find(|path| path.is_file())
}

fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let mut line = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", command.get_program().to_string_lossy())
}
