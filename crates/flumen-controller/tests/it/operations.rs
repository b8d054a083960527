//! Running the controller: one of several, not beside Flux, and watched by others.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use flumen_controller::{Election, Listen, Options, Rival, RunError};
use flumen_oci::Digest;
use flumen_testkit::{KubeCluster, free_address};
use serde_json::{Value, json};

use crate::fixture::{Stage, condition, config_map, refusal_on};

const LEASES: [&str; 2] =
    ["source-controller-leader-election", "kustomize-controller-leader-election"];

fn candidate(stage: &Stage, name: &str) -> Options {
    let election = Election {
        name: name.to_owned(),
        // Nobody waits for it to expire.
        lease: Duration::from_hours(1),
        renew: Duration::from_mins(30),
        retry: Duration::from_millis(50),
        releases: true,
    };
    let mut options = stage.options();
    options.source.storage = stage.stored(name);
    options.runtime.election = Some(election);
    options
}

fn until_held_by(stage: &Stage, name: &str) {
    for lease in LEASES {
        stage.until_object("Lease", lease, |lease| {
            let holder = lease["spec"]["holderIdentity"].as_str();
            holder.is_some_and(|holder| holder.starts_with(name))
        });
    }
}

#[test]
fn one_of_several_works_and_the_next_takes_over_at_once() {
    let Some(stage) = Stage::prepare() else { return };
    let (end_first, first) = stage.controller(candidate(&stage, "first"));
    until_held_by(&stage, "first");
    let (end_second, second) = stage.controller(candidate(&stage, "second"));
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    until_held_by(&stage, "first");

    end_first.send(()).expect("it runs");
    first.join().expect("it ends in order");
    until_held_by(&stage, "second");
    let at = stage.request("OCIRepository", "app");
    stage.until_object("OCIRepository", "app", |object| {
        object["status"]["lastHandledReconcileAt"] == at
    });
    end_second.send(()).expect("it runs");
    second.join().expect("it ends in order");
}

#[test]
fn a_lease_of_flux_that_is_renewed_stops_the_start() {
    let Some(stage) = Stage::prepare() else { return };
    let lease = |renewed: jiff::Timestamp| {
        stage.apply(&json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": LEASES[1], "namespace": stage.namespace},
            "spec": {
                "holderIdentity": "kustomize-controller-1_2",
                "leaseDurationSeconds": 3600,
                "renewTime": format!("{renewed:.6}"),
            },
        }));
    };
    lease(jiff::Timestamp::now());
    let error = stage.refusal(stage.options());
    let RunError::Rivals(rivals) = &error else { panic!("{error}") };
    let held = Rival::Lease {
        namespace: stage.namespace.clone(),
        name: LEASES[1].to_owned(),
        holder: "kustomize-controller-1_2".to_owned(),
    };
    assert_eq!(*rivals, [held]);
    assert!(error.to_string().contains("is held by kustomize-controller-1_2"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--takeover")), "{error:?}");

    // Who holds one that is old is gone, and who is told to does not look.
    for (renewed, takeover) in
        [(jiff::Timestamp::UNIX_EPOCH, false), (jiff::Timestamp::now(), true)]
    {
        lease(renewed);
        let health = free_address();
        let mut options = stage.options();
        options.runtime.takeover = takeover;
        options.runtime.health_at = Listen::At(health);
        let (end, thread) = stage.controller(options);
        Stage::until("it works", || (status(health, "/readyz") == Some(200)).then_some(()));
        end.send(()).expect("it runs");
        thread.join().expect("it ends in order");
    }
}

#[test]
fn who_loses_a_lease_ends() {
    let Some(stage) = Stage::prepare() else { return };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    let error = std::thread::scope(|scope| {
        let run = scope.spawn(|| stage.refusal(candidate(&stage, "first")));
        until_held_by(&stage, "first");
        let mine = json!({"spec": {"holderIdentity": "somebody else"}});
        stage.patch("Lease", LEASES[1], &mine);
        run.join().expect("it ends in order")
    });
    assert!(matches!(error, RunError::Lost(_)), "{error}");
    // The one that was still its own is free for the next at once; the other is left alone.
    for (name, holder) in LEASES.into_iter().zip(["", "somebody else"]) {
        let lease = stage.get("Lease", name).expect("it is there");
        assert_eq!(lease["spec"]["holderIdentity"], holder);
    }
}

#[test]
fn a_deployment_of_flux_that_runs_stops_the_start() {
    // Deployments anywhere count, so they must not be where other tests start controllers.
    let Some(cluster) = KubeCluster::shared() else { return };
    let namespace = cluster.fresh_namespace();
    let deployment = |name: &str, labels: &Value, replicas: u32| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let object = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "manager", "image": "registry.example.com/x"}]},
                },
            },
        });
        std::fs::write(file.path(), object.to_string()).expect("written");
        let path = file.path().to_str().expect("a path");
        let status = json!({"status": {"replicas": replicas, "readyReplicas": replicas}});
        let object = format!("deployment/{name}");
        for arguments in [
            &["create", "-f", path][..],
            &["patch", &object, "--subresource=status", "--type=merge", "-p", &status.to_string()],
        ] {
            let outcome = cluster.kubectl(&[arguments, &["-n", &namespace]].concat());
            assert!(outcome.succeeded(), "{}", outcome.stderr);
        }
    };
    let part = json!({"app.kubernetes.io/part-of": "flux"});
    deployment("helm-controller", &part, 1);
    deployment("kustomize-controller", &part, 0);
    let mut shard = part;
    shard["app.kubernetes.io/component"] = json!("source-controller");
    deployment("source-controller-shard1", &shard, 2);

    let storage = tempfile::tempdir().expect("a directory");
    let rivals = |kubeconfig: &Path, runtime_namespace: &str| {
        let mut options = Options::default();
        options.source.storage = storage.path().to_owned();
        options.runtime.runtime_namespace = runtime_namespace.to_owned();
        refusal_on(kubeconfig, options)
    };
    let error = rivals(&cluster.kubeconfig(), "elsewhere");
    let found = Rival::Deployment {
        namespace: namespace.clone(),
        name: "source-controller-shard1".to_owned(),
        ready: 2,
    };
    let RunError::Rivals(rivals_found) = &error else { panic!("{error}") };
    assert_eq!(*rivals_found, [found]);
    let scale =
        format!("`kubectl -n {namespace} scale deployment source-controller-shard1 --replicas=0`");
    assert!(error.hint().is_some_and(|hint| hint.contains(&scale)), "{:?}", error.hint());

    // Who may look in one place alone sees what is there, and may not even see Leases.
    for arguments in [
        &["create", "serviceaccount", "narrow"][..],
        &["create", "role", "look", "--verb=list", "--resource=deployments.apps"],
        &[
            "create",
            "rolebinding",
            "look",
            "--role=look",
            &format!("--serviceaccount={namespace}:narrow"),
        ],
    ] {
        let outcome = cluster.kubectl(&[arguments, &["-n", &namespace]].concat());
        assert!(outcome.succeeded(), "{}", outcome.stderr);
    }
    let narrow = cluster.service_account_kubeconfig(&namespace, "narrow");
    let error = rivals(&narrow, &namespace);
    assert!(error.to_string().contains("source-controller-shard1 has 2 ready"), "{error}");
}

