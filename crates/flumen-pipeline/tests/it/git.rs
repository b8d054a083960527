//! Kustomizations in Git repositories: on this machine, over HTTP, and as bases of others.

use flumen_pipeline::{Remote, job::Status};
use flumen_testkit::{GitRepository, GitServer};

use crate::{Project, config_map, text};

const KUSTOMIZATION: (&str, &str) = ("app/kustomization.yaml", "resources: [map.yaml]\n");

fn start() -> Option<GitServer> {
    GitServer::start("components from Git repositories")
}

/// Commits a kustomization with one config map; the commit.
fn commit(repository: &GitRepository, name: &str) -> String {
    repository.commit(&[KUSTOMIZATION, ("app/map.yaml", &config_map(name))])
}

fn component(repo: &str, revision: &str) -> String {
    format!("kustomize.path = \"app\"\npublic_repo = {{repo = \"{repo}\"{revision}}}\n")
}

#[tokio::test]
async fn a_commit_is_built_not_the_work_tree() {
    let Some(server) = start() else { return };
    let repository = server.create_repository("app.git");
    let id = commit(&repository, "committed");
    std::fs::write(repository.path().join("app/map.yaml"), config_map("edited")).expect("file");
    let address = repository.path().display().to_string();
    let project = Project::with_component(&component(&address, ", branch = \"main\""));
    let artifact = project.build().await.expect("built");
    assert_eq!(text(&project.pull(&artifact).await), config_map("committed"));
    assert_eq!(artifact.revision, format!("main/{id}"));
    assert_eq!(artifact.source, address);
    // Nothing was cloned: nobody asked the server.
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[tokio::test]
async fn branches_tags_and_commits_are_told_apart() {
    let Some(server) = start() else { return };
    let repository = server.create_repository("app.git");
    let first = commit(&repository, "first");
    repository.git(&["tag", "v1"]);
    commit(&repository, "second");

    let project = Project::new();
    let by_commit = format!(", commit = \"{first}\"");
    for address in [server.url("app.git"), repository.path().display().to_string()] {
        for (revision, expected) in [
            ("", "second"),
            (", branch = \"main\"", "second"),
            (", tag = \"v1\"", "first"),
            (by_commit.as_str(), "first"),
        ] {
            project.set_component(&component(&address, revision));
            assert_eq!(project.content().await, config_map(expected), "{address}{revision}");
        }
        project.set_component(&component(&address, ", branch = \"v1\""));
        let ended = project.build().await.expect_err("v1 is no branch");
        assert!(ended.to_string().contains("v1"), "{ended}");
    }
}

#[tokio::test]
async fn an_unchanged_branch_is_neither_fetched_nor_built_again() {
    let Some(server) = start() else { return };
    let repository = server.create_repository("app.git");
    commit(&repository, "first");
    let project = Project::with_component(&component(&server.url("app.git"), ""));
    let first = project.build().await.expect("built");
    assert_eq!(project.workspaces(), 0);
    let fetches = |server: &GitServer| {
        let requests = server.requests();
        requests.iter().filter(|request| request.starts_with("POST")).count()
    };
    project.heard.take();

    let again = project.build().await.expect("built");
    assert!(again.reused && again.digest == first.digest);
    assert_eq!(again.revision, first.revision);
    let heard = project.heard.take().join("\n");
    assert!(!heard.contains("built 1 objects"), "{heard}");

    let before = fetches(&server);
    commit(&repository, "second");
    let moved = project.build().await.expect("built");
    assert!(!moved.reused && fetches(&server) > before);
    assert_eq!(text(&project.pull(&moved).await), config_map("second"));
}

#[tokio::test]
async fn a_remote_base_needs_permission_and_counts_by_its_commit() {
    let Some(server) = start() else { return };
    let repository = server.create_repository("base.git");
    commit(&repository, "first");
    let project = Project::with_component(&component("../source", ""));
    let base = format!("resources: [\"{}//app?ref=main\"]\n", server.url("base.git"));
    project.write("source/app/kustomization.yaml", &base);
    let ended = project.build().await.expect_err("remote");
    assert!(ended.to_string().starts_with("kustomize build failed:"), "{ended}");

    let mut environment = project.environment();
    environment.remote = Remote::Fetch;
    let first = project.build_in(&environment).await.expect("built");
    assert_eq!(text(&project.pull(&first).await), config_map("first"));
    assert!(project.build_in(&environment).await.expect("built").reused);

    // Nothing changes in the directory of the component.
    commit(&repository, "second");
    let moved = project.build_in(&environment).await.expect("built");
    assert!(!moved.reused);
    assert_eq!(text(&project.pull(&moved).await), config_map("second"));
}

#[tokio::test]
async fn passwords_in_addresses_stay_hidden() {
    let Some(server) = start() else { return };
    let repository = server.create_repository("app.git");
    commit(&repository, "private");
    let address = server.url_as("me:secret", "private/app.git");
    let project = Project::with_component(&component(&address, ""));
    let artifact = project.build().await.expect("built");
    let told = format!("{artifact:?} {:?}", project.heard.take());
    assert!(!told.contains("secret"), "{told}");

    let wrong = server.url_as("me:wr0ng", "private/app.git");
    project.set_component(&component(&wrong, ""));
    let ended = project.build().await.expect_err("refused");
    assert!(!format!("{ended} {ended:?}").contains("wr0ng"), "{ended:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_costs_the_time_of_the_build() {
    let Some(server) = start() else { return };
    let address = server.url("stalled/app.git");
    let rest = format!("build_timeout = \"2s\"\n{}", component(&address, ""));
    let project = Project::with_component(&rest);
    let ended = project.build().await.expect_err("no answer");
    assert_eq!(ended.status(), Status::TimedOut);
    assert_eq!(project.workspaces(), 0);
}
