//! How builds end.

use std::time::Duration;

use flumen_pipeline::job::{CancellationToken, Status};
use tokio::{net::TcpListener, time::Instant};

use crate::{Project, config_map};

#[tokio::test]
async fn acceptance_18_a_failing_step_is_followed_by_the_cleanup() {
    let project =
        Project::with_component("kustomize.path = \"app\"\npublic_repo.repo = \"../source\"\n");
    project.write("source/app/kustomization.yaml", "resources: [absent.yaml]\n");
    let ended = project.build().await.expect_err("a missing file");
    assert_eq!(ended.status(), Status::Failed);
    assert_eq!(project.workspaces(), 0);
    let heard = project.heard.take();
    let statuses: Vec<&str> = heard.iter().map(String::as_str).collect();
    assert_eq!(statuses[..2], ["initializing", "in-progress"]);
    assert_eq!(statuses[statuses.len() - 2..], ["cleaning-up", "failed"]);
}

/// A registry that takes connections and never answers.
async fn silent_registry() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, format!("oci_artifact.url = \"oci://{address}/app\"\n"))
}

#[tokio::test]
async fn acceptance_19_a_cancelled_build_stops_at_once() {
    let (listener, rest) = silent_registry().await;
    let project = Project::with_component(&rest);
    let (environment, component) = (project.environment(), project.component());
    let cancel = CancellationToken::new();
    let job = flumen_pipeline::build(
        &component,
        project.next_id(),
        &environment,
        &cancel,
        &project.heard,
    );
    let interrupt = async {
        // Once the build waits for an answer.
        let connection = listener.accept().await.expect("a connection");
        // From here on only waiting takes time.
        tokio::time::pause();
        cancel.cancel();
        (connection, Instant::now())
    };
    let (ended, (_connection, cancelled)) = Box::pin(async { tokio::join!(job, interrupt) }).await;
    assert!(cancelled.elapsed() < Duration::from_secs(2), "{:?}", cancelled.elapsed());
    assert_eq!(ended.expect_err("cancelled").status(), Status::Cancelled);
    assert_eq!(project.workspaces(), 0);
    assert_eq!(project.heard.take().last().map(String::as_str), Some("cancelled"));
}

#[tokio::test]
async fn acceptance_20_a_build_that_takes_too_long_is_timed_out() {
    let (_listener, rest) = silent_registry().await;
    let project = Project::with_component(&format!("build_timeout = \"2s\"\n{rest}"));
    let ended = project.build().await.expect_err("no answer");
    assert_eq!(ended.status(), Status::TimedOut);
    assert_eq!(ended.to_string(), "the job took longer than 2s");
    assert_eq!(project.workspaces(), 0);
}

#[tokio::test]
async fn builds_of_several_components_do_not_hinder_each_other() {
    let project = Project::with_component(&format!("manifest = '''{}'''\n", config_map("c")));
    let bad =
        "name = \"bad\"\ntype = \"kubernetes_manifest\"\nnamespace = \"a\"\nmanifest = \"a: b\"\n";
    project.write("components/bad.toml", bad);
    let loaded = flumen_pipeline::config::Components::load(&project.path("components"));
    let components = loaded.expect("components").components;
    let orders = components.values().map(|component| flumen_pipeline::BuildOrder {
        component,
        id: project.next_id(),
        observer: Box::<crate::Heard>::default(),
    });
    let (environment, cancel) = (project.environment(), CancellationToken::new());
    let results = flumen_pipeline::build_all(orders.collect(), &environment, &cancel).await;
    assert_eq!(results[0].as_ref().expect_err("bad").status(), Status::Failed);
    assert_eq!(results[1].as_ref().expect("c").component, "c");

    cancel.cancel();
    let orders = components.values().map(|component| flumen_pipeline::BuildOrder {
        component,
        id: project.next_id(),
        observer: Box::<crate::Heard>::default(),
    });
    let results = flumen_pipeline::build_all(orders.collect(), &environment, &cancel).await;
    assert!(results.iter().all(|result| {
        result.as_ref().is_err_and(|ended| ended.status() == Status::NotAttempted)
    }));
}