#[test]
fn artifacts_are_served_to_others() {
    let address = free_address();
    let Some(stage) = Stage::start_changed(|options| {
        options.source.serve_at = Some(address);
        options.source.advertised_host = address.to_string();
    }) else {
        return;
    };
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    let source = stage.until_object("OCIRepository", "app", |object| {
        condition(object, "Ready")["status"] == "True"
    });
    let artifact = &source["status"]["artifact"];
    let text = |key: &str| artifact[key].as_str().expect("a text");
    let path = text("url").strip_prefix(&format!("http://{address}")).expect("our address");
    let answer = get_bytes(address, path).expect("it is served");
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
    let (head, body) = answer.split_at(end);
    assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(head));
    assert_eq!(Digest::of(body).to_string(), text("digest"));
    assert_eq!(artifact["size"], body.len());
    let directory = path.rsplit_once('/').expect("a directory").0;
    for nothing in ["/", directory, "/../../etc/passwd"] {
        assert_eq!(status(address, nothing), Some(404), "{nothing}");
    }
}

#[test]
fn metrics_have_the_names_that_dashboards_know() {
    let Some(stage) = Stage::prepare() else { return };
    let (metrics, health) = (free_address(), free_address());
    let mut options = stage.options();
    options.runtime.metrics_at = Listen::At(metrics);
    options.runtime.health_at = Listen::At(health);
    let (end, thread) = stage.controller(options);
    Stage::until("it is ready", || (status(health, "/readyz") == Some(200)).then_some(()));
    assert_eq!(status(health, "/healthz"), Some(200));
    assert_eq!(status(health, "/metrics"), Some(404));
    stage.push(&[("one.yaml", &config_map("one", "1"))]);
    stage.source();
    stage.kustomization("app", &json!({}));
    stage.until_ready("app");
    let namespace = &stage.namespace;
    let series = |metric: &str, kind: &str, name: &str| {
        format!("{metric}{{kind=\"{kind}\",name=\"{name}\",namespace=\"{namespace}\"")
    };
    let count = series("gotk_reconcile_duration_seconds_count", "Kustomization", "app");
    let text = Stage::until("the pass is counted", || {
        get(metrics, "/metrics").filter(|text| text.contains(&count))
    });
    for line in [
        series("gotk_reconcile_duration_seconds_sum", "OCIRepository", "app"),
        "controller_runtime_reconcile_total{controller=\"kustomization\",result=\"requeue_after\"}"
            .to_owned(),
        "controller_runtime_reconcile_errors_total{controller=\"gitrepository\"} 0".to_owned(),
        "workqueue_depth{name=\"kustomization\",controller=\"kustomization\",priority=\"0\"}"
            .to_owned(),
        "rest_client_requests_total{code=\"200\",host=\"".to_owned(),
        "process_cpu_seconds_total ".to_owned(),
        "process_resident_memory_bytes ".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
    let names = |text: &str| {
        let lines = text.lines().filter(|line| line.starts_with("gotk_"));
        lines.filter_map(|line| line.rsplit_once(' ')).map(|(name, _)| name.to_owned()).collect()
    };
    let (mut ordered, shown): (Vec<String>, Vec<String>) = (names(&text), names(&text));
    ordered.sort_by_key(|line| line.contains("kind=\"OCIRepository\""));
    assert_eq!(shown, ordered, "by their labels");

    stage.delete("Kustomization", "app");
    Stage::until("what is gone is not counted", || {
        get(metrics, "/metrics").filter(|text| !text.contains(&count))
    });
    end.send(()).expect("it runs");
    thread.join().expect("it ends in order");
}

fn status(address: SocketAddr, path: &str) -> Option<u16> {
    get(address, path)?.split_whitespace().nth(1)?.parse().ok()
}

fn get(address: SocketAddr, path: &str) -> Option<String> {
    String::from_utf8(get_bytes(address, path)?).ok()
}

/// An answer with its head; `None` when nobody answers.
fn get_bytes(address: SocketAddr, path: &str) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(answer)
}
