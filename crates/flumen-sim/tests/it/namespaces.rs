//! Namespaces have what they need, and end when they are empty.

use std::time::Duration;

use flumen_apiserver::{Api, Client, Media, ResourceName};
use flumen_sim::{Clock, Controllers, Settings};
use flumen_store::{Options, Store};
use serde_json::{Value, json};

use crate::bench::{Bench, CONFIG_MAPS, NAMESPACES, PATIENCE};

const ACCOUNTS: ResourceName<'static> = ResourceName::new("", "v1", "serviceaccounts");

async fn bench() -> Bench {
    let bench = Bench::start(Controllers::Core).await;
    bench.create(NAMESPACES, json!({"metadata": {"name": "team"}})).await;
    bench
}

#[tokio::test]
async fn a_namespace_has_an_account_and_the_authority() {
    let bench = bench().await;
    let map = bench
        .until(CONFIG_MAPS, "team", "kube-root-ca.crt", |map| map.is_some())
        .await
        .expect("a map");
    assert_eq!(map["data"]["ca.crt"], "authority");
    let account = bench.until(ACCOUNTS, "team", "default", |account| account.is_some()).await;
    let first = account.expect("an account")["metadata"]["uid"].clone();
    bench.delete(ACCOUNTS, "team", "default", "Background").await;
    let is_another =
        |account: Option<&Value>| account.is_some_and(|a| a["metadata"]["uid"] != first);
    bench.until(ACCOUNTS, "team", "default", is_another).await;
}

#[tokio::test]
async fn a_namespace_ends_when_all_in_it_is_gone() {
    let bench = bench().await;
    let held = json!({
        "metadata": {"name": "held", "namespace": "team", "finalizers": ["example.com/hold"]},
    });
    bench.create(CONFIG_MAPS, held).await;
    bench.create(CONFIG_MAPS, json!({"metadata": {"name": "free", "namespace": "team"}})).await;
    bench.delete(NAMESPACES, "", "team", "Background").await;
    let says = |namespace: Option<&Value>| {
        let conditions = namespace.and_then(|n| n.pointer("/status/conditions"));
        let conditions =
            conditions.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        conditions.iter().any(|condition| {
            condition["type"] == "NamespaceFinalizersRemaining"
                && condition["message"]
                    == "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
        })
    };
    bench.until(NAMESPACES, "", "team", says).await;
    bench.until_gone(CONFIG_MAPS, "team", "free").await;
    let patch = json!({"metadata": {"finalizers": null}});
    let change = (Media::MergePatch, &patch);
    bench.client.patch(CONFIG_MAPS, ("team", "held"), "", change).await.expect("patched");
    bench.until_gone(NAMESPACES, "", "team").await;
}

const DEFINITIONS: ResourceName<'static> =
    ResourceName::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");

/// A definition whose second version nobody can convert to.
fn widgets(serves_first: bool, serves_second: bool) -> Value {
    let version = |name: &str, served: bool, storage: bool| {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        json!({"name": name, "served": served, "storage": storage, "schema": schema})
    };
    let mut definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [version("v1", serves_first, true)],
        },
    });
    if serves_second {
        definition["spec"]["versions"] =
            json!([version("v2", true, false), version("v1", serves_first, true)]);
        definition["spec"]["conversion"] = json!({
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://127.0.0.1:1/convert"},
            },
        });
    }
    definition
}

#[tokio::test]
async fn a_namespace_stays_while_it_is_not_known_what_is_in_it() {
    let bench = bench().await;
    let first = ResourceName::new("example.com", "v1", "widgets");
    bench.create(DEFINITIONS, widgets(true, false)).await;
    let widget = json!({
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "team"},
    });
    bench.create(first, widget).await;
    let change = async |definition: Value| {
        let patch = json!({"spec": definition["spec"]});
        let change = (Media::MergePatch, &patch);
        let name = ("", "widgets.example.com");
        bench.client.patch(DEFINITIONS, name, "", change).await.expect("patched");
    };
    change(widgets(false, true)).await;
    bench.delete(NAMESPACES, "", "team", "Background").await;
    let says = |namespace: Option<&Value>| {
        let conditions = namespace.and_then(|n| n["status"]["conditions"].as_array());
        conditions.into_iter().flatten().any(|condition| {
            condition["type"] == "NamespaceDeletionContentFailure" && condition["status"] == "True"
        })
    };
    bench.until(NAMESPACES, "", "team", says).await;
    // What is stored can be listed without a conversion.
    change(widgets(true, true)).await;
    let gone = async {
        while bench.get(NAMESPACES, "", "team").await.is_some() {
            bench.clock.advance(Duration::from_secs(3));
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the namespace goes");
    assert!(bench.get(first, "team", "w").await.is_none());
}

#[tokio::test]
async fn core_controllers_leave_budgets_to_others() {
    let bench = bench().await;
    let budgets = ResourceName::new("policy", "v1", "poddisruptionbudgets");
    let budget = json!({
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {}},
    });
    bench.create(budgets, budget).await;
    // What they do for a later namespace tells that they have seen the budget.
    bench.create(NAMESPACES, json!({"metadata": {"name": "later"}})).await;
    bench.until(ACCOUNTS, "later", "default", |account| account.is_some()).await;
    let budget = bench.get(budgets, "default", "b").await.expect("it is there");
    assert_eq!(budget["status"].get("observedGeneration"), None, "{budget}");
}

#[tokio::test]
async fn events_are_forgotten_after_an_hour() {
    // Whatever controllers there are.
    let bench = Bench::start_alone().await;
    let events = ResourceName::new("", "v1", "events");
    let event = json!({
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"namespace": "default"},
    });
    bench.create(events, event).await;
    // Whether the event has been seen yet is not known, so time goes on until it is gone.
    let gone = async {
        while bench.get(events, "default", "e").await.is_some() {
            bench.clock.advance(Duration::from_hours(2));
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the event goes");
}

#[tokio::test]
async fn events_age_while_no_server_runs() {
    let store = Store::in_memory(Options::default()).expect("a store");
    let api = Api::open(store).await.expect("a server");
    let client = Client::new(api.clone(), "tester");
    let events = ResourceName::new("", "v1", "events");
    let event = json!({
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"namespace": "default"},
    });
    let event = client.create(events, "default", &event).await.expect("created");
    let created = event["metadata"]["creationTimestamp"].as_str().expect("a time");
    let created: jiff::Timestamp = created.parse().expect("a time");
    let clock = Clock::set_to(created + jiff::SignedDuration::from_hours(2));
    let mut changes = api.changes().expect("changes");
    let settings = Settings { clock, ..Settings::default() };
    let _running = flumen_sim::start(&api, Controllers::None, &settings);
    let gone = async { while !changes.next().await.expect("a change").is_deletion {} };
    tokio::time::timeout(PATIENCE, gone).await.expect("the event goes");
    assert!(client.get(events, "default", "e").await.is_err());
}
