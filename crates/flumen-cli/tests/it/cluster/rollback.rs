//! The way back.

use flumen_testkit::EmbeddedRegistry;
use serde_json::Value;

use super::{Site, map};

fn key(site: &Site) -> Value {
    site.object("configmap/a").expect("it is there")["data"]["key"].clone()
}

#[test]
fn three_deploys_are_rolled_back_to_the_first_without_a_build() {
    let Some(site) = Site::new() else { return };
    let registry = EmbeddedRegistry::start();
    for value in ["1", "2", "3"] {
        let url = format!("oci://{}/org/app:v{value}", registry.host());
        site.manifests("app.yaml", &[map("a", value), map(&format!("only-{value}"), "x")]);
        let push = ["push", "artifact", &url, "-f", "app.yaml", "--insecure-registry"];
        let pushed = site.scratch.flumen(&push);
        assert!(pushed.succeeded(), "{}", pushed.stderr);
        site.printed(&["apply", &url, "--inventory", "app", "--prune", "--insecure-registry"]);
    }
    let before = site.printed(&["history", "app", "-o", "name"]);
    let first = before.lines().last().expect("a line").to_owned();
    // Nothing is left to build from.
    std::fs::remove_file(site.scratch.path().join("app.yaml")).expect("removed");

    let back = ["rollback", "app", "--to", "1", "--prune", "--insecure-registry"];
    let looked = site.printed(&[&back[..], &["--dry-run=server"]].concat());
    assert!(looked.contains("/a configured (server dry run)\n"), "{looked}");
    assert_eq!(key(&site), "3");
    site.printed(&back);
    assert_eq!(key(&site), "1");
    assert!(site.object("configmap/only-1").is_some());
    assert!(site.object("configmap/only-3").is_none());
    let history: Value =
        serde_json::from_str(&site.printed(&["history", "app", "-o", "json"])).expect("JSON");
    assert_eq!(history[0]["artifact"], first.as_str());
    assert_eq!(history[0]["rolledBackTo"], 1);

    // Without a number it is the last other one, here version 3 again.
    site.printed(&["rollback", "app", "--insecure-registry"]);
    assert_eq!(key(&site), "3");
    let error = site.refusal(&["rollback", "app", "--to", "77"]);
    assert!(error.contains("the history of `app` has no deployment 77"), "{error}");
}

#[test]
fn what_was_built_here_is_in_the_local_store_until_it_is_pruned() {
    let Some(site) = Site::new() else { return };
    for value in ["1", "2"] {
        site.manifests("app.yaml", &[map("a", value)]);
        site.apply("app.yaml", &[]);
    }
    let digest = site.printed(&["history", "app", "-o", "name"]);
    let digest = digest.lines().last().and_then(|line| line.split_once('@')).expect("a digest").1;
    site.printed(&["rollback", "app", "--to", digest]);
    assert_eq!(key(&site), "1");
    let pruned = site.scratch.flumen(&["cache", "prune", "--all"]);
    assert!(pruned.succeeded(), "{}", pruned.stderr);
    let error = site.refusal(&["rollback", "app"]);
    assert!(error.contains("from the local store"), "{error}");
    assert!(error.contains("hint: what is built from files is kept on the machine"), "{error}");
    assert_eq!(key(&site), "1");
}
