//! What is gone from the source goes from the cluster, and nothing else.

use std::sync::Mutex;

use flumen_apply::{
    Entry, Error, Inventory, InventoryStore, Options, Owner, Prune, Recorded, Silent, apply,
    delete, plan,
};
use flumen_kube::{Client, ConnectOptions};
use flumen_object::{Gvk, ObjectId, ObjectSet};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

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

/// An inventory that is kept nowhere.
#[derive(Default)]
struct Kept(Mutex<Inventory>);

impl Kept {
    fn names(&self) -> Vec<String> {
        let inventory = self.0.lock().expect("a lock");
        inventory.entries().iter().map(|entry| entry.id.to_string()).collect()
    }
}

impl InventoryStore for Kept {
    async fn load(&self) -> Result<Recorded, Error> {
        let inventory = self.0.lock().expect("a lock").clone();
        Ok(Recorded { inventory, history: Vec::new() })
    }

    async fn commit(&self, recorded: &Recorded) -> Result<(), Error> {
        *self.0.lock().expect("a lock") = recorded.inventory.clone();
        Ok(())
    }

    async fn delete(&self) -> Result<(), Error> {
        *self.0.lock().expect("a lock") = Inventory::default();
        Ok(())
    }
}

/// A server with one API group, whose own server does not answer it. Tells where it is.
async fn server_with_a_group_that_is_down() -> String {
    const ANSWER: &str = r#"{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"down.example.com"},
        "versions":[{"version":"v1","freshness":"Stale"}]}]}"#;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                while stream.read_line(&mut line).await.is_ok_and(|length| length > 0) {
                    if line.trim().is_empty() {
                        let length = ANSWER.len();
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
                        let answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{ANSWER}");
                        stream.write_all(answer.as_bytes()).await.expect("it is sent");
                    }
                    line.clear();
                }
            });
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn what_nobody_can_tell_to_be_gone_is_kept_in_the_inventory() {
    let server = Some(server_with_a_group_that_is_down().await);
    let connect = ConnectOptions { server, ..ConnectOptions::default() };
    let client = Client::connect(&connect).await.expect("a client");
    let owner = Owner {
        manager: "kustomizer".to_owned(),
        group: "inventory.kustomizer.dev".to_owned(),
        name: "app".to_owned(),
        namespace: "apps".to_owned(),
    };
    let mut options = Options { prune: Prune::Unguarded, ..Options::new(owner) };
    let entry = |group: &str| {
        let gvk = Gvk::new(&format!("{group}/v1").into(), "Thing".into());
        let id = ObjectId { gvk, namespace: "apps".into(), name: "a".into() };
        Entry { id, seen: None }
    };
    for strict_kinds in [false, true] {
        options.strict_kinds = strict_kinds;
        let store = Kept::default();
        store.0.lock().expect("a lock").insert(entry("down.example.com"));
        let planned = plan(&client, ObjectSet::default(), &store, &options).await;
        assert_eq!(planned.expect("a plan").errors().len(), 1);
        let pruned = apply(&client, ObjectSet::default(), &store, &options, &Silent).await;
        let deleted = delete(&client, &store, &options, &Silent).await;
        for error in [pruned.expect_err("not pruned"), deleted.expect_err("not deleted")] {
            assert!(matches!(error, Error::PruneFailed(_)), "{error}");
            let expected =
                "Thing/apps/a query failed: the server behind the API group \"down.example.com\"";
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        assert_eq!(store.names(), ["Thing/apps/a"], "it is not forgotten");
    }
    // A kind that is certainly not there has no objects.
    options.strict_kinds = false;
    let store = Kept::default();
    store.0.lock().expect("a lock").insert(entry("gone.example.com"));
    delete(&client, &store, &options, &Silent).await.expect("nothing is there");
    assert!(store.names().is_empty());
}
