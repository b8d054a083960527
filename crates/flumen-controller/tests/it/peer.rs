//! Flux itself takes what is pushed.

use std::process::{Child, Command, Stdio};

use flumen_testkit::{free_address, skip, tool};
use serde_json::json;

use crate::fixture::{Stage, condition, config_map};

/// Ends with the test.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Flux's controller does not work before all of its kinds are served, and some are none of ours.
fn define_others(stage: &Stage) {
    for (kind, plural) in
        [("Bucket", "buckets"), ("HelmChart", "helmcharts"), ("HelmRepository", "helmrepositories")]
    {
        let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        stage.apply(&json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.source.toolkit.fluxcd.io")},
            "spec": {
                "group": "source.toolkit.fluxcd.io",
                "names": {"kind": kind, "plural": plural},
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": anything},
                    "subresources": {"status": {}},
                }],
            },
        }));
    }
}

#[test]
fn the_source_controller_of_flux_becomes_ready_with_the_digest_that_was_pushed() {
    let Some(program) = tool("source-controller") else {
        return skip("what Flux makes of an artifact", "`cargo xtask tools flux` provides it");
    };
    let Some(stage) = Stage::prepare() else { return };
    let digest = stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    define_others(&stage);
    let storage = free_address();
    let child = Command::new(program)
        .arg(format!("--storage-path={}", stage.stored("").display()))
        .args([format!("--storage-addr={storage}"), format!("--storage-adv-addr={storage}")])
        .args([format!("--metrics-addr={}", free_address())])
        .args([format!("--health-addr={}", free_address())])
        .args(["--events-addr=", "--watch-all-namespaces=false"])
        .env("KUBECONFIG", stage.cluster.kubeconfig())
        .env("RUNTIME_NAMESPACE", &stage.namespace)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _peer = Peer(child.expect("starts"));
    // Flux writes its conditions and the rest one after the other.
    let source = stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True" && object["status"]["artifact"].is_object()
    });
    assert_eq!(source["status"]["artifact"]["revision"], format!("latest@{digest}"));
}
