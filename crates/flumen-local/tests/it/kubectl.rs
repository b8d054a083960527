//! `kubectl` of the version that the server speaks for, over TLS, with the kubeconfig of an instance.

use flumen_testkit::kube_program;

use crate::session::{found, play};

#[track_caller]
fn check(session: &str) {
    let kubectl = found("kubectl", kube_program("kubectl"), "`cargo xtask kube` provides it");
    if let Some(kubectl) = kubectl {
        play(session, &[("kubectl", &kubectl)]);
    }
}

#[test]
fn reading() {
    check(include_str!("sessions/reading.txt"));
}

#[test]
fn discovery() {
    check(include_str!("sessions/discovery.txt"));
}

#[test]
fn applying() {
    check(include_str!("sessions/applying.txt"));
}

#[test]
fn changing() {
    check(include_str!("sessions/changing.txt"));
}

#[test]
fn creating() {
    check(include_str!("sessions/creating.txt"));
}

#[test]
fn access() {
    check(include_str!("sessions/access.txt"));
}

#[test]
fn nodes_and_containers() {
    check(include_str!("sessions/nodes.txt"));
}

#[test]
fn custom_resources() {
    check(include_str!("sessions/custom.txt"));
}
