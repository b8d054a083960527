//! A graph of Kustomizations: the order in which they come and go, what a failure stops, and graphs that are none.

use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map};

/// Assets and what they depend on.
const ASSETS: [(&str, &[&str]); 7] = [
    ("dapr", &[]),
    ("mongodb", &[]),
    ("nats", &[]),
    ("petclinic", &["mongodb", "nats", "traefik"]),
    ("sources", &[]),
    ("tempo", &[]),
    ("traefik", &["dapr"]),
];

/// Pushes a directory with one object for each name.
fn push(stage: &Stage, names: &[&str]) {
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("{name}/it.yaml"), config_map(name, "1"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    stage.push(&files);
    stage.source();
}

fn declare(stage: &Stage, name: &str, on: &[&str], more: &Value) {
    let on: Vec<Value> = on.iter().map(|name| json!({ "name": name })).collect();
    let mut fields = json!({"path": format!("./{name}"), "wait": true, "dependsOn": on});
    for (key, value) in more.as_object().into_iter().flatten() {
        fields[key] = value.clone();
    }
    stage.kustomization(name, &fields);
}

#[test]
fn assets_come_in_waves() {
    let Some((stage, proxy)) = Stage::observed() else { return };
    push(&stage, &ASSETS.map(|(name, _)| name));
    // Those that must wait are there first.
    for (name, on) in ASSETS.iter().rev() {
        declare(&stage, name, on, &json!({}));
    }
    for (name, _) in ASSETS {
        stage.until_ready(name);
    }
    let requests = proxy.requests();
    let applied = |name: &str| {
        let path = format!("/configmaps/{name}");
        let found = requests.iter().position(|one| {
            one.verb() == "apply" && !one.is_dry_run() && one.path.ends_with(&path)
        });
        found.unwrap_or_else(|| panic!("{name} is not applied"))
    };
    for (name, on) in ASSETS {
        for other in on {
            assert!(applied(other) < applied(name), "{name} comes after {other}");
        }
    }
}

/// One asset fails: those that depend on it wait and say for whom, the others go on.
fn check_failure(fails: &str, blocked: &[(&str, &str)]) {
    let Some(stage) = Stage::start() else { return };
    push(&stage, &ASSETS.map(|(name, _)| name));
    for (name, on) in ASSETS {
        let path = if name == fails { "./nowhere".to_owned() } else { format!("./{name}") };
        declare(&stage, name, on, &json!({ "path": path }));
    }
    stage.until_failed(fails, "ArtifactFailed");
    for (name, _) in ASSETS {
        if let Some((_, on)) = blocked.iter().find(|(blocked, _)| *blocked == name) {
            let message = format!("dependency '{}/{on}' is not ready", stage.namespace);
            stage.until_object("Kustomization", name, |object| {
                let ready = condition(object, "Ready");
                ready["reason"] == "DependencyNotReady" && ready["message"] == message
            });
            assert!(stage.get("ConfigMap", name).is_none(), "{name} is blocked");
        } else if name != fails {
            stage.until_ready(name);
        }
    }
}

#[test]
fn a_failure_that_nobody_depends_on_stops_nobody() {
    check_failure("tempo", &[]);
}

#[test]
fn a_failure_stops_those_that_depend_on_it_also_through_others() {
    check_failure("dapr", &[("traefik", "dapr"), ("petclinic", "traefik")]);
}

#[test]
fn a_failure_stops_no_others() {
    check_failure("mongodb", &[("petclinic", "mongodb")]);
}

/// Each member of a cycle tells the way from itself to itself.
fn check_cycle(nodes: &[(&str, &str)]) {
    let Some(stage) = Stage::start() else { return };
    push(&stage, &["d"]);
    for (name, on) in nodes {
        declare(&stage, name, &[on], &json!({"path": "./d"}));
    }
    declare(&stage, "d", &[], &json!({}));
    for begin in 0..nodes.len() {
        let way = nodes[begin..].iter().chain(&nodes[..=begin]);
        let way: Vec<String> = way.map(|(name, _)| format!("{}/{name}", stage.namespace)).collect();
        let message = format!("dependency cycle {}", way.join(" -> "));
        stage.until_object("Kustomization", nodes[begin].0, |object| {
            let ready = condition(object, "Ready");
            ready["status"] == "False" && ready["message"] == message
        });
    }
    stage.until_ready("d");
    // They wait for each other, but not to go.
    for (name, _) in nodes {
        stage.delete("Kustomization", name);
    }
    for (name, _) in nodes {
        let what = format!("{name} is gone");
        Stage::until(&what, || stage.get("Kustomization", name).is_none().then_some(()));
    }
}

#[test]
fn two_that_depend_on_each_other_are_a_cycle() {
    check_cycle(&[("a", "b"), ("b", "a")]);
}

#[test]
fn one_that_depends_on_itself_is_a_cycle() {
    check_cycle(&[("a", "a")]);
}

#[test]
fn a_cycle_is_reported_on_every_member_and_stops_no_others() {
    check_cycle(&[("a", "b"), ("b", "c"), ("c", "a")]);
}

#[test]
fn a_dependency_that_is_not_declared_is_named_and_waited_for() {
    let Some(stage) = Stage::start() else { return };
    push(&stage, &["petclinic", "kafka"]);
    declare(&stage, "petclinic", &["kafka"], &json!({}));
    let message = stage.until_failed("petclinic", "DependencyNotReady");
    let missing = "kustomizations.kustomize.toolkit.fluxcd.io \"kafka\" not found";
    assert_eq!(message, format!("dependency '{}/kafka' not found: {missing}", stage.namespace));
    assert!(stage.get("ConfigMap", "petclinic").is_none());
    declare(&stage, "kafka", &[], &json!({}));
    stage.until_ready("petclinic");
}

#[test]
fn those_that_depend_on_others_go_first() {
    let Some(stage) = Stage::start() else { return };
    push(&stage, &ASSETS.map(|(name, _)| name));
    for (name, on) in ASSETS {
        declare(&stage, name, on, &json!({"deletionPolicy": "WaitForTermination"}));
    }
    for (name, _) in ASSETS {
        stage.until_ready(name);
    }
    let held = |name: &str, is_held: bool| {
        let finalizers = if is_held { json!(["example.com/held"]) } else { Value::Null };
        stage.patch("ConfigMap", name, &json!({"metadata": {"finalizers": finalizers}}));
    };
    held("petclinic", true);
    held("traefik", true);
    // At once: one that is deleted alone goes after a grace period, although others depend on it.
    stage.delete_all("Kustomization", &ASSETS.map(|(name, _)| name));
    let gone = |name: &str| {
        let what = format!("{name} is gone");
        Stage::until(&what, || stage.get("Kustomization", name).is_none().then_some(()));
        assert!(stage.get("ConfigMap", name).is_none(), "{name} takes its object along");
    };
    let waits = |name: &str, behind: &str| {
        let who = format!("Kustomization {}/{behind}, which depends on it", stage.namespace);
        let object = stage.until_object("Kustomization", name, |object| {
            let step = condition(object, "Reconciling");
            step["message"] == format!("waiting for the deletion of {who}")
        });
        assert!(object["metadata"]["deletionTimestamp"].is_string());
        let there = stage.get("ConfigMap", name).expect("it is still there");
        assert_eq!(there["metadata"]["deletionTimestamp"], Value::Null, "{name}");
    };
    for (name, behind) in
        [("mongodb", "petclinic"), ("nats", "petclinic"), ("traefik", "petclinic")]
    {
        waits(name, behind);
    }
    waits("dapr", "traefik");
    gone("sources");
    gone("tempo");

    held("petclinic", false);
    for name in ["petclinic", "mongodb", "nats"] {
        gone(name);
    }
    stage.until_object("ConfigMap", "traefik", |object| {
        object["metadata"]["deletionTimestamp"].is_string()
    });
    waits("dapr", "traefik");
    held("traefik", false);
    gone("traefik");
    gone("dapr");
}

#[test]
fn what_others_still_depend_on_goes_alone() {
    let Some(stage) = Stage::start() else { return };
    push(&stage, &["a", "b"]);
    declare(&stage, "a", &[], &json!({}));
    declare(&stage, "b", &["a"], &json!({}));
    stage.until_ready("b");
    stage.delete("Kustomization", "a");
    Stage::until("a is gone", || stage.get("Kustomization", "a").is_none().then_some(()));
    assert!(stage.get("ConfigMap", "a").is_none() && stage.get("ConfigMap", "b").is_some());
}
