//! Kustomizations in a directory.

use flumen_fs::DiskTree;
use flumen_kustomize::{Options, Session};
use flumen_pipeline::{
    BuildPlan, Error,
    job::{CancellationToken, Ended},
};

use crate::{Project, config_map};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - image: web:1
        name: web
";

/// A component that builds `source/app` with these further keys of `kustomize`.
fn component(keys: &str) -> String {
    format!("[kustomize]\npath = \"app\"\n{keys}[public_repo]\nrepo = \"../source\"\n")
}

fn project(keys: &str) -> Project {
    let project = Project::with_component(&component(keys));
    project.write(
        "source/app/kustomization.yaml",
        "namePrefix: p-\nresources: [web.yaml, map.yaml]\n",
    );
    project.write("source/app/web.yaml", DEPLOYMENT);
    project.write("source/app/map.yaml", &config_map("settings"));
    project
}

fn documents(text: &str) -> Vec<String> {
    let mut documents: Vec<String> = text.split("---\n").map(str::to_owned).collect();
    documents.sort();
    documents
}

#[tokio::test]
async fn acceptance_05_content_equals_kustomize_build() {
    let project = project("");
    let session = Session::new(std::sync::Arc::new(DiskTree));
    let built = session.build(&project.path("source/app"), &Options::default()).expect("built");
    let mut expected = Vec::new();
    for object in &built.objects {
        let mut text = Vec::new();
        flumen_yaml::emit(&object.node, &mut text).expect("printable");
        expected.push(String::from_utf8(text).expect("UTF-8"));
    }
    expected.sort();
    assert_eq!(documents(&project.content().await), expected);
}

#[tokio::test]
async fn acceptance_06_patches_of_three_forms_apply_in_order() {
    let project = project("patches = [\"1.yaml\", \"2.yaml\", \"3.yaml\"]\n");
    project.write(
        "source/1.yaml",
        "patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: p-web}\n    spec: {replicas: 2}\n",
    );
    project.write(
        "source/2.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: p-web, labels: {seen: '2'}}\nspec: {replicas: 3}\n",
    );
    project.write(
        "source/3.yaml",
        "target: {kind: Deployment, name: p-web}\npatch: |-\n  - {op: test, path: /spec/replicas, value: 3}\n  - {op: replace, path: /spec/replicas, value: 4}\n",
    );
    let content = project.content().await;
    assert!(content.contains("replicas: 4"), "{content}");
    assert!(content.contains("seen: \"2\""), "{content}");
}

#[tokio::test]
async fn acceptance_07_a_base_outside_the_root_needs_permission() {
    let project = project("");
    project.write("source/app/kustomization.yaml", "resources: [../shared/map.yaml]\n");
    project.write("source/shared/map.yaml", &config_map("shared"));
    let ended = project.build().await.expect_err("outside");
    assert!(ended.to_string().starts_with("kustomize build failed:"), "{ended}");
    assert!(ended.to_string().contains("shared/map.yaml"), "{ended}");

    project.set_component(&component("load_restrictor = \"none\"\n"));
    assert_eq!(project.content().await, config_map("shared"));
}

#[tokio::test]
async fn acceptance_08_charts_are_refused_with_a_hint() {
    let project = project("");
    project.write("source/app/kustomization.yaml", "helmCharts: [{name: web}]\n");
    let ended = project.build().await.expect_err("charts");
    let Ended::Failed(error) = ended else { panic!("{ended:?}") };
    assert!(error.to_string().starts_with("kustomize build failed:"), "{error}");
    assert!(error.hint().is_some(), "{error}");
}

#[tokio::test]
async fn acceptance_09_without_a_git_source_nothing_is_checked_out() {
    let project = project("");
    let (environment, component) = (project.environment(), project.component());
    let mut plan =
        BuildPlan::new(&component, project.next_id(), "", &environment.repos).expect("a plan");
    plan.git_source = None;
    let (timeout, cancel) = (component.build_timeout, CancellationToken::new());
    let built =
        flumen_pipeline::build_plan(plan, timeout, &environment, &cancel, &project.heard).await;
    let ended = built.expect_err("no source");
    assert_eq!(ended.to_string(), "the build plan has no git source");
    // It never came as far as a workspace.
    assert_eq!(project.heard.take(), ["initializing", "cleaning-up", "failed"]);
    assert!(!project.path("state/workspaces").exists());
}

#[tokio::test]
async fn connected_repositories_are_found_by_name() {
    let project = project("");
    project.set_component("kustomize.path = \"app\"\nconnected_repo.repo = \"platform\"\n");
    let ended = project.build().await.expect_err("nobody knows it");
    assert!(matches!(ended, Ended::Failed(Error::NotConnected { .. })), "{ended:?}");

    let mut environment = project.environment();
    let address = project.path("source").display().to_string();
    environment.repos.insert("platform".to_owned(), address);
    project.build_in(&environment).await.expect("built");
}

#[tokio::test]
async fn the_source_root_may_be_a_directory_further_down() {
    let project = Project::with_component(
        "kustomize.path = \"app\"\npublic_repo = {repo = \"..\", directory = \"deep/source\"}\n",
    );
    project.write("deep/source/app/kustomization.yaml", "resources: [map.yaml]\n");
    project.write("deep/source/app/map.yaml", &config_map("settings"));
    assert_eq!(project.content().await, config_map("settings"));

    project.set_component(
        "kustomize.path = \"app\"\npublic_repo = {repo = \"..\", directory = \"no\"}\n",
    );
    let ended = project.build().await.expect_err("no such directory");
    assert!(ended.to_string().starts_with("source root `no` does not exist"), "{ended}");
}

#[tokio::test]
async fn a_path_without_a_kustomization_is_named() {
    let project = project("");
    project.set_component("kustomize.path = \"other\"\npublic_repo.repo = \"../source\"\n");
    project.write("source/other/map.yaml", &config_map("settings"));
    let ended = project.build().await.expect_err("no kustomization");
    assert!(ended.to_string().contains("other"), "{ended}");
}
