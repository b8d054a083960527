//! The commands for Flux's kinds, with statuses that the test writes: there is no controller.

use std::sync::Once;

use flumen_testkit::{KubeCluster, Outcome};
use serde_json::{Value, json};

use super::Site;

const REVISION: &str =
    "main@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A namespace with Flux's kinds; `None` where there is no Kubernetes to test with.
pub(super) fn site() -> Option<Site> {
    static DEFINED: Once = Once::new();
    let site = Site::new()?;
    DEFINED.call_once(|| define(site.cluster, &site));
    Some(site)
}

fn define(cluster: &KubeCluster, site: &Site) {
    site.scratch.write("definitions.yaml", &flumen_api::definitions().join("\n---\n"));
    let file = site.scratch.path().join("definitions.yaml").display().to_string();
    let applied = cluster.kubectl(&["apply", "--server-side", "-f", &file]);
    assert!(applied.succeeded(), "{}", applied.stderr);
    for name in ["kustomizations.kustomize", "gitrepositories.source"] {
        let name = format!("crd/{name}.toolkit.fluxcd.io");
        let wait = ["wait", "--for=condition=Established", &name, "--timeout=4m"];
        let established = cluster.kubectl(&wait);
        assert!(established.succeeded(), "{}", established.stderr);
    }
}

impl Site {
    fn kustomization(&self, name: &str, status: &Value) {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}}}\nspec: \
             {{interval: 1h, prune: true, sourceRef: {{kind: GitRepository, name: app}}}}\n"
        );
        self.create(&format!("{name}.yaml"), &text);
        let patch = json!({"status": status}).to_string();
        let kustomization = format!("kustomization/{name}");
        self.kubectl_done(&[
            "patch",
            &kustomization,
            "--subresource=status",
            "--type=merge",
            "-p",
            &patch,
        ]);
    }

    pub(super) fn create(&self, file: &str, text: &str) {
        self.scratch.write(file, text);
        let file = self.scratch.path().join(file).display().to_string();
        self.kubectl_done(&["create", "-f", &file]);
    }

    /// The same command, and all that came of it.
    #[track_caller]
    fn check(&self, args: &[&str], status: i32, stdout: &str, stderr: &str) {
        let outcome: Outcome = self.run(args);
        let said = outcome.stderr.replace(&self.namespace, "NS");
        let printed = String::from_utf8_lossy(&outcome.stdout).replace(&self.namespace, "NS");
        assert_eq!(
            (outcome.status, printed.as_str(), said.as_str()),
            (Some(status), stdout, stderr)
        );
    }
}

fn ready(status: &str, message: &str) -> Value {
    json!({"type": "Ready", "status": status, "reason": "R", "message": message,
        "observedGeneration": 1, "lastTransitionTime": "2026-01-02T03:04:05Z"})
}

fn applied() -> Value {
    json!({"observedGeneration": 1, "lastAppliedRevision": REVISION,
        "conditions": [ready("True", &format!("Applied revision: {REVISION}"))]})
}

#[test]
fn tables_are_those_of_flux() {
    let Some(site) = site() else { return };
    site.check(&["get", "ks"], 1, "", "✗ no Kustomization objects found in \"NS\" namespace\n");
    site.kustomization("good", &applied());
    site.kustomization("new", &json!({}));
    let headings =
        "NAME\tREVISION            \tSUSPENDED\tREADY\tMESSAGE                                \n";
    let good =
        "good\tmain@sha256:01234567\tFalse    \tTrue \tApplied revision: main@sha256:01234567\t\n";
    let new =
        "new \t                    \tFalse    \tFalse\twaiting to be reconciled              \t\n";
    site.check(&["get", "kustomizations"], 0, &format!("{headings}{good}{new}"), "");
    site.check(
        &["get", "ks", "--status-selector", "ready=true"],
        0,
        &format!("{headings}{good}"),
        "",
    );
    let alone = "new\t\tFalse\tFalse\twaiting to be reconciled\t\n";
    let unready = ["get", "ks", "--status-selector", "ready!=true", "--no-header"];
    site.check(&unready, 0, alone, "");
    let header = "NAME\tREVISION\tSUSPENDED\tREADY\tMESSAGE \n";
    site.check(&["get", "ks", "--status-selector", "ready=false"], 0, header, "");
    site.check(
        &["get", "ks", "good", "--show-source", "--no-header"],
        0,
        "good\tGitRepository/NS/app\tmain@sha256:01234567\tFalse\tTrue\tApplied revision: main@sha256:01234567\t\n",
        "",
    );
    site.check(
        &["get", "ks", "none"],
        1,
        "",
        "✗ Kustomization object 'none' not found in \"NS\" namespace\n",
    );
    let all = site.printed(&["get", "all", "--no-header"]);
    assert!(all.starts_with("kustomization/good\t") && all.ends_with("\t\n\n"), "{all}");
    site.check(&["get", "sources", "all"], 0, "", "");
}

