//! Running the controller: one of several, not beside Flux, and watched by others.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use flumen_controller::{Election, Listen, Options, Rival, RunError};
use serde_json::json;

use crate::fixture::{Stage, config_map};

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
    let storage = stage.stored(name);
    Options { storage, election: Some(election), ..stage.options() }
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
        let options = Options { takeover, health_at: Listen::At(health), ..stage.options() };
        let (end, thread) = stage.controller(options);
        Stage::until("it works", || (status(health, "/readyz") == Some(200)).then_some(()));
        end.send(()).expect("it runs");
        thread.join().expect("it ends in order");
    }
}

#[test]
fn metrics_have_the_names_that_dashboards_know() {
    let Some(stage) = Stage::prepare() else { return };
    let (metrics, health) = (free_address(), free_address());
    let options = Options {
        metrics_at: Listen::At(metrics),
        health_at: Listen::At(health),
        ..stage.options()
    };
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
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }

    stage.delete("Kustomization", "app");
    Stage::until("what is gone is not counted", || {
        get(metrics, "/metrics").filter(|text| !text.contains(&count))
    });
    end.send(()).expect("it runs");
    thread.join().expect("it ends in order");
}

/// An address that nobody listens on at this moment.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

fn status(address: SocketAddr, path: &str) -> Option<u16> {
    get(address, path)?.split_whitespace().nth(1)?.parse().ok()
}

/// An answer with its head; `None` when nobody answers.
fn get(address: SocketAddr, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}
