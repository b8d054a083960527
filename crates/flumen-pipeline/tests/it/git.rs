//! Kustomizations in Git repositories on this machine.

use std::{fs, path::Path, process::Command};

use flumen_testkit::skip;

use crate::{Project, config_map};

/// Runs `git`; false if there is none.
fn git(dir: &Path, arguments: &[&str]) -> bool {
    let output = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
        .args(["-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(dir)
        .output();
    match output {
        Err(_) => false,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "git {arguments:?}: {said}");
            true
        }
    }
}

fn commit(project: &Project, name: &str) -> bool {
    project.write("source/app/kustomization.yaml", "resources: [map.yaml]\n");
    project.write("source/app/map.yaml", &config_map(name));
    let source = project.path("source");
    git(&source, &["init", "--quiet"])
        && git(&source, &["add", "."])
        && git(&source, &["commit", "--quiet", "--message", name])
}

fn component(revision: &str) -> String {
    format!("kustomize.path = \"app\"\npublic_repo = {{repo = \"../source\"{revision}}}\n")
}

#[tokio::test]
async fn a_commit_is_built_not_the_work_tree() {
    let project = Project::with_component(&component(", branch = \"main\""));
    if !commit(&project, "committed") {
        return skip("components from Git repositories", "git is not installed");
    }
    project.write("source/app/map.yaml", &config_map("edited"));
    let artifact = project.build().await.expect("built");
    assert_eq!(crate::text(&project.pull(&artifact).await), config_map("committed"));
    assert!(artifact.revision.starts_with("main/"), "{}", artifact.revision);
    assert_eq!(artifact.source, project.path("source").display().to_string());
}

#[tokio::test]
async fn branches_tags_and_commits_are_told_apart() {
    let project = Project::new();
    if !commit(&project, "first") {
        return skip("components from Git repositories", "git is not installed");
    }
    let source = project.path("source");
    git(&source, &["tag", "v1"]);
    let first = fs::read_to_string(source.join(".git/refs/heads/main")).expect("a branch");
    commit(&project, "second");

    let by_commit = format!(", commit = \"{}\"", first.trim());
    for (revision, expected) in [
        ("", "second"),
        (", branch = \"main\"", "second"),
        (", tag = \"v1\"", "first"),
        (&by_commit, "first"),
    ] {
        project.set_component(&component(revision));
        assert_eq!(project.content().await, config_map(expected), "{revision}");
    }
    project.set_component(&component(", branch = \"v1\""));
    let ended = project.build().await.expect_err("v1 is no branch");
    assert!(ended.to_string().contains("v1"), "{ended}");
}

#[tokio::test]
async fn the_same_commit_is_not_built_twice() {
    let project = Project::with_component(&component(", branch = \"main\""));
    if !commit(&project, "first") {
        return skip("components from Git repositories", "git is not installed");
    }
    let first = project.build().await.expect("built");
    let again = project.build().await.expect("built");
    assert!(again.reused && again.digest == first.digest);
    commit(&project, "second");
    let moved = project.build().await.expect("built");
    assert!(!moved.reused);
    assert_eq!(crate::text(&project.pull(&moved).await), config_map("second"));
}
