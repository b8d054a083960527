//! Standard error: warnings, colours, and nothing that a terminal would obey.

use crate::{Scratch, config_map};

#[test]
fn warnings_leave_stdout_alone() {
    let scratch = Scratch::new();
    scratch.write("c/kustomization.yaml", "bases: [../a]\n");
    let outcome = scratch.flumen(&["build", "c"]);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), config_map("a"));
    assert!(outcome.stderr.starts_with("warning: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("bases"), "{}", outcome.stderr);
}

#[test]
fn the_same_warning_is_printed_once() {
    let scratch = Scratch::new();
    let outcome = scratch.flumen(&["build", "a", "b", "--reorder", "none"]);
    assert_eq!(outcome.stderr.matches("--reorder").count(), 1, "{}", outcome.stderr);
}

#[test]
fn arguments_are_quoted_without_their_controls() {
    let scratch = Scratch::new();
    for (args, status) in [
        (["build", "x\x1b[2J\x1b]0;owned\x07\u{202e}"], 1),
        (["build", "--x\x1b[2J\x07\u{202e}"], 2),
        (["x\x1b]0;owned\x07", "build"], 2),
    ] {
        let outcome = scratch.flumen(&args);
        assert_eq!(outcome.status, Some(status), "{}", outcome.stderr);
        let raw =
            outcome.stderr.chars().find(|&c| c != '\n' && (c.is_control() || c == '\u{202e}'));
        assert_eq!(raw, None, "{}", outcome.stderr);
    }
}

#[test]
fn long_arguments_give_short_messages() {
    let scratch = Scratch::new();
    let long = "x".repeat(100_000);
    for args in [["build", long.as_str()], ["build", &format!("--{long}")]] {
        let outcome = scratch.flumen(&args);
        assert!(outcome.stderr.len() < 16 << 10, "{} bytes", outcome.stderr.len());
    }
}

#[test]
fn a_pipe_gets_no_colours() {
    let scratch = Scratch::new();
    assert!(!scratch.flumen(&["build", "nowhere"]).stderr.contains('\x1b'));
    assert!(!String::from_utf8_lossy(&scratch.flumen(&["--help"]).stdout).contains('\x1b'));
}
