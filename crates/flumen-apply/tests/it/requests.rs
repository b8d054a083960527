//! What a run costs.

use flumen_testkit::KubeRequest;

use crate::fixture::{Fixture, config_map};

fn many(count: usize) -> String {
    (0..count).map(|number| config_map(&format!("c{number:03}"), "1")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_run_asks_twice_for_each_object() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.applied(&many(50)).await;
    let applies = |dry: bool| {
        fixture.proxy.count(|request| request.verb() == "apply" && request.is_dry_run() == dry)
    };
    assert_eq!((applies(true), applies(false)), (50, 50));
    // Discovery, the inventory's read and its two writes.
    assert!(fixture.proxy.requests().len() <= 100 + 2 + 3, "{}", fixture.proxy.requests().len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_run_asks_once_for_each_kind() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.applied(&many(50)).await;
    let again = Fixture::over(&fixture).await;
    again.applied(&many(50)).await;
    let verbs: Vec<String> = again
        .proxy
        .requests()
        .iter()
        .map(|request| format!("{} {}", request.verb(), request.resource().unwrap_or_default()))
        .collect();
    assert_eq!(verbs, ["list configmaps", "get ", "get ", "list configmaps"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_change_costs_one_dry_run_and_one_apply() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.applied(&many(50)).await;
    fixture.proxy.forget();
    let changed =
        many(50).replace("name: c007}\ndata: {key: \"1\"}", "name: c007}\ndata: {key: \"2\"}");
    fixture.applied(&changed).await;
    assert_eq!(fixture.proxy.count(|request| request.verb() == "apply"), 2);
    // The commit; nothing new appears, so nothing is written ahead.
    assert_eq!(fixture.proxy.count(KubeRequest::is_write), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_seen_although_the_manifest_is_the_same() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.applied(&many(3)).await;
    let edit = r#"{"data":{"key":"edited"}}"#;
    fixture.kubectl(&["patch", "cm", "c001", "--type=merge", "-p", edit]);
    let done = fixture.applied(&many(3)).await;
    assert_eq!(
        done,
        "ConfigMap/c000 unchanged, ConfigMap/c002 unchanged, ConfigMap/c001 configured"
    );
}
