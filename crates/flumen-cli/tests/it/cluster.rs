//! The commands that talk to a cluster, against a real API server.
//!
//! Each test has a namespace and a directory of its own; all share one server without controllers, so that
//! nothing happens there but what a test does.

mod apply;
mod bad_input;
mod controller;
mod crash;
mod flux;
mod inventories;
mod local;
mod plan;
mod plan_files;
mod pruning;
mod rollback;
mod secrets;
mod waiting;

use flumen_testkit::{KubeCluster, Outcome};
use serde_json::Value;

use crate::Scratch;

/// A namespace of a cluster, and a place to call the command from.
struct Site {
    cluster: &'static KubeCluster,
    namespace: String,
    kubeconfig: String,
    scratch: Scratch,
}

impl Site {
    /// `None` where there is no Kubernetes to test with; that has been said.
    fn new() -> Option<Self> {
        let cluster = KubeCluster::shared()?;
        Some(Self {
            cluster,
            namespace: cluster.fresh_namespace(),
            kubeconfig: cluster.kubeconfig().display().to_string(),
            scratch: Scratch::new(),
        })
    }

    /// Writes manifests to a file.
    fn manifests(&self, file: &str, documents: &[String]) {
        self.scratch.write(file, &documents.join("---\n"));
    }

    /// Runs the command in the namespace of the test.
    fn run(&self, args: &[&str]) -> Outcome {
        let cluster = ["--kubeconfig", &self.kubeconfig, "-n", &self.namespace];
        self.scratch.flumen(&[args, &cluster].concat())
    }

    /// What it prints; it must succeed.
    #[track_caller]
    fn printed(&self, args: &[&str]) -> String {
        let outcome = self.run(args);
        assert_eq!(outcome.status, Some(0), "{args:?}: {}", outcome.stderr);
        String::from_utf8(outcome.stdout).expect("UTF-8")
    }

    /// What it says; it must fail.
    #[track_caller]
    fn refusal(&self, args: &[&str]) -> String {
        let outcome = self.run(args);
        let printed = String::from_utf8_lossy(&outcome.stdout);
        assert_eq!(outcome.status, Some(1), "{args:?}: {printed}{}", outcome.stderr);
        outcome.stderr
    }

    /// `flumen apply -f FILE --inventory app` with further options.
    #[track_caller]
    fn apply(&self, file: &str, options: &[&str]) -> String {
        self.printed(&[&["apply", "-f", file, "--inventory", "app"], options].concat())
    }

    /// The plan of the same as JSON, whatever the exit status.
    #[track_caller]
    fn plan(&self, file: &str, options: &[&str]) -> Value {
        let command = ["plan", "-f", file, "--inventory", "app", "-o", "json"];
        let outcome = self.run(&[&command, options].concat());
        serde_json::from_slice(&outcome.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}{}", String::from_utf8_lossy(&outcome.stdout), outcome.stderr)
        })
    }

    /// An object of the namespace as JSON, such as `configmap/a`; `None` if it is not there.
    fn object(&self, name: &str) -> Option<Value> {
        let outcome = self.kubectl(&[
            "get",
            name,
            "-o",
            "json",
            "--ignore-not-found",
            "--show-managed-fields",
        ]);
        assert!(outcome.succeeded(), "{}", outcome.stderr);
        serde_json::from_slice(&outcome.stdout).ok()
    }

    /// `kubectl` in the namespace of the test.
    fn kubectl(&self, args: &[&str]) -> Outcome {
        self.cluster.kubectl(&[args, &["-n", &self.namespace]].concat())
    }

    /// The same; it must succeed.
    #[track_caller]
    fn kubectl_done(&self, args: &[&str]) {
        let outcome = self.kubectl(args);
        assert!(outcome.succeeded(), "{args:?}: {}", outcome.stderr);
    }
}

/// A config map with one key.
fn map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: '{value}'}}\n"
    )
}

fn secret(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData: {{key: '{value}'}}\n"
    )
}

fn deployment(name: &str, replicas: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  {replicas}\n  \
         selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
         spec: {{containers: [{{name: web, image: 'registry.example.com/web:1'}}]}}\n"
    )
}

/// A definition in a group of its own, so that no other test has the same.
fn definition(group: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
         widgets.{group}}}\nspec:\n  group: {group}\n  scope: Namespaced\n  names: {{plural: widgets, singular: \
         widget, kind: Widget}}\n  versions:\n  - {{name: v1, served: true, storage: true, schema: \
         {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}\n"
    )
}

fn widget(group: &str, name: &str) -> String {
    format!("apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{size: 1}}\n")
}

/// The elements of a plan: kind, name and type of each.
fn elements(plan: &Value) -> Vec<(String, i64)> {
    let changes = plan["k8s_content_diff"].as_array().expect("a list");
    let element = |change: &Value| {
        let name = format!("{}/{}", change["kind"].as_str()?, change["name"].as_str()?);
        Some((name, change["type"].as_i64()?))
    };
    changes.iter().map(|change| element(change).expect("an element")).collect()
}
