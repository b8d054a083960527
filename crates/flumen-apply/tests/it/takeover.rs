//! Fields and objects that someone else had before.

use flumen_apply::{Error, Outcome};
use flumen_diff::Takeover;
use flumen_testkit::KubeRequest;

use crate::fixture::{Fixture, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn what_kubectl_set_and_we_do_not_declare_goes_away() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.kubectl_apply(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {key: old, extra: x}\n",
    );
    assert_eq!(fixture.applied(&config_map("c", "new")).await, "ConfigMap/c configured");
    assert_eq!(fixture.kubectl(&["get", "cm", "c", "-o", "jsonpath={.data}"]), r#"{"key":"new"}"#);
    let annotations =
        fixture.kubectl(&["get", "cm", "c", "-o", "jsonpath={.metadata.annotations}"]);
    assert_eq!(annotations, "", "kubectl's copy of the manifest is gone");
    assert_eq!(fixture.applied(&config_map("c", "new")).await, "ConfigMap/c unchanged");
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_what_we_declare_are_reverted_and_others_stay() {
    let Some(fixture) = Fixture::new().await else { return };
    fixture.applied(&config_map("c", "1")).await;
    let edit = r#"{"data":{"key":"edited","theirs":"x"}}"#;
    fixture.kubectl(&["patch", "cm", "c", "--type=merge", "--field-manager=operator", "-p", edit]);
    assert_eq!(fixture.applied(&config_map("c", "1")).await, "ConfigMap/c configured");
    let data = fixture.kubectl(&["get", "cm", "c", "-o", "jsonpath={.data}"]);
    assert_eq!(data, r#"{"key":"1","theirs":"x"}"#);
}

/// A Deployment with these containers, all of one image.
fn deployment(containers: &[&str]) -> String {
    let containers: Vec<String> =
        containers.iter().map(|name| format!("{{name: {name}, image: a}}")).collect();
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  \
         selector: {{matchLabels: {{app: d}}}}\n  template:\n    metadata: {{labels: {{app: d}}}}\n    \
         spec: {{containers: [{}]}}\n",
        containers.join(", ")
    )
}

/// Somebody has removed a container and put it back with another image. It is theirs from then on, except for the image,
/// which we have set again: without that, what is theirs is no container.
async fn with_a_container_of_somebody_else(fixture: &Fixture) {
    fixture.applied(&deployment(&["main", "side"])).await;
    let path = "/spec/template/spec/containers";
    for patch in [
        format!(r#"[{{"op":"remove","path":"{path}/1"}}]"#),
        format!(r#"[{{"op":"add","path":"{path}/-","value":{{"name":"side","image":"b"}}}}]"#),
    ] {
        let manager = "--field-manager=old-controller";
        fixture.kubectl(&["patch", "deployment", "d", "--type=json", manager, "-p", &patch]);
    }
    let done = fixture.applied(&deployment(&["main", "side"])).await;
    assert_eq!(done, "Deployment/d configured");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_an_object_invalid_is_taken_over_if_its_manager_is_named() {
    let Some(mut fixture) = Fixture::new().await else { return };
    with_a_container_of_somebody_else(&fixture).await;
    let managers = ["old-controller".to_owned()];
    let containers = |fixture: &Fixture| {
        let path = "jsonpath={.spec.template.spec.containers[*].name}";
        fixture.kubectl(&["get", "deployment", "d", "-o", path])
    };

    // After the dry run is too late for it.
    fixture.options.takeover = Takeover::from_managers(&managers);
    let error = fixture.apply(&deployment(&["main"])).await.expect_err("no container");
    assert!(error.to_string().contains("Required value"), "{error}");
    assert_eq!(containers(&fixture), "main side");

    fixture.options.rescue = Takeover::from_managers(&managers);
    assert_eq!(fixture.applied(&deployment(&["main"])).await, "Deployment/d configured");
    assert_eq!(containers(&fixture), "main");
    assert_eq!(fixture.applied(&deployment(&["main"])).await, "Deployment/d unchanged");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_taken_over_for_a_plan_or_from_objects_that_are_merged() {
    let Some(mut fixture) = Fixture::new().await else { return };
    with_a_container_of_somebody_else(&fixture).await;
    fixture.options.rescue = Takeover::from_managers(&["old-".to_owned()]);
    let managers = |fixture: &Fixture| {
        let path = "jsonpath={.metadata.managedFields[*].manager}";
        fixture.kubectl(&["get", "deployment", "d", "-o", path])
    };
    let plan = fixture.plan(&deployment(&["main"])).await;
    assert!(plan.objects.iter().all(|planned| planned.error.is_some()), "{plan:?}");
    assert!(managers(&fixture).contains("old-controller"));

    let mark = "metadata: {annotations: {inventory.kustomizer.dev/ssa: Merge}, name: d}";
    let merged = deployment(&["main"]).replacen("metadata: {name: d}", mark, 1);
    fixture.apply(&merged).await.expect_err("no container");
    assert!(managers(&fixture).contains("old-controller"));
}

#[tokio::test(flavor = "multi_thread")]
async fn immutable_fields_change_only_by_force() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let immutable = |value: &str| format!("{}immutable: true\n", config_map("c", value));
    fixture.applied(&immutable("1")).await;
    let uid =
        |fixture: &Fixture| fixture.kubectl(&["get", "cm", "c", "-o", "jsonpath={.metadata.uid}"]);
    let first = uid(&fixture);
    let error = fixture.apply(&immutable("2")).await.expect_err("immutable");
    assert!(matches!(error, Error::Rejected(_)), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--force")), "{:?}", error.hint());
    assert_eq!(uid(&fixture), first, "nothing was touched");

    fixture.options.force = true;
    assert_eq!(fixture.applied(&immutable("2")).await, "ConfigMap/c created");
    assert_ne!(uid(&fixture), first);
    let invalid =
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n";
    fixture.applied(&format!("{}{invalid}", immutable("2"))).await;
    let before = fixture.kubectl(&["get", "svc", "s", "-o", "jsonpath={.metadata.uid}"]);
    let worse = invalid.replace("80", "0");
    fixture.apply(&format!("{}{worse}", immutable("2"))).await.expect_err("a plain mistake");
    let after = fixture.kubectl(&["get", "svc", "s", "-o", "jsonpath={.metadata.uid}"]);
    assert_eq!(before, after, "a mistake never deletes, not even by force");
}

/// Applies what makes a config map anew, and does something else before the deletion of the old one arrives.
async fn recreate(fixture: &Fixture, meanwhile: impl Fn()) -> Result<Outcome, Error> {
    let is_deletion = |request: &KubeRequest| request.verb() == "delete";
    fixture.proxy.forget();
    fixture.proxy.hold_after(0, is_deletion);
    let yaml = format!("{}immutable: true\n", config_map("c", "ours"));
    let (outcome, ()) = tokio::join!(fixture.apply(&yaml), async {
        fixture.until_requested("the deletion is on its way", is_deletion).await;
        meanwhile();
        fixture.proxy.resume();
    });
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_object_that_was_looked_at_is_deleted_by_force() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.force = true;
    let create = |value: &str| {
        let data = format!("--from-literal=key={value}");
        fixture.kubectl(&["create", "configmap", "c", &data]);
        fixture.kubectl(&["patch", "configmap", "c", "-p", r#"{"immutable":true}"#]);
    };
    create("old");
    let error = recreate(&fixture, || {
        fixture.kubectl(&["delete", "configmap", "c"]);
        create("new");
    });
    let error = error.await.expect_err("it is another one");
    let expected = format!("ConfigMap/{}/c delete failed: ", fixture.namespace);
    assert!(error.to_string().starts_with(&expected), "{error}");
    let key = ["get", "configmap", "c", "-o", "jsonpath={.data.key}"];
    assert_eq!(fixture.kubectl(&key), "new", "the successor is safe");

    // One that has only changed is still the one.
    let label = ["label", "configmap", "c", "a=b"];
    recreate(&fixture, || drop(fixture.kubectl(&label))).await.expect("created anew");
    assert_eq!(fixture.kubectl(&key), "ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_decide_what_is_touched() {
    let Some(fixture) = Fixture::new().await else { return };
    let marked = |name: &str, key: &str, mark: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, annotations: {{inventory.kustomizer.dev/{key}: {mark}}}}}\ndata: {{key: \"VALUE\"}}\n"
        )
    };
    let yaml =
        format!("{}{}", marked("ignored", "ssa", "Ignore"), marked("once", "ssa", "IfNotPresent"));
    let done = fixture.applied(&yaml.replace("VALUE", "1")).await;
    assert_eq!(done, "ConfigMap/ignored skipped, ConfigMap/once created");
    let done = fixture.applied(&yaml.replace("VALUE", "2")).await;
    assert_eq!(done, "ConfigMap/ignored skipped, ConfigMap/once skipped");
    assert_eq!(fixture.kubectl(&["get", "cm", "once", "-o", "jsonpath={.data.key}"]), "1");
    fixture.kubectl(&[
        "annotate",
        "cm",
        "once",
        "--overwrite",
        "inventory.kustomizer.dev/reconcile=disabled",
    ]);
    assert_eq!(fixture.applied(&config_map("once", "3")).await, "ConfigMap/once skipped");
}
