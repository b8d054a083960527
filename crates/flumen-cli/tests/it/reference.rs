//! The whole command line in one file, so that every change of it shows in review.

use std::{env, fmt::Write, fs, path::Path};

use crate::Scratch;

/// Set it to write the file anew.
const UPDATE: &str = "FLUMEN_UPDATE_REFERENCE";

#[test]
fn the_reference_is_up_to_date() {
    let scratch = Scratch::new();
    let mut reference = String::new();
    describe(&scratch, &[], &mut reference);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/reference.txt");
    if env::var_os(UPDATE).is_some() {
        fs::write(&file, &reference).expect("the reference is written");
    }
    let recorded = fs::read_to_string(&file).unwrap_or_default();
    if let Some(difference) = flumen_testkit::difference(recorded.as_bytes(), reference.as_bytes())
    {
        panic!("tests/it/reference.txt is stale, {UPDATE}=1 writes it anew:\n{difference}");
    }
}

/// Appends the help of a command and of all commands below it.
fn describe(scratch: &Scratch, command: &[&str], reference: &mut String) {
    let outcome = scratch.flumen(&[command, &["--help"]].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    let help = String::from_utf8_lossy(&outcome.stdout);
    let _ = writeln!(reference, "$ {} --help", [&["flumen"], command].concat().join(" "));
    for line in help.lines() {
        reference.push_str(line.trim_end());
        reference.push('\n');
    }
    reference.push('\n');
    let mut names = commands(&help);
    if command.is_empty() {
        // The order of the groups says nothing of where a command stands in this file.
        names.sort_unstable();
    }
    for name in names {
        describe(scratch, &[command, &[name]].concat(), reference);
    }
}

/// The names that a help lists below headings of commands.
fn commands(help: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_listed = false;
    for line in help.lines() {
        if line.ends_with("ommands:") {
            is_listed = true;
        } else if line.is_empty() {
            is_listed = false;
        } else if is_listed {
            names.extend(line.split_whitespace().next());
        }
    }
    names
}

#[test]
fn versions_have_four_forms() {
    let scratch = Scratch::new();
    let version = env!("CARGO_PKG_VERSION");
    scratch.check(&["version", "--output=short"], &format!("{version}\n"));
    scratch.check(&["--version"], &format!("flumen {version}\n"));
    for (format, first) in
        [("text", "flumen "), ("json", "{\n  \"version\": \""), ("yaml", "version: ")]
    {
        let outcome = scratch.flumen(&["version", "-o", format]);
        let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
        assert!(text.starts_with(&format!("{first}{version}")), "{text}");
        assert!(text.contains("v5.8.1"), "{text}");
    }
}

#[test]
fn every_shell_gets_a_script() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let outcome = scratch.flumen(&["completion", shell]);
        let script = String::from_utf8_lossy(&outcome.stdout);
        assert!(script.contains("load-restrictor"), "{shell}");
        // The script for PowerShell completes names of options only.
        assert!(shell == "powershell" || script.contains("LoadRestrictionsNone"), "{shell}");
    }
    scratch.check_refused(&["completion", "tcsh"], 2, &["bash, zsh, fish, powershell"]);
}
