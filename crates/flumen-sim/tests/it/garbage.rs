//! Objects go with their owners.

use flumen_apiserver::Media;
use flumen_sim::Controllers;
use serde_json::{Value, json};

use crate::bench::{Bench, CONFIG_MAPS, owner};

async fn bench() -> Bench {
    Bench::start(Controllers::Core).await
}

fn is_ending(object: Option<&Value>) -> bool {
    object.is_some_and(|object| object.pointer("/metadata/deletionTimestamp").is_some())
}

async fn release(bench: &Bench, name: &str) {
    let patch = json!({"metadata": {"finalizers": null}});
    let change = (Media::MergePatch, &patch);
    bench.client.patch(CONFIG_MAPS, ("default", name), "", change).await.expect("patched");
}

#[tokio::test]
async fn dependents_go_after_their_owner_however_it_is_deleted() {
    let bench = bench().await;
    for how in ["Background", "Foreground"] {
        let above = bench.config_map("owner", json!({})).await;
        let mut reference = owner(&above);
        reference["blockOwnerDeletion"] = true.into();
        bench.config_map("dependent", json!({"ownerReferences": [reference]})).await;
        bench.delete(CONFIG_MAPS, "default", "owner", how).await;
        bench.until_gone(CONFIG_MAPS, "default", "dependent").await;
        bench.until_gone(CONFIG_MAPS, "default", "owner").await;
    }
}

#[tokio::test]
async fn an_owner_in_the_foreground_waits_for_dependents_that_block_it() {
    let bench = bench().await;
    let above = bench.config_map("owner", json!({})).await;
    let mut reference = owner(&above);
    reference["blockOwnerDeletion"] = true.into();
    let metadata = json!({"ownerReferences": [reference], "finalizers": ["example.com/hold"]});
    bench.config_map("dependent", metadata).await;
    bench.delete(CONFIG_MAPS, "default", "owner", "Foreground").await;
    bench.until(CONFIG_MAPS, "default", "dependent", is_ending).await;
    assert!(is_ending(bench.get(CONFIG_MAPS, "default", "owner").await.as_ref()));
    release(&bench, "dependent").await;
    bench.until_gone(CONFIG_MAPS, "default", "owner").await;
}

#[tokio::test]
async fn an_owner_in_the_foreground_does_not_wait_for_others() {
    let bench = bench().await;
    let above = bench.config_map("owner", json!({})).await;
    let metadata = json!({"ownerReferences": [owner(&above)], "finalizers": ["example.com/hold"]});
    bench.config_map("dependent", metadata).await;
    bench.delete(CONFIG_MAPS, "default", "owner", "Foreground").await;
    bench.until_gone(CONFIG_MAPS, "default", "owner").await;
    bench.until(CONFIG_MAPS, "default", "dependent", is_ending).await;
}

#[tokio::test]
async fn orphans_stay_and_forget_their_owner() {
    let bench = bench().await;
    let above = bench.config_map("owner", json!({})).await;
    bench.config_map("dependent", json!({"ownerReferences": [owner(&above)]})).await;
    bench.delete(CONFIG_MAPS, "default", "owner", "Orphan").await;
    bench.until_gone(CONFIG_MAPS, "default", "owner").await;
    let left = bench.get(CONFIG_MAPS, "default", "dependent").await.expect("an orphan");
    assert_eq!(left.pointer("/metadata/ownerReferences"), None);
}

#[tokio::test]
async fn an_object_stays_until_its_last_owner_is_gone() {
    let bench = bench().await;
    let first = bench.config_map("first", json!({})).await;
    let second = bench.config_map("second", json!({})).await;
    let metadata = json!({"ownerReferences": [owner(&first), owner(&second)]});
    bench.config_map("dependent", metadata).await;
    bench.delete(CONFIG_MAPS, "default", "first", "Background").await;
    let one = |object: Option<&Value>| {
        let owners = object.and_then(|object| object.pointer("/metadata/ownerReferences"));
        owners.and_then(Value::as_array).is_some_and(|owners| owners.len() == 1)
    };
    let left = bench.until(CONFIG_MAPS, "default", "dependent", one).await.expect("an object");
    assert_eq!(left["metadata"]["ownerReferences"][0]["name"], "second");
    bench.delete(CONFIG_MAPS, "default", "second", "Background").await;
    bench.until_gone(CONFIG_MAPS, "default", "dependent").await;
}

#[tokio::test]
async fn an_owner_that_never_was_is_gone_too() {
    let bench = bench().await;
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": "never",
        "uid": "11111111-1111-1111-1111-111111111111",
    });
    bench.config_map("dependent", json!({"ownerReferences": [reference]})).await;
    bench.until_gone(CONFIG_MAPS, "default", "dependent").await;
}
