//! Components on a real cluster, as their users meet them.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use flumen_testkit::{
    EmbeddedRegistry, KubeCluster, KubeProxy, KubeRequest, Outcome, PATIENCE, repository_root,
};

use crate::{Scratch, copy_tree};

/// A project with one install and a namespace of its own.
struct Shop {
    scratch: Scratch,
    cluster: &'static KubeCluster,
    namespace: String,
}

impl Shop {
    /// `None` without a Kubernetes, which is said as skipped.
    fn new() -> Option<Self> {
        let cluster = KubeCluster::shared()?;
        let (scratch, namespace) = (Scratch::new(), cluster.fresh_namespace());
        let install = format!(
            "[cluster]\nkubeconfig = \"{}\"\nnamespace = \"{namespace}\"\n[inputs]\ncolour = \"red\"\n",
            cluster.kubeconfig().display()
        );
        scratch.write("installs/prod.toml", &install);
        Some(Self { scratch, cluster, namespace })
    }

    fn component(&self, name: &str, value: &str, dependencies: &str) {
        let text = format!(
            "name = \"{name}\"\ntype = \"kubernetes_manifest\"\nnamespace = \"{}\"\n\
             dependencies = [{dependencies}]\nmanifest = '''\napiVersion: v1\nkind: ConfigMap\n\
             metadata:\n  name: {name}\ndata:\n  key: {value}\n'''\n",
            self.namespace
        );
        self.scratch.write(&format!("components/{name}.toml"), &text);
    }

    fn flumen(&self, arguments: &[&str]) -> Outcome {
        self.scratch.flumen(arguments)
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], status: i32) -> serde_json::Value {
        let outcome = self.flumen(&[arguments, &["-o", "json"]].concat());
        assert_eq!(outcome.status, Some(status), "{arguments:?}: {}", outcome.stderr);
        serde_json::from_slice(&outcome.stdout).expect("JSON")
    }

    #[track_caller]
    fn build(&self) {
        let outcome = self.flumen(&["component", "build"]);
        assert_eq!(outcome.status, Some(0), "{}", outcome.stderr);
    }

    #[track_caller]
    fn deploy(&self, further: &[&str], status: i32) -> serde_json::Value {
        let arguments = [&["component", "deploy", "--install", "prod"], further].concat();
        self.check(&arguments, status)
    }

    fn live(&self, name: &str) -> Option<String> {
        let outcome = self.cluster.kubectl(&[
            "--namespace",
            &self.namespace,
            "get",
            "configmap",
            name,
            "-o",
            "jsonpath={.data.key}",
        ]);
        outcome.succeeded().then(|| String::from_utf8_lossy(&outcome.stdout).into_owned())
    }
}

#[test]
fn without_a_terminal_a_plan_waits_for_its_approval() {
    let Some(shop) = Shop::new() else { return };
    shop.component("web", "\"{{ .install.inputs.colour }}\"", "");
    shop.build();
    let waiting = shop.deploy(&[], 3);
    assert_eq!(waiting[0]["status"], "pending-approval");
    let name = waiting[0]["plan"].as_str().expect("the name of the plan").to_owned();
    assert_eq!(shop.live("web"), None);

    let listed = shop.check(&["plan", "list"], 0);
    assert_eq!(
        (&listed[0]["name"], &listed[0]["install"]),
        (&name.as_str().into(), &"prod".into())
    );
    let shown = shop.flumen(&["plan", "show", &name]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("ConfigMap/"), "{}", shown.stderr);
    let document = shop.check(&["plan", "show", &name], 0);
    assert_eq!(document["k8s_content_diff"][0]["type"], 2);

    assert_eq!(shop.flumen(&["plan", "approve", &name]).status, Some(0));
    assert_eq!(shop.deploy(&[], 0)[0]["status"], "active");
    assert_eq!(shop.live("web").as_deref(), Some("red"));
    assert_eq!(shop.deploy(&[], 0)[0]["status"], "auto-skipped");
    let gone = shop.flumen(&["plan", "approve", &name]);
    assert_eq!(gone.status, Some(1));
    assert!(gone.stderr.contains("there is no plan"), "{}", gone.stderr);
}