#[test]
fn options_stand_before_the_kind_or_behind_it() {
    let Some(site) = site() else { return };
    site.kustomization("app", &applied());
    let row = "app\tmain@sha256:01234567\tFalse\tTrue\tApplied revision: main@sha256:01234567\t\n";
    for args in [
        &["get", "ks", "--no-header"][..],
        &["get", "--no-header", "ks"],
        &["get", "--no-header=true", "ks", "--watch=false"],
        &["get", "--status-selector", "ready=true", "ks", "app", "--no-header"],
    ] {
        site.check(args, 0, row, "");
    }
    for args in [&["tree", "ks", "app"][..], &["tree", "--timeout", "1m", "ks", "app"]] {
        site.check(args, 0, "Kustomization/NS/app\n\n", "");
    }
    site.check(
        &["resume", "--wait=false", "--all", "ks"],
        0,
        "",
        "► resuming kustomization app in NS namespace\n✔ kustomization resumed\n",
    );
    site.check(&["suspend", "--all", "source", "git"], 1, "", "✗ no objects found\n");
    site.check(
        &["reconcile", "--timeout=5s", "ks", "app"],
        1,
        "",
        "► annotating Kustomization app in NS namespace\n✔ Kustomization annotated\n\
         ◎ waiting for Kustomization reconciliation\n✗ context deadline exceeded\n",
    );

    // The namespace that the test is in is given behind everything else, and wins.
    let elsewhere = site.scratch.flumen(&["get", "-n", "Elsewhere", "ks"]);
    assert_eq!(elsewhere.stderr, "✗ namespace must be a valid DNS label: \"Elsewhere\"\n");
    let inventories = site.scratch.flumen(&["get", "--watch", "inventories"]);
    assert_eq!(inventories.stderr, "error: `--watch` is for Flux's kinds\n");
}

#[test]
fn objects_are_suspended_and_resumed() {
    let Some(site) = site() else { return };
    site.kustomization("app", &applied());
    let suspended =
        || site.object("kustomization/app").expect("it is there")["spec"]["suspend"].clone();
    site.check(
        &["suspend", "ks", "none", "app", "app"],
        0,
        "",
        "✗ Kustomization none not found in NS namespace\n► suspending kustomization app in NS namespace\n✔ kustomization suspended\n",
    );
    assert_eq!(suspended(), json!(true));
    site.check(&["reconcile", "ks", "app"], 1, "", "✗ resource is suspended\n");
    site.check(
        &["resume", "ks", "app", "--wait=false"],
        0,
        "",
        "► resuming kustomization app in NS namespace\n✔ kustomization resumed\n",
    );
    assert_eq!(suspended(), Value::Null);
    // Nobody has seen the new generation.
    site.check(
        &["resume", "ks", "app", "--timeout", "5s"],
        1,
        "",
        "► resuming kustomization app in NS namespace\n✔ kustomization resumed\n\
         ◎ waiting for Kustomization reconciliation\n\
         ✗ Kustomization app reconciliation failed: context deadline exceeded\n\
         ✗ reconciliation failed for 1 Kustomization(s)\n",
    );
    site.check(&["suspend", "source", "git", "--all"], 1, "", "✗ no objects found\n");
    site.check(&["suspend", "ks"], 1, "", "✗ kustomization name is required\n");
}

