//! One object at a time: apply, get, create, replace, patch, delete.

use flumen_kube::{
    ApplyOptions, Cluster as _, DeleteOptions, ObjectName, PatchType, Propagation, Write,
};
use flumen_testkit::KubeCluster;
use flumen_yaml::{Entry, Node, Pos, Tag, Value, to_json};

use crate::support::{FORCED, MANAGER, apply, client, config_map, node, resource, text};

const VERSION: [&str; 2] = ["metadata", "resourceVersion"];

#[tokio::test]
async fn apply_creates_changes_and_leaves_alone() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "settings" };
    assert!(client.get(object).await.expect("an answer").is_none());

    let dry_run = ApplyOptions { write: Write::DryRun, ..FORCED };
    let planned = apply(&client, &namespace, &config_map("settings", "1"), dry_run).await;
    assert_eq!(text(&planned.expect("accepted"), &["data", "key"]), "1");
    assert!(client.get(object).await.expect("an answer").is_none(), "nothing was written");

    let first = apply(&client, &namespace, &config_map("settings", "1"), FORCED).await;
    let first = first.expect("applied");
    let again = apply(&client, &namespace, &config_map("settings", "1"), FORCED).await;
    assert_eq!(text(&again.expect("applied"), &VERSION), text(&first, &VERSION));
    let changed = apply(&client, &namespace, &config_map("settings", "2"), FORCED).await;
    let changed = changed.expect("applied");
    assert_ne!(text(&changed, &VERSION), text(&first, &VERSION));

    let live = client.get(object).await.expect("an answer").expect("an object");
    assert_eq!(to_json(&live), to_json(&changed));
    assert_eq!(text(&live, &["kind"]), "ConfigMap");
    let managers = live.at(&["metadata", "managedFields"]).and_then(Node::as_seq);
    assert_eq!(text(&managers.expect("managers")[0], &["manager"]), MANAGER);
}

#[tokio::test]
async fn numbers_are_what_they_were() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let manifest = node(
        "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web},
          spec: {minReplicas: 2, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}",
    );
    let live = apply(&client, &namespace, &manifest, FORCED).await.expect("applied");
    let replicas = live.at(&["spec", "maxReplicas"]).and_then(Node::as_scalar).expect("a number");
    assert_eq!((replicas.text.as_str(), replicas.tag), ("9", Tag::Int));
}

/// The server reads what is applied as YAML, by rules of which some are surprising.
#[tokio::test]
async fn texts_and_keys_are_what_they_were() {
    /// Divided by bars.
    const TEXTS: &str = "| a |yes|n|null|~|1_000|0o17|12:30:45|2001-01-01|a: b # c|- a|a\t\n\n b\n|'\"\\|<a&b>|\
                         \u{85}\u{2028}\u{7f}|\u{feff}é 日本 😀|\r\n\u{1}";
    const KEYS: [&str; 8] = ["on", "y", "null", "1", "1e3", "0x1f", "-", ".a"];
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let texts = TEXTS.split('|').enumerate();
    let texts = texts.map(|(index, text)| Entry::new(format!("text-{index}"), Node::string(text)));
    let keys = KEYS.iter().map(|key| Entry::new(*key, Node::string(*key)));
    let data: Vec<Entry> = texts.chain(keys).collect();
    let data = Node::new(Pos::default(), Value::Map(data.into()));
    let mut manifest = config_map("odd", "1");
    manifest.as_map_mut().expect("a mapping").set("data", data.clone());

    let live = apply(&client, &namespace, &manifest, FORCED).await.expect("applied");
    assert_eq!(live.get("data").map(to_json), Some(to_json(&data)));
}

#[tokio::test]
async fn fields_of_others_are_taken_only_by_force() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    apply(&client, &namespace, &config_map("a", "1"), FORCED).await.expect("applied");
    let other = ApplyOptions { manager: "other", force: false, write: Write::Real };
    let error = apply(&client, &namespace, &config_map("a", "2"), other).await;
    let error = error.expect_err("a conflict");
    assert!(error.is_conflict() && error.is_field_manager_conflict(), "{error:?}");
    assert!(!error.is_immutable());
    let cause = &error.status().expect("a status").causes[0];
    assert_eq!(
        (cause.field.as_str(), cause.reason.as_str()),
        (".data.key", "FieldManagerConflict")
    );
    let forced = ApplyOptions { force: true, ..other };
    apply(&client, &namespace, &config_map("a", "2"), forced).await.expect("taken over");
}

