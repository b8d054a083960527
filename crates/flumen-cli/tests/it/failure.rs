//! Wrong input: status 1, an empty stdout, and a message that names the place.

use std::{
    fs,
    io::Read,
    os::unix::{ffi::OsStrExt, fs::symlink},
    process::{Command, Stdio},
};

use crate::{Scratch, binary, config_map};

#[test]
fn paths_that_cannot_be_built_are_wrong_input() {
    let scratch = Scratch::new();
    scratch.write("empty/other.yaml", "");
    scratch.check_refused(&["build", "nowhere"], 1, &["must build at directory", "nowhere"]);
    scratch.check_refused(&["build", ""], 1, &["path cannot be empty"]);
    scratch.check_refused(&["build", "a/map.yaml"], 1, &["a/map.yaml", "not directory"]);
    scratch.check_refused(&["build", "empty"], 1, &["unable to find one of 'kustomization.yaml'"]);
}

#[test]
fn addresses_are_refused_without_contacting_them() {
    let scratch = Scratch::new();
    for address in
        ["https://127.0.0.1:9/org/repo?ref=main", "git@127.0.0.1:org/repo", "ssh://127.0.0.1/r.git"]
    {
        scratch.check_refused(&["build", address], 1, &["remote"]);
    }
}

#[test]
fn one_wrong_path_silences_the_others() {
    let scratch = Scratch::new();
    scratch.check_refused(&["build", "a", "nowhere", "b"], 1, &["nowhere"]);
    scratch.check_refused(&["build", "a", "nowhere", "-o", "out.yaml"], 1, &["nowhere"]);
    assert!(!scratch.path().join("out.yaml").exists());
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let scratch = Scratch::new();
    scratch.write("c/kustomization.yaml", "resources: [broken.yaml]\n");
    scratch.write("c/broken.yaml", "apiVersion: v1\nkind: [ConfigMap\nmetadata: {}\n");
    let message = scratch.check_refused(&["build", "c"], 1, &["error: c/broken.yaml:"]);
    assert!(message.lines().any(|line| line.trim_end().ends_with('^')), "{message}");
}

#[test]
fn parents_are_those_of_the_shell_below_a_link() {
    let scratch = Scratch::new();
    symlink("a", scratch.path().join("link")).expect("link");
    fs::create_dir(scratch.path().join("a/inner")).expect("directory");
    symlink("../a/inner", scratch.path().join("b/inner")).expect("link");
    let inner = scratch.path().join("b/inner");
    let outcome = Command::new(binary())
        .args(["build", ".."])
        .current_dir(&inner)
        .env("PWD", &inner)
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), config_map("b"));
}

#[test]
fn paths_need_not_be_utf8() {
    let scratch = Scratch::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::rename(scratch.path().join("a"), scratch.path().join(name)).expect("renamed");
    let outcome = Command::new(binary())
        .arg("build")
        .arg(name)
        .current_dir(scratch.path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), config_map("a"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let scratch = Scratch::new();
    let big = format!("{}data:\n  x: {}\n", config_map("big"), "x".repeat(1 << 20));
    scratch.write("a/map.yaml", &big);
    let mut child = Command::new(binary())
        .args(["build", "a"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut first = [0; 10];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("some output");
    let outcome = child.wait_with_output().expect("it ends");
    assert!(outcome.status.success());
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), "");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure() {
    let scratch = Scratch::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let outcome = Command::new(binary())
        .args(["build", "a"])
        .current_dir(scratch.path())
        .stdout(full)
        .output()
        .expect("it runs");
    assert_eq!(outcome.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("cannot write the output"));
}