#[test]
fn acceptance_26_a_denial_stops_and_deny_and_continue_goes_on() {
    let Some(shop) = Shop::new() else { return };
    shop.component("db", "one", "");
    shop.component("web", "one", "\"db\"");
    shop.build();
    let plan =
        |outcome: &serde_json::Value| outcome[0]["plan"].as_str().expect("a plan").to_owned();
    let name = plan(&shop.deploy(&[], 3));
    assert_eq!(shop.flumen(&["plan", "deny", &name]).status, Some(0));
    let denied = shop.deploy(&[], 1);
    assert_eq!(
        (&denied[0]["status"], &denied[1]["status"]),
        (&"approval-denied".into(), &"cancelled".into())
    );

    let name = plan(&shop.deploy(&[], 3));
    assert_eq!(shop.flumen(&["plan", "deny", "--continue", &name]).status, Some(0));
    let skipped = shop.deploy(&[], 3);
    let statuses = (&skipped[0]["status"], &skipped[1]["status"]);
    assert_eq!(statuses, (&"approval-denied".into(), &"pending-approval".into()));
    assert_eq!((shop.live("db"), shop.live("web")), (None, None));
}

#[test]
fn acceptance_33_dependencies_come_first_and_go_last() {
    let Some(shop) = Shop::new() else { return };
    shop.component("web", "one", "\"db\"");
    shop.component("db", "one", "");
    shop.build();
    let order = |outcome: &Outcome, word: &str| -> Vec<String> {
        let lines = outcome.stderr.lines().filter(|line| line.ends_with(word));
        lines.filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    };
    let install = ["--install", "prod", "--approve-all"];
    let deployed = shop.flumen(&[&["component", "deploy"], &install[..]].concat());
    assert_eq!(deployed.status, Some(0), "{}", deployed.stderr);
    assert_eq!(order(&deployed, ": active"), ["db", "web"]);
    let gone = shop.flumen(&[&["component", "teardown"], &install[..]].concat());
    assert_eq!(gone.status, Some(0), "{}", gone.stderr);
    assert_eq!(order(&gone, ": inactive"), ["web", "db"]);
    assert_eq!((shop.live("db"), shop.live("web")), (None, None));
}

#[test]
fn acceptance_40_the_past_is_listed_and_brought_back() {
    let Some(shop) = Shop::new() else { return };
    for value in ["one", "two"] {
        shop.component("web", value, "");
        shop.build();
        shop.deploy(&["--approve-all"], 0);
    }
    let history = shop.check(&["component", "history", "web", "--install", "prod"], 0);
    assert_eq!((&history[0]["number"], &history[1]["number"]), (&2.into(), &1.into()));
    assert_eq!(history[0]["result"], "succeeded");
    let back = ["component", "rollback", "web", "--install", "prod", "--approve-all"];
    assert_eq!(shop.check(&back, 0)[0]["status"], "active");
    assert_eq!(shop.live("web").as_deref(), Some("one"));
}

#[test]
fn acceptance_35_drift_is_shown_and_ends_with_status_1() {
    let Some(shop) = Shop::new() else { return };
    shop.component("web", "one", "");
    shop.build();
    shop.deploy(&["--approve-all"], 0);
    let drift = ["component", "drift", "--install", "prod"];
    assert_eq!(shop.check(&drift, 0)[0]["status"], "no-drift");
    let patch = r#"{"data":{"key":"by hand"}}"#;
    let place = ["--namespace", &shop.namespace];
    let edit = [&place[..], &["patch", "configmap/web", "--type=merge", "-p", patch]].concat();
    assert!(shop.cluster.kubectl(&edit).succeeded());
    assert_eq!(shop.check(&drift, 1)[0]["status"], "drifted");
    assert_eq!(shop.live("web").as_deref(), Some("by hand"));

    let list = [&drift[..], &["--list"]].concat();
    assert_eq!(shop.check(&list, 0)[0]["component"], "web");
    shop.deploy(&["--approve-all"], 0);
    assert_eq!(shop.check(&list, 0), serde_json::json!([]), "a deploy puts it right");
}

