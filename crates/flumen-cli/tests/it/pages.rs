//! The commands of `docs/artifacts.md` run, in the order of the page.
//!
//! In its blocks marked `console` every line is a command. They run in a copy of the quickstart
//! example, against a registry of their own that stands in for the one on the page.

use std::{fs, path::Path, time::Duration};

use flumen_testkit::{EmbeddedRegistry, repository_root, run};

#[test]
fn the_commands_of_the_page_about_artifacts_run() {
    let page = fs::read_to_string(repository_root().join("docs/artifacts.md")).expect("the page");
    let registry = EmbeddedRegistry::start();
    let scratch = tempfile::tempdir().expect("a scratch directory");
    copy_tree(&repository_root().join("examples/quickstart"), scratch.path());
    let mut commands = 0;
    for line in console_lines(&page) {
        let arguments = arguments(line, registry.host());
        let program = Path::new(env!("CARGO_BIN_EXE_flumen"));
        let outcome = run(program, &arguments, scratch.path(), Duration::from_secs(60))
            .expect("the program starts");
        assert!(outcome.succeeded(), "`{line}` fails:\n{}", outcome.stderr);
        commands += 1;
    }
    assert!(commands > 10, "the page shows commands");
}

fn console_lines(page: &str) -> Vec<&str> {
    let mut in_console = false;
    page.lines()
        .filter(|line| {
            if line.starts_with("```") {
                in_console = *line == "```console";
                return false;
            }
            in_console
        })
        .collect()
}

/// What stands behind `flumen`, with the registry of the test and the flag for plain HTTP.
fn arguments(line: &str, host: &str) -> Vec<String> {
    let command = line.split(" # ").next().unwrap_or(line);
    let mut arguments: Vec<String> = command
        .split_whitespace()
        .map(|word| word.trim_matches('\'').replace("registry.example.com", host))
        .collect();
    assert_eq!(arguments.remove(0), "flumen", "the page may only use `flumen`: {line}");
    if arguments.iter().any(|argument| argument.contains(host)) {
        arguments.push("--insecure-registry".to_owned());
    }
    arguments
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).expect("created");
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}
