//! `flumen build --remote`: the switch. What it does is tested with the crate that fetches.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use flumen_testkit::GitServer;

use super::{Scratch, binary, config_map};

/// A kustomization `remote` that refers to a repository, and a `git` that leaves a trace.
fn scratch(server: &GitServer) -> Scratch {
    let repository = server.create_repository("org/app");
    repository.commit(&[
        ("deploy/kustomization.yaml", "resources: [map.yaml]\n"),
        ("deploy/map.yaml", &config_map("far")),
    ]);
    let scratch = Scratch::new();
    let base = server.url("org/app//deploy");
    scratch.write("remote/kustomization.yaml", &format!("resources: ['{base}']\n"));
    let trap = scratch.path().join("bin/git");
    scratch.write("bin/git", "#!/bin/sh\ntouch \"$HOME/started\"\n");
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).expect("permissions");
    scratch
}

#[test]
fn nothing_is_contacted_without_the_switch() {
    let Some(server) = GitServer::start("the switch of remote builds") else { return };
    let scratch = scratch(&server);
    scratch.check_refused(
        &["build", "remote"],
        1,
        &["is remote; a build contacts no network", "--remote", "FLUMEN_REMOTE=1"],
    );
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn the_switch_is_an_option_or_a_variable() {
    let Some(server) = GitServer::start("the switch of remote builds") else { return };
    let scratch = scratch(&server);
    let run = |arguments: &[&str], variable: &str| {
        let output = Command::new(binary())
            .args(arguments)
            .current_dir(scratch.path())
            .env("HOME", scratch.path())
            .env("PATH", scratch.path().join("bin"))
            .env("FLUMEN_REMOTE", variable)
            .output()
            .expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), errors)
    };
    let expected = config_map("far");
    for (arguments, variable) in
        [(&["build", "--remote", "remote"][..], ""), (&["build", "remote"], "1")]
    {
        let (status, printed, errors) = run(arguments, variable);
        assert_eq!((status, printed), (Some(0), expected.clone()), "{arguments:?}: {errors}");
    }
    assert_eq!(run(&["build", "remote"], "0").0, Some(1));
    let url = server.url("org/app//deploy");
    assert_eq!(run(&["build", "--remote", &url], "").1, expected);
    assert!(!scratch.path().join("started").exists(), "a program was started");
}
