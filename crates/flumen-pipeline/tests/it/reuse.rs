//! Equal inputs are not built twice.

use std::fs;

use flumen_oci::Target;
use flumen_pipeline::Caching;

use crate::{Project, TestRegistry, config_map};

fn project() -> Project {
    let project =
        Project::with_component("kustomize.path = \"app\"\npublic_repo.repo = \"../source\"\n");
    project.write("source/app/kustomization.yaml", "resources: [map.yaml]\n");
    project.write("source/app/map.yaml", &config_map("settings"));
    project.write("source/app/unused.yaml", "not read\n");
    project
}

#[tokio::test]
async fn a_second_build_tags_the_first_artifact() {
    let project = project();
    let first = project.build().await.expect("built");
    assert!(!first.reused);
    project.heard.take();
    // What the build does not read does not matter.
    project.write("source/app/unused.yaml", "changed\n");

    let second = project.build().await.expect("built");
    assert!(second.reused);
    assert_eq!(second.digest, first.digest);
    assert_ne!(second.tag, first.tag);
    let heard = project.heard.take().join("\n");
    assert!(heard.contains("inputs have not changed"), "{heard}");
    assert!(!heard.contains("built 1 objects"), "{heard}");
    assert_eq!(*project.pull(&second).await.manifest.digest(), first.digest);
}

#[tokio::test]
async fn whatever_a_build_reads_counts() {
    let project = project();
    project.build().await.expect("built");
    for (path, content) in [
        ("source/app/map.yaml", config_map("other").as_str()),
        ("source/app/kustomization.yaml", "namePrefix: a-\nresources: [map.yaml]\n"),
    ] {
        project.write(path, content);
        assert!(!project.build().await.expect("built").reused, "{path}");
        assert!(project.build().await.expect("built").reused, "{path}");
    }
    // This file was looked for and not there; now the directory is ambiguous.
    project.write("source/app/kustomization.yml", "resources: []\n");
    project.build().await.expect_err("two kustomization files");
}

#[tokio::test]
async fn options_and_patches_count() {
    let project = project();
    project.build().await.expect("built");
    project.write("source/patch.yaml", "commonLabels: {a: b}\npatches: [{patch: 'apiVersion: v1\n\n    kind: ConfigMap\n\n    metadata: {name: settings}\n\n    data: {x: y}'}]\n");
    project.set_component(
        "kustomize = {path = \"app\", patches = [\"patch.yaml\"]}\npublic_repo.repo = \"../source\"\n",
    );
    let patched = project.build().await.expect("built");
    assert!(!patched.reused);
    assert!(project.build().await.expect("built").reused);
}

#[tokio::test]
async fn a_build_can_be_forced() {
    let project = project();
    let first = project.build().await.expect("built");
    let mut environment = project.environment();
    environment.caching = Caching::BuildAlways;
    let forced = project.build_in(&environment).await.expect("built");
    assert!(!forced.reused);
    assert_ne!(forced.digest, first.digest, "the time of the build is in the manifest");
}

#[tokio::test]
async fn a_broken_cache_means_a_build() {
    let project = project();
    project.build().await.expect("built");
    for entry in fs::read_dir(project.path("state/cache")).expect("entries") {
        fs::write(entry.expect("entry").path(), "{\"digest\": 1").expect("broken");
    }
    assert!(!project.build().await.expect("built").reused);
}

#[tokio::test]
async fn an_artifact_is_only_reused_where_it_is() {
    let project = project();
    project.build().await.expect("built");
    let registry = TestRegistry::start().await;
    let mut environment = project.environment();
    environment.destination = registry.destination("org/app");
    let pushed = project.build_in(&environment).await.expect("built");
    assert!(!pushed.reused);
    let again = project.build_in(&environment).await.expect("built");
    assert!(again.reused);
    let found = registry.repository("org/app").resolve(&Target::Tag(again.tag)).await;
    assert_eq!(found.expect("tagged").digest, pushed.digest);
}
