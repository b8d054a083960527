//! What is gone from the source goes from the cluster, and nothing else.

use super::{Site, map};

fn maps(count: usize) -> Vec<String> {
    (0..count).map(|index| map(&format!("m{index:02}"), "1")).collect()
}

#[test]
fn acceptance_30_a_dropped_object_is_planned_as_removed_and_pruned() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &[map("a", "1")]);
    let plan = site.plan("app.yaml", &["--prune"]);
    let removed: Vec<_> =
        super::elements(&plan).into_iter().filter(|(_, kind)| *kind != 0).collect();
    assert_eq!(removed, [("ConfigMap/b".to_owned(), 1)]);

    // Without pruning it stays, and a later run can still delete it.
    site.apply("app.yaml", &[]);
    assert!(site.object("configmap/b").is_some());
    let printed = site.apply("app.yaml", &["--prune", "--wait"]);
    assert!(printed.ends_with(&format!("ConfigMap/{}/b deleted\n", site.namespace)), "{printed}");
    assert!(site.object("configmap/b").is_none());
    let shown = site.printed(&["inspect", "inventory", "app"]);
    assert!(!shown.contains("/b\n"), "{shown}");
}

#[test]
fn what_somebody_else_owns_by_now_stays() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &[map("a", "1"), map("b", "1")]);
    site.apply("app.yaml", &[]);
    site.kubectl_done(&[
        "label",
        "configmap/b",
        "inventory.kustomizer.dev/name=other",
        "--overwrite",
    ]);
    site.manifests("app.yaml", &[map("a", "1")]);
    site.apply("app.yaml", &["--prune"]);
    assert!(site.object("configmap/b").is_some());
}

#[test]
fn most_of_an_inventory_goes_only_when_that_is_meant() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &maps(12));
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &[&maps(3)[..], &[map("new", "1")]].concat());
    let args = ["apply", "-f", "app.yaml", "--inventory", "app", "--prune"];
    let error = site.refusal(&args);
    assert!(error.contains("pruning would delete 9 of 12 objects"), "{error}");
    assert!(error.contains("--allow-large-prune"), "{error}");
    assert!(site.object("configmap/m11").is_some());
    assert!(site.object("configmap/new").is_some(), "what is new is applied");

    site.apply("app.yaml", &["--prune", "--allow-large-prune"]);
    assert!(site.object("configmap/m11").is_none());
    assert!(site.object("configmap/m00").is_some());
    site.manifests("app.yaml", &maps(12));
    site.apply("app.yaml", &[]);
    site.manifests("app.yaml", &maps(1));
    site.apply("app.yaml", &["--prune", "--prune-guard=off"]);
    assert!(site.object("configmap/m11").is_none());
}

#[test]
fn an_empty_source_is_legal_and_guarded() {
    let Some(site) = Site::new() else { return };
    site.manifests("app.yaml", &maps(2));
    site.apply("app.yaml", &[]);
    site.scratch.write("empty/readme.md", "");
    let error = site.refusal(&["apply", "-f", "empty", "--inventory", "app", "--prune"]);
    assert!(error.contains("pruning would delete 2 of 2 objects"), "{error}");
    assert!(site.object("configmap/m00").is_some());
    site.printed(&["apply", "-f", "empty", "--inventory", "app", "--prune", "--allow-large-prune"]);
    assert!(site.object("configmap/m00").is_none());
}
