//! What is filled in when a component is deployed, from one artifact for all installs.

use flumen_build::objects_from;
use flumen_pipeline::{
    Artifact,
    config::Component,
    install::Install,
    template::{render, render_namespace},
};

use crate::{Project, text};

const MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{.nuon.install.id}}-settings
data:
  replicas: \"{{ .install.inputs.replicas }}\"
";

fn with_installs(project: &Project) {
    project.write("installs/eu.toml", "inputs.replicas = 2\n");
    project.write("installs/us.toml", "inputs.replicas = 5\n");
}

/// Namespace, name and number of replicas, as one install gets them.
async fn deployed(project: &Project, artifact: &Artifact, install: &str) -> (String, String) {
    let component: Component = project.component();
    let install = Install::load(&project.path("installs"), install).expect("an install");
    let values = install.values();
    let namespace = render_namespace(&component.config.namespace, &values).expect("a namespace");
    let pulled = project.pull(artifact).await;
    let documents = render(&text(&pulled), &values).expect("rendered");
    let objects = objects_from(documents, "artifact").expect("objects");
    let object = objects.iter().next().expect("one object");
    let replicas = object.node.at(&["data", "replicas"]).and_then(|node| node.as_str());
    (namespace, format!("{} {}", object.id().name, replicas.unwrap_or_default()))
}

async fn check(project: &Project) {
    with_installs(project);
    let artifact = project.build().await.expect("built");
    let again = project.build().await.expect("built again");
    assert_eq!(artifact.digest, again.digest);
    let pair = |namespace: &str, rest: &str| (namespace.to_owned(), rest.to_owned());
    assert_eq!(deployed(project, &artifact, "eu").await, pair("app-eu", "eu-settings 2"));
    assert_eq!(deployed(project, &artifact, "us").await, pair("app-us", "us-settings 5"));
}

const COMMON: &str = "name = \"c\"\ntype = \"kubernetes_manifest\"\n\
                      namespace = \"app-{{.nuon.install.id}}\"\n";

#[tokio::test]
async fn acceptance_29_inline_text_is_filled_in_for_each_install() {
    let project = Project::new();
    project.write("components/c.toml", &format!("{COMMON}manifest = '''\n{MAP}'''\n"));
    check(&project).await;
}

#[tokio::test]
async fn acceptance_29_built_output_is_filled_in_for_each_install() {
    let project = Project::new();
    let source = "kustomize.path = \"app\"\npublic_repo.repo = \"../source\"\n";
    project.write("components/c.toml", &format!("{COMMON}{source}"));
    project.write("source/app/kustomization.yaml", "resources: [map.yaml]\n");
    let quoted = MAP.replace("{{.nuon.install.id}}-settings", "\"{{.nuon.install.id}}-settings\"");
    project.write("source/app/map.yaml", &quoted);
    check(&project).await;
}
