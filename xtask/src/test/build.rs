//! Test programs, built and linted by one compilation.
//!
//! `cargo clippy` checks the workspace and all dependencies without making code, and `cargo test` then compiles
//! all of it again. The driver of clippy is a complete compiler: as the wrapper of rustc for the crates of the
//! workspace it lints what it compiles, and dependencies are compiled once.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::programs::Program;
use crate::{
    Result,
    process::{cargo, find, target_directory},
    progress::{Progress, say},
};

/// Everything that one build of the workspace's tests made.
#[derive(Debug, Default)]
pub(crate) struct Built {
    pub(crate) programs: Vec<Program>,
    /// The binary of the product.
    pub(crate) flumen: Option<PathBuf>,
    /// Examples, which generate files for the repository.
    examples: Vec<(String, PathBuf)>,
    /// Warnings of the compiler and of clippy, as they are shown.
    warnings: Vec<String>,
}

impl Built {
    pub(crate) fn example(&self, name: &str) -> Option<&Path> {
        self.examples.iter().find(|(own, _)| own == name).map(|(_, path)| path.as_path())
    }

    /// Fails if the compiler or clippy warned about anything.
    pub(crate) fn require_no_warnings(&self) -> Result {
        match self.warnings.len() {
            0 => Ok(()),
            count => {
                self.warnings.iter().for_each(|warning| say(warning.trim_end()));
                Err(format!("{count} warnings").into())
            }
        }
    }

    /// Takes over one message of Cargo.
    fn add(&mut self, message: &Value) {
        match message["reason"].as_str() {
            Some("compiler-message") => {
                let is_warning = message["message"]["level"] == "warning";
                if let (true, Some(text)) = (is_warning, message["message"]["rendered"].as_str()) {
                    self.warnings.push(text.to_owned());
                } else if let Some(text) = message["message"]["rendered"].as_str() {
                    say(text.trim_end());
                }
            }
            Some("compiler-artifact") => self.add_artifact(message),
            _ => {}
        }
    }

    fn add_artifact(&mut self, artifact: &Value) {
        let Some(executable) = artifact["executable"].as_str().map(PathBuf::from) else { return };
        let name = artifact["target"]["name"].as_str().unwrap_or_default();
        let kind = artifact["target"]["kind"][0].as_str().unwrap_or_default();
        if artifact["profile"]["test"] == true {
            let manifest = Path::new(artifact["manifest_path"].as_str().unwrap_or_default());
            let directory = manifest.parent().unwrap_or(manifest).to_owned();
            self.programs.push(Program::new(directory, name, executable));
        } else if kind == "example" {
            self.examples.push((name.to_owned(), executable));
        } else if kind == "bin" && name == "flumen" {
            self.flumen = Some(executable);
        }
    }
}

/// Builds and lints all tests, examples and binaries of the workspace.
pub(crate) fn build(progress: &Progress) -> Result<Built> {
    let built = compile(&["--workspace", "--timings"]);
    let page = target_directory()?.join("cargo-timings").join("cargo-timing.html");
    if let Ok(page) = fs::read_to_string(page) {
        progress.add_times(|times| times.add_crates(&page));
    }
    built
}

/// The same for some packages.
pub(crate) fn build_packages(names: &[String]) -> Result<Built> {
    let arguments: Vec<&str> = names.iter().flat_map(|name| ["--package", name]).collect();
    compile(&arguments)
}

fn compile(selection: &[&str]) -> Result<Built> {
    let mut command = cargo(&["test", "--no-run", "--quiet", "--message-format=json"]);
    lint(&mut command)?;
    let output = command.args(selection).stderr(Stdio::inherit()).output()?;
    let mut built = Built::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Ok(message) = serde_json::from_str(line) {
            built.add(&message);
        }
    }
    if !output.status.success() {
        return Err(format!("`cargo test --no-run` ended with {}", output.status).into());
    }
    Ok(built)
}

/// Makes Cargo compile the workspace's crates with the driver of clippy.
fn lint(command: &mut Command) -> Result {
    let beside_cargo = env::var_os("CARGO")
        .map(|cargo| {
            Path::new(&cargo).with_file_name(format!("clippy-driver{}", env::consts::EXE_SUFFIX))
        })
        .filter(|driver| driver.is_file());
    let driver = beside_cargo
        .or_else(|| find("clippy-driver"))
        .ok_or("clippy is not installed; `rustup component add clippy` provides it")?;
    command.env("RUSTC_WORKSPACE_WRAPPER", driver);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_of_cargo_become_programs_examples_and_warnings() {
        let artifact = |package: &str, kind: &str, name: &str, test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": format!("/src/crates/{package}/Cargo.toml"),
                "target": { "kind": [kind], "name": name },
                "profile": { "test": test },
                "executable": format!("/target/{package}-{kind}-{name}"),
            })
        };
        let library = json!({ "reason": "compiler-artifact", "executable": null });
        let message = |level: &str| {
            json!({ "reason": "compiler-message",
                "message": { "level": level, "rendered": format!("{level}: unused\n") } })
        };
        let mut built = Built::default();
        for message in [
            artifact("flumen-cli", "bin", "flumen", false),
            artifact("flumen-api", "example", "definitions", false),
            artifact("flumen-apply", "test", "it", true),
            artifact("flumen-yaml", "lib", "flumen_yaml", true),
            library,
            message("warning"),
            json!({ "reason": "build-finished" }),
        ] {
            built.add(&message);
        }
        let titles: Vec<&str> = built.programs.iter().map(Program::title).collect();
        assert_eq!(titles, ["flumen-apply it", "flumen-yaml"]);
        assert!(built.example("definitions").is_some() && built.example("schema").is_none());
        assert!(built.flumen.is_some());
        assert_eq!(built.require_no_warnings().expect_err("a warning").to_string(), "1 warnings");
        assert!(Built::default().require_no_warnings().is_ok());
    }
}
