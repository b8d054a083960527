//! Helm, the third and the fourth, from an installation to its end.

use flumen_testkit::{kube_program, tool};

use crate::session::{found, play};

const TOOLS: &str = "`cargo xtask tools` provides it";

/// `rollback` is how this version is told to take back what fails.
#[track_caller]
fn check(name: &str, rollback: &str) {
    let kubectl = found("kubectl", kube_program("kubectl"), "`cargo xtask kube` provides it");
    let (Some(helm), Some(kubectl)) = (found(name, tool(name), TOOLS), kubectl) else { return };
    let session = include_str!("sessions/helm.txt").replace("ROLLBACK", rollback);
    play(&session, &[("helm", &helm), ("kubectl", &kubectl)]);
}

#[test]
fn helm_3() {
    check("helm3", "--atomic");
}

#[test]
fn helm_4() {
    check("helm4", "--rollback-on-failure");
}
