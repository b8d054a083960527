//! The commands of the pages in `docs` run, in the order of the page.
//!
//! In blocks marked `console` every line is a command, `flumen` or `mkdir`; a comment tells when
//! its exit status is 1. They run in a copy of the quickstart example, against a registry of their own
//! that stands in for the one on the page, and against a real cluster where the page needs one.

use std::{fs, path::Path};

use flumen_testkit::{EmbeddedRegistry, KubeCluster, PATIENCE, repository_root, run};

use crate::copy_tree;

#[test]
fn the_commands_of_the_page_about_artifacts_run() {
    check("artifacts.md", None);
}

#[test]
fn the_commands_of_the_page_about_applying_run() {
    let Some(cluster) = KubeCluster::shared() else { return };
    check("apply.md", Some(&cluster.kubeconfig().display().to_string()));
}

fn check(page: &str, kubeconfig: Option<&str>) {
    let page = fs::read_to_string(repository_root().join("docs").join(page)).expect("the page");
    let registry = EmbeddedRegistry::start();
    let scratch = tempfile::tempdir().expect("a scratch directory");
    copy_tree(&repository_root().join("examples/quickstart"), scratch.path());
    let mut commands = 0;
    for line in console_lines(&page) {
        let (command, comment) = line.split_once('#').unwrap_or((line, ""));
        let words = words(command, registry.host(), kubeconfig);
        match (words[0].as_str(), &words[1..]) {
            ("flumen", arguments) => {
                let program = Path::new(env!("CARGO_BIN_EXE_flumen"));
                let outcome =
                    run(program, arguments, scratch.path(), PATIENCE).expect("the program starts");
                let expected = i32::from(comment.contains("exit status 1"));
                assert_eq!(outcome.status, Some(expected), "`{line}`:\n{}", outcome.stderr);
            }
            ("mkdir", [directory]) => {
                fs::create_dir(scratch.path().join(directory)).expect("created");
            }
            _ => panic!("the page may use `flumen` and `mkdir`, but this is `{line}`"),
        }
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

/// The words of a command, with the registry and the cluster of the test.
fn words(command: &str, host: &str, kubeconfig: Option<&str>) -> Vec<String> {
    let mut words: Vec<String> = command
        .split_whitespace()
        .map(|word| word.trim_matches('\'').replace("registry.example.com", host))
        .collect();
    let has = |sought: &[&str]| words.iter().any(|word| sought.contains(&word.as_str()));
    let names_inventory = has(&["--inventory", "inventory", "inventories", "history", "rollback"]);
    let reads_registry = words.iter().any(|word| word.starts_with("oci://")) || has(&["rollback"]);
    if let Some(kubeconfig) = kubeconfig.filter(|_| names_inventory) {
        words.extend(["--kubeconfig".to_owned(), kubeconfig.to_owned()]);
    }
    if reads_registry {
        words.push("--insecure-registry".to_owned());
    }
    words
}
