//! A run that is killed at any of its requests, and the next one.
//!
//! The first install and an upgrade are killed before their first request, their second, and so on to the end: before
//! the inventory is written ahead, within each stage, while waiting, while pruning and before the commit.
//! `FLUMEN_CRASH_ROUNDS` repeats all of it; the order of concurrent requests differs each time.

use std::{env, process::Command};

use flumen_testkit::{KubeCluster, KubeProxy};

use super::Site;
use crate::binary;

/// A definition, an object of that kind, and config maps; `RUN` makes the definition this run's own.
const FIRST: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crashesRUN.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crashesRUN, singular: crashRUN, kind: CrashRUN}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: old}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}, data: {key: old}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {key: old}}
---
{apiVersion: example.com/v1, kind: CrashRUN, metadata: {name: v}}
";

#[test]
fn a_killed_run_is_completed_by_the_next_one() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let rounds = env::var("FLUMEN_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok());
    let mut runs = 0;
    for _ in 0..rounds.unwrap_or(1) {
        for upgrade in [false, true] {
            let mut requests = 0;
            while killed_before(cluster, requests, upgrade, &format!("r{runs}")) {
                requests += 1;
                runs += 1;
            }
            assert!(requests > 10, "a run makes more requests than {requests}");
        }
    }
}

/// Kills a run when it has made `requests` requests, runs again and compares what is there. `false` when
/// the run was complete before.
fn killed_before(cluster: &'static KubeCluster, requests: usize, upgrade: bool, run: &str) -> bool {
    let Some(site) = Site::new() else { return false };
    let first = FIRST.replace("RUN", run);
    let second = first
        .replace("{name: a}", "{name: d}")
        .replace("{name: b}, data: {key: old}", "{name: b}, data: {key: new}")
        .replace("{name: v}", "{name: w}");
    site.scratch.write("first.yaml", &first);
    site.scratch.write("second.yaml", &second);
    site.kubectl_done(&["create", "configmap", "of-someone-else"]);
    let file = if upgrade {
        site.apply("first.yaml", &["--wait"]);
        "second.yaml"
    } else {
        "first.yaml"
    };

    let proxy = KubeProxy::start(cluster);
    let mut command = Command::new(binary());
    command
        .args(["apply", "-f", file, "--inventory", "app", "--prune", "--wait"])
        .args(["-n", &site.namespace, "--kubeconfig"])
        .arg(proxy.kubeconfig())
        .current_dir(site.scratch.path())
        .env("HOME", site.scratch.path());
    let outcome = proxy.kill_after(requests, |_| true, &mut command).expect("it starts");
    let killed = outcome.timed_out;
    assert!(killed || outcome.succeeded(), "{run}: {}", outcome.stderr);

    site.apply(file, &["--prune", "--wait"]);
    let (maps, value, object) = if upgrade { ("b c d", "new", "w") } else { ("a b c", "old", "v") };
    let place = format!("killed before request {} of {file}", requests + 1);
    let names = "jsonpath={.items[*].metadata.name}";
    let owned = format!(
        "inventory.kustomizer.dev/name=app,inventory.kustomizer.dev/namespace={}",
        site.namespace
    );
    assert_eq!(got(&site, &["get", "configmaps", "-l", &owned, "-o", names]), maps, "{place}");
    let all = format!("{maps} inv-app of-someone-else");
    assert_eq!(got(&site, &["get", "configmaps", "-o", names]), all, "{place}: nobody else's");
    assert_eq!(
        got(&site, &["get", "configmap", "b", "-o", "jsonpath={.data.key}"]),
        value,
        "{place}"
    );
    let kind = format!("crashes{run}.example.com");
    assert_eq!(got(&site, &["get", &kind, "-o", names]), object, "{place}");

    // What the inventory names is what is there.
    site.printed(&["delete", "inventory", "app", "--wait"]);
    assert_eq!(got(&site, &["get", "configmaps", "-o", names]), "of-someone-else", "{place}");
    killed
}

/// What `kubectl` prints; it must succeed.
#[track_caller]
fn got(site: &Site, args: &[&str]) -> String {
    let outcome = site.kubectl(args);
    assert!(outcome.succeeded(), "{args:?}: {}", outcome.stderr);
    String::from_utf8(outcome.stdout).expect("UTF-8")
}
