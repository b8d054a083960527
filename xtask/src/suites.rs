//! The suites of delivery, once more on a real Kubernetes.
//!
//! `cargo test` runs them on the embedded API server. Its programs are started again as they are: naming
//! packages to Cargo would choose other features of what they share, and build all of it anew.

use std::{env, path::PathBuf, process::Command};

use flumen_testkit::TEST_SERVER_VARIABLE;
use serde_json::Value;

use crate::{
    Result,
    process::{capture, cargo, show},
};

/// The name of every crate's integration tests.
const TARGET: &str = "it";

/// The crates whose integration tests need a cluster, and the modules that do. None means all.
const SUITES: [(&str, &[&str]); 5] = [
    ("flumen-kube", &[]),
    ("flumen-apply", &[]),
    ("flumen-pipeline", &["deploys::", "drift::", "teardown::"]),
    ("flumen-controller", &[]),
    ("flumen-cli", &["cluster::", "deploy::", "pages::"]),
];

/// The servers that tests run on: of all tests, and of the suites of delivery after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    Embedded,
    Real,
    Both,
}

impl Servers {
    /// What the environment asks for; both if it does not.
    pub(crate) fn chosen() -> Result<Self> {
        let name = env::var(TEST_SERVER_VARIABLE).unwrap_or_else(|_| "both".to_owned());
        Self::parse(&name)
    }

    fn parse(name: &str) -> Result<Self> {
        match name {
            "embedded" => Ok(Self::Embedded),
            "real" => Ok(Self::Real),
            "both" => Ok(Self::Both),
            other => Err(format!(
                "{TEST_SERVER_VARIABLE} is `{other}`, but must be `embedded`, `real` or `both`"
            )
            .into()),
        }
    }

    /// The one that all tests run on.
    pub(crate) const fn first(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Embedded | Self::Both => "embedded",
        }
    }
}

/// Runs all suites, also after one that failed. `prepare` tells them what the other tests were told.
pub(crate) fn run(prepare: impl Fn(&mut Command)) -> Result {
    let built = capture(&mut cargo(&[
        "test",
        "--workspace",
        "--no-run",
        "--quiet",
        "--message-format=json",
    ]))?;
    let mut failed = Vec::new();
    for (package, modules) in SUITES {
        let program = program(&built, package)
            .ok_or_else(|| format!("cargo built no integration tests of `{package}`"))?;
        let mut tests = Command::new(program.executable);
        tests.arg("--quiet").args(modules).current_dir(program.directory);
        tests.env(TEST_SERVER_VARIABLE, "real");
        prepare(&mut tests);
        if show(&mut tests).is_err() {
            failed.push(package);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join(", ").into()) }
}

struct Program {
    executable: PathBuf,
    /// Where Cargo starts it.
    directory: PathBuf,
}

/// Finds the integration tests of a package in what Cargo says of its artifacts, one JSON a line.
fn program(built: &str, package: &str) -> Option<Program> {
    built.lines().find_map(|line| {
        let artifact: Value = serde_json::from_str(line).ok()?;
        let is_tests = artifact["target"]["kind"][0] == "test";
        if !is_tests || artifact["target"]["name"] != TARGET {
            return None;
        }
        let manifest = PathBuf::from(artifact["manifest_path"].as_str()?);
        let directory = manifest.parent()?;
        let executable = PathBuf::from(artifact["executable"].as_str()?);
        directory
            .ends_with(package)
            .then(|| Program { executable, directory: directory.to_owned() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_choices_are_known() {
        for (name, first) in [("embedded", "embedded"), ("real", "real"), ("both", "embedded")] {
            assert_eq!(Servers::parse(name).expect("known").first(), first);
        }
        let why = Servers::parse("fake").expect_err("unknown").to_string();
        assert!(why.contains("`embedded`, `real` or `both`"), "{why}");
    }

    #[test]
    fn the_tests_of_a_package_are_found_among_the_artifacts() {
        let artifact = |package: &str, kind: &str, name: &str| {
            serde_json::json!({
                "reason": "compiler-artifact",
                "manifest_path": format!("/src/crates/{package}/Cargo.toml"),
                "target": { "kind": [kind], "name": name },
                "executable": format!("/target/{package}-{kind}-{name}"),
            })
            .to_string()
        };
        let built = [
            artifact("flumen-cli", "bin", "it"),
            artifact("flumen-cli", "test", "golden"),
            artifact("flumen-apply", "test", "it"),
            artifact("flumen-cli", "test", "it"),
            "not JSON".to_owned(),
        ];
        let found = program(&built.join("\n"), "flumen-cli").expect("it is there");
        assert_eq!(found.executable, PathBuf::from("/target/flumen-cli-test-it"));
        assert_eq!(found.directory, PathBuf::from("/src/crates/flumen-cli"));
        assert!(program(&built.join("\n"), "flumen-kube").is_none());
    }
}
