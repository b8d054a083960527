//! `cargo xtask bench`: the release build against the reference, on generated workloads.
//!
//! The workloads and the timing program are in `../shared/bench`. CPU time is compared, because it
//! depends least on what else the machine does. Further arguments go to the timing program.

use std::{path::Path, process::Command};

use flumen_testkit::shared_dir;

use crate::{
    Result, golden,
    process::{release_binary, show},
    progress::say,
};

pub(crate) fn run(arguments: &[String]) -> Result {
    let Some(shared) = shared_dir() else {
        return Err(
            "the workloads are in `../shared/bench`, which is not beside the checkout".into()
        );
    };
    let bench = shared.join("bench");
    let kustomize = golden::reference()?;
    let binary = release_binary()?;
    let workloads = tempfile::Builder::new().prefix("flumen-bench-").tempdir()?;
    say("==> workloads");
    show(Command::new(bench.join("gen-workloads")).arg(workloads.path()))?;
    say("==> comparison");
    show(
        Command::new(bench.join("compare"))
            .args(["--ours", &build_with(&binary), "--ours-batch", &build_with(&binary)])
            .args(["--peer", &build_with(&kustomize), "--figure", "cpu"])
            .arg("--workloads")
            .arg(workloads.path())
            .args(arguments),
    )
}

fn build_with(program: &Path) -> String {
    format!("{} build", program.display())
}