#[test]
fn secrets_of_an_install_are_nowhere_but_in_its_file_and_on_the_cluster() {
    const CANARY: &str = "canary-5f2e";
    const ENCODED: &str = "Y2FuYXJ5LTVmMmU";
    let Some(shop) = Shop::new() else { return };
    let install = shop.scratch.read("installs/prod.toml");
    shop.scratch.write("installs/prod.toml", &format!("{install}password = \"{CANARY}\"\n"));
    let secret = format!(
        "name = \"db\"\ntype = \"kubernetes_manifest\"\nnamespace = \"{}\"\nmanifest = '''\n\
         apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  \
         password: {{{{ .install.inputs.password }}}}\n'''\n",
        shop.namespace
    );
    shop.scratch.write("components/db.toml", &secret);
    shop.build();
    let waiting = shop.flumen(&["component", "deploy", "--install", "prod", "-o", "name"]);
    assert_eq!(waiting.status, Some(3), "{}", waiting.stderr);
    let stored = shop.scratch.names(".local/state/flumen/plans");
    let name = stored.iter().find_map(|file| file.strip_suffix(".json")).expect("a plan");
    let mut seen = shop.scratch.read(&format!(".local/state/flumen/plans/{name}.json"));
    for arguments in [
        &["plan", "show", name][..],
        &["plan", "show", name, "-o", "json"],
        &["plan", "approve", name],
        &["component", "deploy", "--install", "prod"],
        &["component", "history", "--install", "prod", "-o", "json"],
    ] {
        let outcome = shop.flumen(arguments);
        assert_eq!(outcome.status, Some(0), "{arguments:?}: {}", outcome.stderr);
        seen += &String::from_utf8_lossy(&outcome.stdout);
        seen += &outcome.stderr;
    }
    let inventory = ["--namespace", &shop.namespace, "get", "configmaps", "-o", "yaml"];
    seen += &String::from_utf8_lossy(&shop.cluster.kubectl(&inventory).stdout);
    seen += &waiting.stderr;
    for secret in [CANARY, ENCODED] {
        assert!(!seen.contains(secret), "{seen}");
    }
}

#[test]
fn an_unknown_value_is_named_before_anything_is_planned() {
    let Some(shop) = Shop::new() else { return };
    shop.component("web", "\"{{ .install.inputs.color }}\"", "");
    shop.build();
    let outcome = shop.flumen(&["component", "deploy", "--install", "prod"]);
    assert_eq!(outcome.status, Some(1));
    for word in
        ["there is no value `.install.inputs.color`", "did you mean `.install.inputs.colour`?"]
    {
        assert!(outcome.stderr.contains(word), "{word} in {}", outcome.stderr);
    }
}

#[test]
fn an_unknown_install_is_named() {
    let scratch = Scratch::new();
    scratch.write("installs/prod.toml", "");
    scratch.write(
        "components/a.toml",
        "name = \"a\"\ntype = \"kubernetes_manifest\"\nnamespace = \"x\"\nmanifest = \"a: b\"\n",
    );
    scratch.check_refused(
        &["component", "deploy", "--install", "prd"],
        1,
        &["there is no install `prd`", "did you mean `prod`?"],
    );
}

/// `examples/delivery`, from its components to a cluster and back.
#[test]
fn the_delivery_example_reaches_a_cluster() {
    let Some(cluster) = KubeCluster::shared() else { return };
    let registry = EmbeddedRegistry::start();
    let scratch = Scratch::new();
    copy_tree(&repository_root().join("examples/delivery"), &scratch.path());
    let file = "installs/production.toml";
    let kubeconfig = format!("kubeconfig = \"{}\"", cluster.kubeconfig().display());
    let install = scratch.read(file).replace("context = \"production\"", &kubeconfig);
    scratch.write(file, &install.replace("install.example.com", registry.host()));
    let created = cluster.kubectl(&["create", "namespace", "shop"]);
    assert!(created.succeeded(), "{}", created.stderr);

    let done = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let outcome = scratch.flumen(&words);
        assert_eq!(outcome.status, Some(0), "{words:?}: {}", outcome.stderr);
    };
    let site = "--install production --insecure-registry";
    done("component build settings web");
    done(&format!("component deploy settings web {site} --approve-all"));
    let path = "jsonpath={.data.currency}";
    let settings = cluster.kubectl(&["get", "configmap", "settings", "-n", "shop", "-o", path]);
    assert_eq!(String::from_utf8_lossy(&settings.stdout), "EUR");
    done("component history web --install production");
    done(&format!("component drift settings web {site}"));
    done(&format!("component teardown settings web {site} --approve-all"));
    let left = cluster.kubectl(&["get", "configmap,deployment", "-n", "shop", "-o", "name"]);
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
fn acceptance_29_one_digest_is_filled_in_for_each_install() {
    let Some(shop) = Shop::new() else { return };
    let component = |name: &str, rest: &str| {
        let text = format!(
            "name = \"{name}\"\ntype = \"kubernetes_manifest\"\nnamespace = \"{{{{.nuon.install.id}}}}\"\n{rest}"
        );
        shop.scratch.write(&format!("components/{name}.toml"), &text);
    };
    let map = |name: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  key: \"{{{{ .install.inputs.colour }}}}\"\n"
        )
    };
    component("inline", &format!("manifest = '''\n{}'''\n", map("inline")));
    component("built", "[kustomize]\npath = \"built\"\n[public_repo]\nrepo = \"..\"\n");
    shop.scratch.write("built/kustomization.yaml", "resources: [map.yaml]\n");
    shop.scratch.write("built/map.yaml", &map("built"));
    shop.build();

    let mut digests = Vec::new();
    for colour in ["red", "blue"] {
        // The id of an install is the name of its file.
        let id = shop.cluster.fresh_namespace();
        let install = format!(
            "[cluster]\nkubeconfig = \"{}\"\nnamespace = \"{id}\"\n[inputs]\ncolour = \"{colour}\"\n",
            shop.cluster.kubeconfig().display()
        );
        shop.scratch.write(&format!("installs/{id}.toml"), &install);
        shop.check(&["component", "deploy", "--install", &id, "--approve-all"], 0);
        for name in ["inline", "built"] {
            let path = "jsonpath={.data.key}";
            let live = shop.cluster.kubectl(&["get", "configmap", name, "-n", &id, "-o", path]);
            assert_eq!(String::from_utf8_lossy(&live.stdout), colour, "{name}: {}", live.stderr);
            let history = shop.check(&["component", "history", name, "--install", &id], 0);
            let artifact = history[0]["artifact"].as_str().expect("an artifact").to_owned();
            digests.push(artifact.rsplit('@').next().unwrap_or_default().to_owned());
        }
    }
    assert_eq!(digests[..2], digests[2..], "the same artifacts");
}