#[tokio::test]
async fn objects_are_created_replaced_and_patched() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    let created = client.create(object, &config_map("a", "1"), MANAGER).await.expect("created");
    let error = client.create(object, &config_map("a", "1"), MANAGER).await.expect_err("there");
    assert!(error.is_already_exists() && !error.is_field_manager_conflict(), "{error:?}");

    let merge = node("{data: {other: x}}");
    let merged = client.patch(object, PatchType::Merge, &merge, MANAGER).await.expect("patched");
    assert_eq!((text(&merged, &["data", "key"]), text(&merged, &["data", "other"])), ("1", "x"));
    let operations = node("[{op: remove, path: /data/key}]");
    let patched = client.patch(object, PatchType::Json, &operations, MANAGER).await;
    assert!(patched.expect("patched").at(&["data", "key"]).is_none());
    let error = client.patch(object, PatchType::Json, &operations, MANAGER).await;
    assert!(error.expect_err("nothing to remove").is_invalid());

    let error = client.replace(object, &created, MANAGER).await.expect_err("an old revision");
    assert!(error.is_conflict(), "{error:?}");
    let replaced = client.replace(object, &config_map("a", "3"), MANAGER).await.expect("replaced");
    assert_eq!(text(&replaced, &["data", "key"]), "3");
}

#[tokio::test]
async fn only_the_object_that_is_meant_is_deleted() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    let object = ObjectName { resource: &maps, namespace: &namespace, name: "a" };
    let live = apply(&client, &namespace, &config_map("a", "1"), FORCED).await.expect("applied");

    let other = DeleteOptions { uid: Some("another"), ..DeleteOptions::default() };
    assert!(client.delete(object, other).await.expect_err("another object").is_conflict());
    let older = DeleteOptions { resource_version: Some("1"), ..DeleteOptions::default() };
    assert!(client.delete(object, older).await.expect_err("another state").is_conflict());
    let dry_run = DeleteOptions { write: Write::DryRun, ..DeleteOptions::default() };
    assert!(client.delete(object, dry_run).await.expect("accepted"));
    assert!(client.get(object).await.expect("an answer").is_some(), "still there");

    let this = DeleteOptions {
        uid: Some(text(&live, &["metadata", "uid"])),
        resource_version: Some(text(&live, &VERSION)),
        ..DeleteOptions::default()
    };
    assert!(client.delete(object, this).await.expect("deleted"));
    assert!(!client.delete(object, DeleteOptions::default()).await.expect("an answer"));
}

#[tokio::test]
async fn what_happens_to_dependants_is_the_callers_choice() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let (client, namespace) = (client(cluster).await, cluster.fresh_namespace());
    let maps = resource(&client, "v1", "ConfigMap").await;
    // Nobody removes the finalizers here, so that they show what was asked for.
    let choices = [
        (Propagation::Foreground, "foregroundDeletion"),
        (Propagation::Orphan, "orphan"),
        (Propagation::Background, ""),
    ];
    for (propagation, finalizer) in choices {
        let name = format!("{propagation:?}").to_lowercase();
        let object = ObjectName { resource: &maps, namespace: &namespace, name: &name };
        apply(&client, &namespace, &config_map(&name, "1"), FORCED).await.expect("applied");
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        assert!(client.delete(object, options).await.expect("deleted"));
        let left = client.get(object).await.expect("an answer");
        let finalizers = left.as_ref().and_then(|left| left.at(&["metadata", "finalizers"]));
        let shown = finalizers.map(|list| to_json(list).expect("JSON")).unwrap_or_default();
        assert_eq!(shown.trim_matches(['[', ']', '"']), finalizer, "{propagation:?}");
    }
}

#[tokio::test]
async fn names_may_hold_what_paths_do_not() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let client = client(cluster).await;
    let roles = resource(&client, "rbac.authorization.k8s.io/v1", "ClusterRole").await;
    let name = "test:odd name?x=#1";
    let object = ObjectName { resource: &roles, namespace: "", name };
    let manifest = node(&format!(
        "{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{name: '{name}'}}}}"
    ));
    client.apply(object, &manifest, FORCED).await.expect("applied");
    let live = client.get(object).await.expect("an answer").expect("an object");
    assert_eq!(text(&live, &["metadata", "name"]), name);
    assert!(client.delete(object, DeleteOptions::default()).await.expect("deleted"));
}
