//! Waiting for health.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use flumen_apply::{Error, Silent, WaitOptions, Waited, until_healthy};
use flumen_object::{Gvk, ObjectId};
use flumen_testkit::{KubeRequest, PATIENCE};

use crate::fixture::{Fixture, config_map};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn controllers_are_waited_for() {
    let Some(mut fixture) = Fixture::with_controllers().await else { return };
    fixture.options.wait = true;
    // There are no nodes: no replicas are what can become ready.
    let yaml = WEB.replace("REPLICAS", "0");
    fixture.applied(&yaml).await;
    let path = "jsonpath={.status.conditions[?(@.type==\"Available\")].status}";
    assert_eq!(fixture.kubectl(&["get", "deployment", "web", "-o", path]), "True");
    fixture.proxy.forget();
    fixture.applied(&yaml).await;
    assert_eq!(fixture.proxy.count(|request| request.verb() == "apply"), 0, "nothing has changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_becomes_ready_is_named_at_the_deadline() {
    let Some(mut fixture) = Fixture::with_controllers().await else { return };
    fixture.options.wait = true;
    // Long enough to see the object before.
    fixture.options.timeout = Duration::from_secs(15);
    let error = fixture.apply(&WEB.replace("REPLICAS", "1")).await.expect_err("no nodes");
    assert!(matches!(error, Error::NotHealthy(_)), "{error}");
    let expected = format!("Deployment/{}/web status: 'InProgress'", fixture.namespace);
    assert_eq!(error.to_string(), format!("timeout waiting for: [{expected}]"));
    assert_eq!(fixture.owned("deployments"), "web", "it is there, and tracked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_fails_at_once() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.wait = true;
    let job = "
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: j, image: j}]}
";
    let (outcome, ()) = tokio::join!(fixture.apply(job), async {
        fixture.until_requested("the job is watched", |request| request.verb() == "watch").await;
        let status = r#"{"status":{"startTime":"2026-01-01T00:00:00Z","failed":1,"conditions":[
            {"type":"FailureTarget","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"},
            {"type":"Failed","status":"True","reason":"BackoffLimitExceeded","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}"#;
        fixture.kubectl(&[
            "patch",
            "job",
            "j",
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ]);
    });
    let error = outcome.expect_err("the job failed");
    let expected = format!("failed early due to stalled resources: [Job/{}/j", fixture.namespace);
    assert!(error.to_string().starts_with(&expected), "{error}");
}

/// A kind whose objects have no status until their controller has looked at them, and one of it beside a Job.
const GAUGE_AND_JOB: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.waiting.example.com}
spec:
  group: waiting.example.com
  scope: Namespaced
  names: {plural: gauges, singular: gauge, kind: Gauge}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: waiting.example.com/v1
kind: Gauge
metadata: {name: g}
---
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: j, image: j}]}
";

const GAUGES: &str = "gauges.waiting.example.com";

const COMPLETE: &str = r#"{"status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":1,
    "conditions":[
    {"type":"SuccessCriteriaMet","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"},
    {"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"}]}}"#;

fn set_status(fixture: &Fixture, kind: &str, name: &str, status: &str) {
    let subresource = "--subresource=status";
    fixture.kubectl(&["patch", kind, name, subresource, "--type=merge", "-p", status]);
}

fn ready(status: &str) -> String {
    format!(r#"{{"status":{{"conditions":[{{"type":"Ready","status":"{status}"}}]}}}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_healthy_at_first_must_be_so_at_the_end() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.wait = true;
    let run = async { (fixture.apply(GAUGE_AND_JOB).await, Instant::now()) };
    let ((outcome, ended), ready_at) = tokio::join!(run, async {
        let is_watch = |request: &KubeRequest| {
            request.verb() == "watch" && request.resource().as_deref() == Some(GAUGES)
        };
        fixture.until_requested("the gauge is watched", is_watch).await;
        set_status(&fixture, GAUGES, "g", &ready("False"));
        set_status(&fixture, "job", "j", COMPLETE);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ready_at = Instant::now();
        set_status(&fixture, GAUGES, "g", &ready("True"));
        ready_at
    });
    outcome.expect("healthy in the end");
    assert!(ended > ready_at, "it ended while the gauge was not ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_healthy_at_first_sight_is_not_watched() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.wait = true;
    let account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a}\n";
    fixture.applied(&format!("{}{account}", config_map("c", "1"))).await;
    assert_eq!(fixture.proxy.count(|request| request.verb() == "watch"), 0);
}

/// Waits for an object whose kind is not served when the wait begins.
async fn wait_for_gauge(
    fixture: &Fixture,
    namespace: &str,
    patience: Duration,
) -> Result<(), Error> {
    let gvk = Gvk::new(&"belated.example.com/v1beta1".into(), "Gauge".into());
    let id = ObjectId { gvk, namespace: namespace.into(), name: "g".into() };
    let options = WaitOptions {
        selector: None,
        rules: Arc::default(),
        fail_fast: true,
        deadline: tokio::time::Instant::now() + patience,
        watched: None,
    };
    let waited = [Waited { id, resource: None, vanishes: false }];
    until_healthy(&fixture.client, &waited, &options, &Silent).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_comes_during_the_wait_is_followed() {
    let Some(fixture) = Fixture::new().await else { return };
    let brief = wait_for_gauge(&fixture, &fixture.namespace, Duration::from_secs(1));
    let error = brief.await.expect_err("not served");
    let unknown =
        "status: 'Unknown': no matches for kind \"Gauge\" in group \"belated.example.com\"";
    assert!(error.to_string().contains(unknown), "{error}");

    let other = Fixture::over(&fixture).await;
    fixture.proxy.forget();
    let wait = wait_for_gauge(&fixture, &fixture.namespace, PATIENCE);
    let (outcome, ()) = tokio::join!(wait, async {
        // Definitions are watched once the kind was looked for in vain.
        let definitions = "customresourcedefinitions.apiextensions.k8s.io";
        let is_watch = |request: &KubeRequest| {
            request.verb() == "watch" && request.resource().as_deref() == Some(definitions)
        };
        fixture.until_requested("definitions are watched", is_watch).await;
        // It is served in another version than the one that was named.
        other.applied(&GAUGE_AND_JOB.replace("waiting.example.com", "belated.example.com")).await;
    });
    outcome.expect("it is healthy once it is there");

    let error = wait_for_gauge(&fixture, "", PATIENCE).await.expect_err("it has a namespace");
    let nowhere = "is namespace scoped, but namespace is not set";
    assert!(error.to_string().ends_with(nowhere), "{error}");
}
