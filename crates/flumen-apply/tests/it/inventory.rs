//! Inventories on the cluster.

use flumen_apply::{Deployment, Entry, Error, Inventory, InventoryStore, Recorded};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Text;

use crate::fixture::{Fixture, config_map};

fn inventory(count: usize) -> Inventory {
    let entry = |number: usize| Entry {
        id: ObjectId {
            gvk: Gvk::new(&Text::literal("apps/v1"), Text::literal("Deployment")),
            namespace: Text::from("a-namespace-with-a-long-name"),
            name: Text::from(format!("deployment-with-a-long-name-{number:05}")),
        },
        seen: None,
    };
    (0..count).map(entry).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_objects_take_several_parts() {
    let Some(fixture) = Fixture::new().await else { return };
    let store = fixture.store();
    store.load().await.expect("empty");
    let large = Recorded { inventory: inventory(10_000), history: Vec::new() };
    store.commit(&large).await.expect("saved");
    let parts = fixture.kubectl(&["get", "cm", "-o", "jsonpath={.items[*].metadata.name}"]);
    assert!(parts.starts_with("inv-app inv-app-1"), "{parts}");
    let again = fixture.store();
    assert_eq!(again.load().await.expect("loaded").inventory, large.inventory);

    let small = Recorded { inventory: inventory(3), history: Vec::new() };
    again.commit(&small).await.expect("saved");
    let parts = fixture.kubectl(&["get", "cm", "-o", "jsonpath={.items[*].metadata.name}"]);
    assert_eq!(parts, "inv-app", "parts that are not needed are gone");
    assert_eq!(fixture.store().load().await.expect("loaded").inventory, small.inventory);
    again.delete().await.expect("deleted");
    assert!(fixture.store().load().await.expect("loaded").inventory.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_writers_do_not_overwrite_each_other() {
    let Some(fixture) = Fixture::new().await else { return };
    let (first, second) = (fixture.store(), fixture.store());
    first.load().await.expect("empty");
    second.load().await.expect("empty");
    let recorded = Recorded { inventory: inventory(1), history: Vec::new() };
    first.commit(&recorded).await.expect("saved");
    let error = second.commit(&recorded).await.expect_err("it exists by now");
    assert!(matches!(error, Error::InventoryChanged { .. }), "{error}");
    second.load().await.expect("loaded");
    let more = Recorded { inventory: inventory(2), history: Vec::new() };
    second.commit(&more).await.expect("saved");
    let error = first.commit(&recorded).await.expect_err("it has changed");
    assert!(matches!(error, Error::InventoryChanged { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn inventories_of_kustomizer_go_on() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.prune = flumen_apply::Prune::Guarded;
    let namespace = &fixture.namespace;
    let labels = format!(
        "labels: {{inventory.kustomizer.dev/name: app, inventory.kustomizer.dev/namespace: {namespace}}}"
    );
    fixture.kubectl_apply(&format!(
        "
apiVersion: v1
kind: ConfigMap
metadata: {{name: old, {labels}}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: inv-app
  labels:
    app.kubernetes.io/name: app
    app.kubernetes.io/component: inventory
    app.kubernetes.io/created-by: kustomizer
data:
  resources: '[{{\"id\":\"{namespace}_old__ConfigMap\",\"ver\":\"v1\"}}]'
"
    ));
    let done = fixture.applied(&config_map("new", "1")).await;
    assert_eq!(done, "ConfigMap/new created, ConfigMap/old deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn deployments_are_remembered_and_quiet_runs_are_not() {
    let Some(mut fixture) = Fixture::new().await else { return };
    for (artifact, value) in [("a", "1"), ("b", "2"), ("b", "2"), ("a", "1")] {
        fixture.options.deployment =
            Some(Deployment { artifact: artifact.to_owned(), ..Deployment::default() });
        fixture.applied(&config_map("c", value)).await;
    }
    let history = fixture.store().load().await.expect("loaded").history;
    let shown: Vec<(u64, &str)> =
        history.iter().map(|one| (one.number, one.artifact.as_str())).collect();
    assert_eq!(shown, [(3, "a"), (2, "b"), (1, "a")]);
}
