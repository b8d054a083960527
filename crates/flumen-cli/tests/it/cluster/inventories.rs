//! `get`, `inspect`, `history` and `delete` of inventories.

use serde_json::Value;

use super::{Site, map};

const SOURCE: [&str; 4] = ["--source", "https://git.example.com/app.git", "--revision", "main/1"];

#[test]
fn inventories_are_listed_as_kubectl_lists_things() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &SOURCE);
    site.printed(&["apply", "-k", "a", "--inventory", "other", "--dry-run=server"]);
    site.manifests("other.yaml", &[map("c", "1")]);
    site.printed(&["apply", "-f", "other.yaml", "--inventory", "other"]);

    let table = site.printed(&["get", "inventories"]);
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..3], ["NAME", "NAMESPACE", "ENTRIES"]);
    assert_eq!(lines[1][..5], ["app", &site.namespace, "2", SOURCE[1], "main/1"]);
    assert_eq!(lines[2][..3], ["other", &site.namespace, "1"]);
    assert_eq!(site.printed(&["get", "inv", "-o", "name"]), "app\nother\n");
    let one: Value =
        serde_json::from_str(&site.printed(&["get", "inventory", "app", "-o", "json"]))
            .expect("JSON");
    assert_eq!(one[0]["entries"], 2);
    assert_eq!(one[0]["namespace"], site.namespace.as_str());
    assert!(one[0]["lastApplied"].as_str().is_some_and(|at| at.ends_with('Z')), "{one}");

    let all = site.printed(&["get", "inventories", "-A", "-o", "json"]);
    let all: Value = serde_json::from_str(&all).expect("JSON");
    let ours = all.as_array().expect("a list").iter();
    assert_eq!(ours.filter(|one| one["namespace"] == site.namespace.as_str()).count(), 2);
    let error = site.refusal(&["get", "inventory", "missing"]);
    assert!(error.contains("there is no inventory `missing` in namespace"), "{error}");
}

#[test]
fn an_inventory_is_shown_with_its_history() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1")]);
    site.apply("app.yaml", &SOURCE);
    site.manifests("app.yaml", &[map("a", "2")]);
    site.apply("app.yaml", &[]);
    let shown = site.printed(&["inspect", "inventory", "app"]);
    let namespace = &site.namespace;
    assert!(
        shown.starts_with(&format!("Inventory:    {namespace}/app\nLast applied: ")),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("Objects:\n- ConfigMap/{namespace}/a\nHistory:\n- 2: ")),
        "{shown}"
    );
    let json: Value = serde_json::from_str(&site.printed(&["inspect", "inv", "app", "-o", "json"]))
        .expect("JSON");
    assert_eq!(json["resources"][0]["kind"], "ConfigMap");
    assert_eq!(json["history"][0]["number"], 2);
    assert_eq!(json["history"][1]["source"], SOURCE[1]);

    let history = site.printed(&["history", "app"]);
    let lines: Vec<Vec<&str>> =
        history.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["NUMBER", "DIGEST", "REVISION", "BY", "AT", "RESULT"]);
    assert_eq!(lines[1][0], "2");
    assert!(lines[1][1].starts_with("sha256:"), "{history}");
    assert_eq!((lines[2][0], lines[2][2]), ("1", "main/1"));
    assert_eq!(lines[2].last(), Some(&"succeeded"));
    for command in ["history", "rollback"] {
        let error = site.refusal(&[command, "missing"]);
        assert!(error.contains("there is no inventory `missing`"), "{error}");
    }
}

#[test]
fn acceptance_34_deleting_what_is_partly_gone_succeeds() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1"), map("c", "1")]);
    site.apply("app.yaml", &[]);
    site.kubectl_done(&["delete", "configmap/b"]);
    site.kubectl_done(&["label", "configmap/c", "inventory.kustomizer.dev/name-"]);
    site.printed(&["delete", "inventory", "app"]);
    assert!(site.object("configmap/a").is_none());
    assert!(site.object("configmap/c").is_some(), "it is no longer ours");
    assert!(site.object("configmap/inv-app").is_none());
    let error = site.refusal(&["delete", "inventory", "app"]);
    assert!(error.contains("there is no inventory `app`"), "{error}");
}

#[test]
fn a_finalizer_that_never_ends_is_named() {
    let Some(site) = Site::new() else { return };
    let held =
        map("held", "1").replace("name: held", "name: held, finalizers: [example.com/never]");
    site.manifests("app.yaml", &[held]);
    site.apply("app.yaml", &[]);
    let error = site.refusal(&["delete", "inventory", "app", "--timeout", "2s"]);
    let subject = format!("ConfigMap/{}/held", site.namespace);
    assert!(error.contains(&subject), "{error}");
    assert!(error.contains("hint: its finalizers say who still has to finish"), "{error}");
    assert!(site.object("configmap/inv-app").is_some(), "it can be tried again");
    site.kubectl_done(&[
        "patch",
        "configmap/held",
        "--type=merge",
        "-p",
        r#"{"metadata":{"finalizers":null}}"#,
    ]);
    site.printed(&["delete", "inventory", "app", "--wait=false"]);
    assert!(site.object("configmap/inv-app").is_none());
}

#[test]
fn an_inventory_that_kustomizer_made_goes_on() {
    let Some(site) = Site::new() else { return };
    let namespace = &site.namespace;
    let labels = format!(
        "labels: {{inventory.kustomizer.dev/name: app, inventory.kustomizer.dev/namespace: {namespace}}}"
    );
    let inventory = format!(
        r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: inv-app
  labels: {{app.kubernetes.io/name: app, app.kubernetes.io/component: inventory, app.kubernetes.io/created-by: kustomizer}}
  annotations:
    inventory.kustomizer.dev/last-applied-time: 2022-01-01T00:00:00Z
    inventory.kustomizer.dev/revision: v1
data:
  resources: '[{{"id":"{namespace}_old__ConfigMap","ver":"v1"}},{{"id":"{namespace}_kept__ConfigMap","ver":"v1"}}]'
  artifacts: '["registry.example.com/org/app@sha256:0"]'
"#
    );
    let owned = |name: &str| map(name, "1").replace("{name:", &format!("{{{labels}, name:"));
    site.manifests("theirs.yaml", &[inventory, owned("old"), owned("kept")]);
    let file = site.scratch.path().join("theirs.yaml").display().to_string();
    site.kubectl_done(&["apply", "--server-side", "--field-manager=kustomizer", "-f", &file]);
    let table = site.printed(&["get", "inventories"]);
    assert!(table.contains("2022-01-01T00:00:00Z"), "{table}");
    let shown = site.printed(&["inspect", "inventory", "app"]);
    assert!(shown.contains("- registry.example.com/org/app@sha256:0\n"), "{shown}");

    site.manifests("app.yaml", &[map("kept", "1"), map("new", "1")]);
    let printed = site.apply("app.yaml", &["--prune"]);
    let expected = ["kept unchanged", "new created", "old deleted"]
        .map(|line| format!("ConfigMap/{namespace}/{line}\n"));
    assert_eq!(printed, expected.concat());
    assert!(site.object("configmap/old").is_none());
    let inventory = site.object("configmap/inv-app").expect("it goes on");
    let resources = inventory["data"]["resources"].as_str().expect("a list");
    assert!(resources.contains("_new__ConfigMap") && !resources.contains("_old_"), "{resources}");
}
