//! `flumen up`, `status`, `down` and `reset`: a cluster on this machine, as its users meet it.

use std::process::Command;

use flumen_testkit::{kube_program, repository_root, skip};

use super::{Scratch, binary};

/// A cluster in the background that does not outlive its test.
struct Up {
    scratch: Scratch,
}

impl Up {
    fn start(arguments: &[&str]) -> Self {
        let up = Self { scratch: Scratch::new() };
        let arguments: Vec<&str> = ["up", "--detach", "--data", "cluster"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let outcome = up.scratch.flumen(&arguments);
        assert!(outcome.succeeded(), "{}", outcome.stderr);
        up
    }

    fn flumen(&self, arguments: &[&str]) -> (bool, String, String) {
        let all: Vec<&str> = arguments.iter().copied().chain(["--data", "cluster"]).collect();
        let outcome = self.scratch.flumen(&all);
        (outcome.succeeded(), String::from_utf8_lossy(&outcome.stdout).into_owned(), outcome.stderr)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = Command::new(binary())
            .args(["down", "--data", "cluster"])
            .current_dir(self.scratch.path())
            .output();
    }
}

#[test]
fn an_example_is_delivered_and_shown() {
    let scratch = Scratch::new();
    let example = repository_root().join("examples/quickstart");
    let outcome = scratch.flumen(&["up", &example.to_string_lossy(), "--ephemeral", "--once"]);
    assert!(outcome.succeeded(), "{}", outcome.stderr);
    let shown = String::from_utf8_lossy(&outcome.stdout);
    for part in ["Namespace/staging created", "production\n", "● Deployment/prod-greeter  "] {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
    assert_eq!(shown.matches("Pod/prod-greeter-").count(), 3, "{shown}");
    assert!(outcome.stderr.contains("simulated"), "{}", outcome.stderr);
}

#[test]
fn a_cluster_in_the_background_is_found_used_and_ended() {
    let up = Up::start(&[]);
    let (_, status, _) = up.flumen(&["status"]);
    assert!(status.contains("API server  https://127.0.0.1:"), "{status}");

    // A second `up` delivers to the one that runs.
    let (delivered, shown, said) = up.flumen(&["up", "--example", "quickstart"]);
    assert!(delivered, "{said}");
    assert!(shown.contains("Deployment/greeter"), "{shown}");

    if let Some(kubectl) = kube_program("kubectl") {
        let seen = Command::new(kubectl)
            .args(["--kubeconfig", "cluster/kubeconfig", "-n", "staging", "get", "deployments"])
            .current_dir(up.scratch.path())
            .output()
            .expect("kubectl starts");
        let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
        assert!(seen.contains("greeter   1/1"), "{seen}");
    } else {
        skip("what `kubectl` sees of a local cluster", "`cargo xtask kube` provides it");
    }

    let (reset, _, said) = up.flumen(&["reset", "--yes"]);
    assert!(!reset && said.contains("an instance runs"), "{said}");
    assert!(up.flumen(&["down"]).0);
    let (runs, _, said) = up.flumen(&["status"]);
    assert!(!runs && said.contains("nothing runs"), "{said}");
    assert!(up.flumen(&["reset", "--yes"]).0);
    assert!(!up.scratch.path().join("cluster/objects.redb").exists());
}

#[test]
fn a_context_is_merged_into_the_users_own() {
    let up = Up::start(&[]);
    up.scratch.write("config", "contexts:\n- name: work\n  context: {cluster: work}\n");
    let merged = Command::new(binary())
        .args(["up", "--merge", "--data", "cluster"])
        .env("KUBECONFIG", up.scratch.path().join("config"))
        .current_dir(up.scratch.path())
        .output()
        .expect("it runs");
    assert!(merged.status.success(), "{}", String::from_utf8_lossy(&merged.stderr));
    let config = up.scratch.read("config");
    assert!(
        config.contains("name: work") && config.contains("current-context: flumen-cluster-"),
        "{config}"
    );
}
