//! `flumen controller` as a process, with secrets that nobody may see.

use std::{
    fs::File,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use super::{Site, flux};
use crate::binary;

/// Also what base64 makes of the beginning that all have in common.
const CANARY: &str = "canary";
const ENCODED: &str = "Y2FuYXJ5";

/// A controller for the namespace of a test that logs all that it can. It does not outlive the test.
struct Controller(Child);

impl Controller {
    fn start(site: &Site) -> Self {
        let log = File::create(site.scratch.path().join("log")).expect("a file");
        let source = format!("{}/app=app", site.namespace);
        let process = Command::new(binary())
            .args(["controller", "--kubeconfig", &site.kubeconfig, "--storage", "artifacts"])
            .args(["--log-level=trace", "--metrics-addr=0", "--health-addr=0"])
            .args(["--watch-all-namespaces=false", "--source", &source])
            .env("RUNTIME_NAMESPACE", &site.namespace)
            .current_dir(site.scratch.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        Self(process.expect("it starts"))
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(what: &str, text: &str) {
    for secret in [CANARY, ENCODED] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} in {what}");
    }
}

#[test]
fn secrets_are_in_no_log_status_or_event() {
    let Some(site) = flux::site() else { return };
    let secret = |name: &str, data: &serde_json::Value| {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data,
        });
        site.create(&format!("secret-{name}.json"), &object.to_string());
    };
    secret("values", &json!({"plain": "canary-plain", "breaking": "canary-breaking: ["}));
    secret("basic", &json!({"username": "canary-user", "password": "canary-password"}));
    let key = "-----BEGIN PRIVATE KEY-----\ncanary-key\n-----END PRIVATE KEY-----\n";
    secret("tls", &json!({"tls.crt": "canary-certificate", "tls.key": key, "ca.crt": "canary-ca"}));
    secret("ssh", &json!({"identity": key, "known_hosts": "canary-host", "password": "canary"}));

    let manifest = |name: &str, body: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: {}}}\n{body}\n",
            site.namespace
        );
        site.scratch.write(&format!("app/{name}/secret.yaml"), &text);
    };
    manifest("good", "stringData: {key: \"${plain}\"}");
    manifest("unreadable", "stringData:\n  key: ${breaking}");
    manifest("unencoded", "data: {key: \"${plain}\"}");
    manifest("mistyped", "stringData: {key: [\"${plain}\"]}");
    manifest("undefined", "stringData: {key: \"${plain}${absent}\"}");

    let mut objects = Vec::new();
    for (name, url, credentials) in [
        ("app", "https://local.invalid/app", "basic"),
        ("basic", "http://127.0.0.1:1/app", "basic"),
        ("tls", "https://127.0.0.1:1/app", "tls"),
        ("ssh", "ssh://git@127.0.0.1:1/app", "ssh"),
    ] {
        objects.push(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": {"name": name},
            "spec": {"interval": "1h", "url": url, "secretRef": {"name": credentials}},
        }));
    }
    let names = ["good", "unreadable", "unencoded", "mistyped", "undefined"];
    for name in names {
        objects.push(json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name},
            "spec": {
                "interval": "1h", "prune": true, "path": name,
                "sourceRef": {"kind": "GitRepository", "name": "app"},
                "postBuild": {"substituteFrom": [{"kind": "Secret", "name": "values"}]},
            },
        }));
    }
    let controller = Controller::start(&site);
    for (number, object) in objects.iter().enumerate() {
        site.create(&format!("{number}.json"), &object.to_string());
    }
    let wait = |status: &str, object: &str| {
        let condition = format!("--for=condition=Ready={status}");
        site.kubectl_done(&["wait", &condition, object, "--timeout=4m"]);
    };
    wait("True", "kustomization/good");
    for name in &names[1..] {
        wait("False", &format!("kustomization/{name}"));
    }
    for name in ["basic", "tls", "ssh"] {
        wait("False", &format!("gitrepository/{name}"));
    }
    let live = site.object("secret/good").expect("it is applied");
    assert_eq!(live["data"]["key"], "Y2FuYXJ5LXBsYWlu", "what is searched for is there");
    drop(controller);

    let log = site.scratch.read("log");
    assert!(log.contains("\"reason\":\"BuildFailed\""), "it tells of failures:\n{log}");
    check("the log", &log);
    for kind in ["gitrepositories", "kustomizations", "events"] {
        let listed = site.kubectl(&["get", kind, "-o", "yaml"]);
        check(kind, &String::from_utf8_lossy(&listed.stdout));
    }
}