#[test]
fn acceptance_49_50_a_failure_stops_its_dependants_and_nobody_else() {
    let Some(shop) = Shop::new() else { return };
    let bad = format!(
        "name = \"db\"\ntype = \"kubernetes_manifest\"\nnamespace = \"{}\"\nmanifest = '''\n\
         {{apiVersion: v1, kind: Service, metadata: {{name: db}}, spec: {{ports: [{{port: 0}}]}}}}\n'''\n",
        shop.namespace
    );
    shop.scratch.write("components/db.toml", &bad);
    shop.component("web", "one", "\"db\"");
    shop.component("other", "one", "");
    shop.component("another", "one", "");
    shop.build();
    let outcome = shop.deploy(&["--approve-all"], 1);
    let status = |name: &str| {
        let all = outcome.as_array().expect("a list");
        let one = all.iter().find(|one| one["component"] == name).expect("the component");
        one["status"].as_str().expect("a status").to_owned()
    };
    assert_eq!([status("db"), status("web")], ["error", "cancelled"]);
    assert_eq!([status("other"), status("another")], ["active", "active"]);
    assert_eq!(shop.live("web"), None);
    assert_eq!(shop.live("other").as_deref(), Some("one"));
}

#[test]
fn acceptance_39_a_drift_check_waits_for_a_running_deploy() {
    let Some(shop) = Shop::new() else { return };
    let proxy = KubeProxy::start(shop.cluster);
    shop.component("web", "one", "");
    shop.build();
    let start = |arguments: &[&str]| {
        let mut command = Command::new(crate::binary());
        command.args(arguments).current_dir(shop.scratch.path()).env("HOME", shop.scratch.path());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };

    // The deploy gets stuck when it has written the inventory and sends the object.
    let install = shop.scratch.read("installs/prod.toml");
    let kubeconfig = |path: &Path| format!("kubeconfig = \"{}\"", path.display());
    let (direct, slow) = (kubeconfig(&shop.cluster.kubeconfig()), kubeconfig(proxy.kubeconfig()));
    shop.scratch.write("installs/prod.toml", &install.replace(&direct, &slow));
    proxy.hold_after(1, KubeRequest::is_write);
    let deploy = start(&["component", "deploy", "--install", "prod", "--approve-all"]);
    assert!(proxy.wait_for_hold(PATIENCE), "the deploy writes");

    shop.scratch.write("installs/prod.toml", &install);
    let mut drift = start(&["component", "drift", "--install", "prod"]);
    let mut told =
        BufReader::new(drift.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(told.any(|line| line == "web: pending"), "the check says that it waits");
    proxy.release();

    let deployed = deploy.wait_with_output().expect("it ends");
    assert!(deployed.status.success(), "{}", String::from_utf8_lossy(&deployed.stderr));
    let rest: Vec<String> = told.collect();
    assert!(drift.wait().expect("it ends").success(), "no drift: {rest:?}");
    assert_eq!(shop.live("web").as_deref(), Some("one"));
}
