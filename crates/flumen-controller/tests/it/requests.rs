//! What a pass costs.

use std::{thread, time::Duration};

use flumen_testkit::{KubeProxy, KubeRequest};
use serde_json::json;

use crate::fixture::{Stage, condition, config_map, definition};

#[test]
fn a_pass_that_finds_nothing_changed_asks_nothing_of_its_objects() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    let (a, b) = (config_map("a", "1"), config_map("b", "1"));
    stage.push(&[("a/a.yaml", &a), ("b/b.yaml", &b)]);
    stage.source();
    stage.kustomization("a", &json!({"path": "./a", "wait": true}));
    stage.kustomization("b", &json!({"path": "./b", "wait": true}));
    stage.until_ready("a");
    stage.until_ready("b");
    until_watched(&stage, &proxy, "b");
    proxy.forget();
    reconcile(&stage, "b");
    assert_eq!(proxy.count(of_objects), 0);
    let of_status = |request: &KubeRequest| request.path.ends_with("/kustomizations/b/status");
    assert_eq!(proxy.count(of_status), 1, "{:#?}", proxy.requests());
    let of_watches = |request: &KubeRequest| request.verb() == "watch";
    let of_events = |request: &KubeRequest| request.path.ends_with("/events");
    let others = proxy.requests().len() - proxy.count(of_watches) - proxy.count(of_events);
    assert_eq!(others, 1, "one write: {:#?}", proxy.requests());
    // Events are posted when there is time; that of the pass before may still have been on its way.
    assert!(proxy.count(of_events) <= 2, "one event: {:#?}", proxy.requests());

    // A revision that leaves its directory alone costs the same.
    stage.push(&[("a/a.yaml", &config_map("a", "2")), ("b/b.yaml", &b)]);
    let before = stage.get("Kustomization", "b").expect("it is there");
    proxy.forget();
    stage.request("OCIRepository", "app");
    stage.until_object("Kustomization", "b", |object| {
        object["status"]["lastAppliedRevision"] != before["status"]["lastAppliedRevision"]
    });
    stage.until_object("ConfigMap", "a", |object| object["data"]["key"] == "2");
    let of_b = |request: &KubeRequest| of_objects(request) && request.name() == Some("b");
    assert_eq!(proxy.count(of_b), 0, "{:#?}", proxy.requests());
}

#[test]
fn a_controller_knows_what_the_one_before_it_has_applied() {
    let Some((mut stage, proxy)) = Stage::observed() else { return };
    deliver_two(&stage);
    stage.restart(proxy.kubeconfig());
    proxy.forget();
    reconcile(&stage, "app");
    let applies = |request: &KubeRequest| request.verb() == "apply";
    assert_eq!(proxy.count(applies), 0, "{:#?}", proxy.requests());

    // What changes meanwhile is seen all the same.
    stage.restart_after(proxy.kubeconfig(), |stage| {
        stage.patch("ConfigMap", "a", &json!({"data": {"key": "of somebody else"}}));
    });
    stage.until_object("ConfigMap", "a", |object| object["data"]["key"] == "1");
}

#[test]
fn what_is_watched_is_deleted_without_a_look() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    deliver_two(&stage);
    until_watched(&stage, &proxy, "app");
    proxy.forget();
    stage.delete("Kustomization", "app");
    Stage::until("it is gone", || stage.get("Kustomization", "app").is_none().then_some(()));
    let of_verb = |verb: &str| proxy.count(|request| of_objects(request) && request.verb() == verb);
    assert_eq!((of_verb("get"), of_verb("delete")), (0, 2), "{:#?}", proxy.requests());
}

#[test]
fn those_who_wait_for_a_kind_share_one_watch_and_ask_nothing() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    let names = ["a", "b", "c"];
    let widget = |name: &str| {
        format!(
            "apiVersion: <ns>.example.com/v1\nkind: Widget\nmetadata: {{name: {name}, namespace: <ns>}}\n"
        )
    };
    let files = names.map(|name| (format!("{name}/{name}.yaml"), widget(name)));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    stage.push(&files);
    stage.source();
    for name in names {
        stage.kustomization(name, &json!({"path": format!("./{name}")}));
    }
    for name in names {
        stage.until_object("Kustomization", name, |object| {
            let message = condition(object, "Ready")["message"].as_str().unwrap_or_default();
            message.starts_with("waiting for kind Widget")
        });
    }
    let of_definitions = |request: &KubeRequest| {
        request.resource().as_deref() == Some("customresourcedefinitions.apiextensions.k8s.io")
    };
    assert_eq!(proxy.count(of_definitions), 1, "{:#?}", proxy.requests());
    proxy.forget();
    thread::sleep(Duration::from_secs(6));
    // All look in one round, if there is one in this time.
    let of_kinds = |request: &KubeRequest| request.path == "/apis";
    assert!(proxy.count(of_kinds) <= 1, "{:#?}", proxy.requests());
    assert_eq!(proxy.count(of_definitions), 0, "{:#?}", proxy.requests());
    stage.apply(&definition(&format!("widgets.{}.example.com", stage.namespace), "Widget"));
    for name in names {
        stage.until_ready(name);
    }
}

fn deliver_two(stage: &Stage) {
    stage.push(&[("a.yaml", &config_map("a", "1")), ("b.yaml", &config_map("b", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({"wait": true}));
    stage.until_ready("app");
}

/// Waits until the kind of the objects is watched: then a pass finds nothing to look at.
fn until_watched(stage: &Stage, proxy: &KubeProxy, name: &str) {
    Stage::until("everything is watched", || {
        proxy.forget();
        reconcile(stage, name);
        (proxy.count(of_objects) == 0).then_some(())
    });
}

fn of_objects(request: &KubeRequest) -> bool {
    request.resource().as_deref() == Some("configmaps") && request.verb() != "watch"
}

fn reconcile(stage: &Stage, name: &str) {
    let at = stage.request("Kustomization", name);
    stage.until_object("Kustomization", name, |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
}