#[test]
fn a_request_is_an_annotation() {
    let Some(site) = site() else { return };
    site.kustomization("app", &applied());
    site.check(
        &["reconcile", "ks", "app", "--timeout", "5s"],
        1,
        "",
        "► annotating Kustomization app in NS namespace\n✔ Kustomization annotated\n\
         ◎ waiting for Kustomization reconciliation\n✗ context deadline exceeded\n",
    );
    let object = site.object("kustomization/app").expect("it is there");
    assert!(object["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"].is_string());
    site.check(
        &["reconcile", "ks", "app", "--with-source"],
        1,
        "",
        "✗ gitrepositories.source.toolkit.fluxcd.io \"app\" not found\n",
    );
}

#[test]
fn an_inventory_is_a_tree() {
    let Some(site) = site() else { return };
    let entry = |id: &str| json!({"id": id, "v": "v1"});
    let mut outer = applied();
    let nested = format!("{}_inner_kustomize.toolkit.fluxcd.io_Kustomization", site.namespace);
    outer["inventory"] = json!({"entries": [entry("n_a__ConfigMap"), entry(&nested)]});
    let mut inner = applied();
    inner["inventory"] = json!({"entries": [entry("_r_rbac.authorization.k8s.io_ClusterRole")]});
    site.kustomization("outer", &outer);
    site.kustomization("inner", &inner);
    site.check(
        &["tree", "ks", "outer"],
        0,
        "Kustomization/NS/outer\n├── ConfigMap/n/a\n└── Kustomization/NS/inner\n    └── ClusterRole/r\n\n",
        "",
    );
    let compact = site.printed(&["tree", "ks", "outer", "--compact", "-o", "json"]);
    let compact: Value = serde_json::from_str(&compact).expect("JSON");
    assert_eq!(compact["resources"][0]["resource"]["Name"], "inner");
    assert_eq!(compact["resources"][1], Value::Null);
}

#[test]
fn events_are_those_of_flux_and_come_in_their_order() {
    let Some(site) = site() else { return };
    site.check(&["events"], 0, "", "✗ No events found in NS namespace.\n");
    for (name, kind, time) in
        [("late", "Kustomization", "02"), ("early", "GitRepository", "01"), ("other", "Pod", "03")]
    {
        let time = format!("2020-01-{time}T00:00:00Z");
        site.create(
            &format!("event-{name}.yaml"),
            &format!(
                "apiVersion: v1\nkind: Event\nmetadata: {{name: {name}, namespace: {ns}}}\ntype: Normal\nreason: R\n\
                 message: {name}\nfirstTimestamp: {time}\nlastTimestamp: {time}\ncount: 1\n\
                 involvedObject: {{kind: {kind}, name: app, namespace: {ns}}}\n",
                ns = site.namespace
            ),
        );
    }
    let printed = site.printed(&["events"]);
    let objects: Vec<&str> =
        printed.lines().skip(1).filter_map(|line| line.split('\t').nth(3)).map(str::trim).collect();
    assert_eq!(objects, ["GitRepository/app", "Kustomization/app"]);
    site.check(&["events", "--for", "ks/app"], 1, "", "✗ 'ks' is not a recognized Flux kind\n");
}

#[test]
fn mistakes_are_one_line_and_groups_show_their_help() {
    let Some(site) = site() else { return };
    for (args, said) in [
        (&["get", "ks", "--frobnicate"][..], "✗ unknown flag: --frobnicate\n"),
        (&["get", "all", "--watch"], "✗ expected a single resource type, but found all\n"),
        (&["reconcile", "source", "git", "x", "--force"], "✗ unknown flag: --force\n"),
    ] {
        site.check(args, 1, "", said);
    }
    let missing = site.scratch.flumen(&["get", "ks", "-n"]);
    assert_eq!(missing.stderr, "✗ flag needs an argument: 'n' in -n\n");
    for group in [
        &["get"][..],
        &["get", "widgets"],
        &["get", "-n", "x", "widgets"],
        &["reconcile", "alert", "x"],
        &["suspend", "source"],
    ] {
        let help = site.scratch.flumen(group);
        assert_eq!((help.status, help.stderr.as_str()), (Some(0), ""), "{group:?}");
        assert!(String::from_utf8_lossy(&help.stdout).contains("Commands:"), "{group:?}");
    }
}
