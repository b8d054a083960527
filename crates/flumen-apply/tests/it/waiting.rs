//! Waiting for health.

use std::time::Duration;

use flumen_apply::Error;

use crate::fixture::Fixture;

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
    fixture.options.timeout = Duration::from_secs(5);
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
        while fixture.proxy.count(|request| request.verb() == "watch") == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
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
