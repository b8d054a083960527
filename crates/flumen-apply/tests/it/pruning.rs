//! What is gone from the source goes from the cluster, and nothing else.

use flumen_apply::{Error, Prune, Silent, delete};

use crate::fixture::{Fixture, config_map, summary};

fn many(count: usize) -> String {
    (0..count).map(|number| config_map(&format!("c{number:02}"), "1")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_30_dropped_objects_are_planned_and_pruned() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.prune = Prune::Guarded;
    fixture.applied(&many(3)).await;
    let planned = fixture.plan(&many(2)).await;
    let deleted: Vec<&str> = planned
        .objects
        .iter()
        .filter(|object| object.action == flumen_apply::Action::Deleted)
        .map(|object| object.id.name.as_str())
        .collect();
    assert_eq!(deleted, ["c02"]);
    let done = fixture.applied(&many(2)).await;
    assert_eq!(done, "ConfigMap/c00 unchanged, ConfigMap/c01 unchanged, ConfigMap/c02 deleted");
    assert_eq!(fixture.owned("configmaps"), "c00 c01");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_pruning_they_stay_and_a_later_run_finds_them() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.applied(&many(3)).await;
    fixture.applied(&many(1)).await;
    assert_eq!(fixture.owned("configmaps"), "c00 c01 c02");
    fixture.options.prune = Prune::Guarded;
    fixture.applied(&many(1)).await;
    assert_eq!(fixture.owned("configmaps"), "c00");
}

#[tokio::test(flavor = "multi_thread")]
async fn most_of_an_inventory_is_not_deleted_without_a_word() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.prune = Prune::Guarded;
    fixture.applied(&many(12)).await;
    for yaml in [many(5), String::new()] {
        let error = fixture.apply(&yaml).await.expect_err("guarded");
        assert!(matches!(error, Error::PruneGuarded { .. }), "{error}");
        assert_eq!(fixture.owned("configmaps").split(' ').count(), 12);
    }
    fixture.applied(&many(6)).await;
    fixture.options.prune = Prune::Unguarded;
    assert_eq!(fixture.apply("").await.expect("allowed").changes.len(), 6);
    assert_eq!(fixture.owned("configmaps"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_others_and_those_that_are_kept_survive() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.prune = Prune::Unguarded;
    fixture.applied(&many(4)).await;
    fixture.kubectl(&[
        "label",
        "configmap",
        "c01",
        "--overwrite",
        "inventory.kustomizer.dev/name=other",
    ]);
    fixture.kubectl(&["annotate", "configmap", "c02", "inventory.kustomizer.dev/prune=disabled"]);
    let done = fixture.applied(&many(1)).await;
    assert_eq!(
        done,
        "ConfigMap/c00 unchanged, ConfigMap/c03 deleted, ConfigMap/c02 skipped, ConfigMap/c01 skipped"
    );
    let left = fixture.kubectl(&["get", "configmaps", "-o", "jsonpath={.items[*].metadata.name}"]);
    assert_eq!(left, "c00 c01 c02 inv-app");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_34_deleting_takes_everything_back_also_what_is_gone() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.wait = true;
    fixture.applied(&many(3)).await;
    fixture.kubectl(&["delete", "configmap", "c01"]);
    let changes = delete(&fixture.client, &fixture.store(), &fixture.options, &Silent).await;
    let changes = changes.expect("deleted");
    assert_eq!(
        summary(&changes),
        "ConfigMap/c02 deleted, ConfigMap/c01 deleted, ConfigMap/c00 deleted"
    );
    let left = fixture.kubectl(&["get", "configmaps", "-o", "jsonpath={.items[*].metadata.name}"]);
    assert_eq!(left, "", "the inventory is gone, too");
}
