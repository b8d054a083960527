//! Stateful sets, daemon sets, jobs and cron jobs.

use std::time::Duration;

use flumen_apiserver::{Media, ResourceName};
use flumen_sim::Controllers;
use serde_json::{Value, json};

use crate::bench::{Bench, PODS};

const STATEFUL_SETS: ResourceName<'static> = ResourceName::new("apps", "v1", "statefulsets");
const DAEMON_SETS: ResourceName<'static> = ResourceName::new("apps", "v1", "daemonsets");
const JOBS: ResourceName<'static> = ResourceName::new("batch", "v1", "jobs");
const CRON_JOBS: ResourceName<'static> = ResourceName::new("batch", "v1", "cronjobs");
const CLAIMS: ResourceName<'static> = ResourceName::new("", "v1", "persistentvolumeclaims");

fn template(app: &str, annotations: &Value) -> Value {
    json!({
        "metadata": {"labels": {"app": app}, "annotations": annotations},
        "spec": {"containers": [{"name": "app", "image": "img:1"}]},
    })
}

fn job(annotations: &Value) -> Value {
    let mut spec = json!({"backoffLimit": 1, "template": template("job", annotations)});
    spec["template"]["spec"]["restartPolicy"] = "Never".into();
    spec
}

fn count(object: &Value, name: &str) -> i64 {
    object["status"][name].as_i64().unwrap_or_default()
}

fn has_condition(object: Option<&Value>, type_name: &str) -> bool {
    let conditions = object.and_then(|object| object["status"]["conditions"].as_array());
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|c| c["type"] == type_name && c["status"] == "True")
}

async fn patch(bench: &Bench, of: ResourceName<'_>, name: &str, patch: Value) {
    let change = (Media::StrategicMergePatch, &patch);
    bench.client.patch(of, ("default", name), "", change).await.expect("patched");
}

#[tokio::test]
async fn a_stateful_set_has_numbers_claims_and_revisions() {
    let bench = Bench::start(Controllers::All).await;
    let set = json!({
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": template("db", &json!({})),
            "volumeClaimTemplates": [{
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }],
        },
    });
    bench.create(STATEFUL_SETS, set).await;
    let is_up = |set: Option<&Value>| {
        set.is_some_and(|set| {
            ["readyReplicas", "updatedReplicas", "currentReplicas"]
                .iter()
                .all(|n| count(set, n) == 2)
        })
    };
    let set = bench.until(STATEFUL_SETS, "default", "db", is_up).await.expect("a set");
    let first = set["status"]["updateRevision"].clone();
    assert_eq!(set["status"]["currentRevision"], first);
    let pod = bench.get(PODS, "default", "db-1").await.expect("a pod");
    assert_eq!(pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"], "1");
    assert_eq!(pod["spec"]["hostname"], "db-1");
    let claim = bench.get(CLAIMS, "default", "data-db-1").await.expect("a claim");
    assert_eq!(claim["status"]["phase"], "Bound");
    assert_eq!(claim["status"]["capacity"]["storage"], "1Gi");
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "img:2"}]}}}});
    patch(&bench, STATEFUL_SETS, "db", image).await;
    let is_rolled = |set: Option<&Value>| {
        is_up(set)
            && set.is_some_and(|set| {
                let status = &set["status"];
                status["updateRevision"] != first
                    && status["currentRevision"] == status["updateRevision"]
            })
    };
    bench.until(STATEFUL_SETS, "default", "db", is_rolled).await;
    let pod = bench.get(PODS, "default", "db-0").await.expect("a pod");
    assert_eq!(pod["spec"]["containers"][0]["image"], "img:2");
}

#[tokio::test]
async fn a_daemon_set_has_a_pod_on_the_node() {
    let bench = Bench::start(Controllers::All).await;
    let set = json!({
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": template("agent", &json!({})),
        },
    });
    bench.create(DAEMON_SETS, set).await;
    let is_up = |set: Option<&Value>| {
        set.is_some_and(|set| {
            set["status"]["observedGeneration"] == set["metadata"]["generation"]
                && ["desiredNumberScheduled", "numberAvailable", "updatedNumberScheduled"]
                    .iter()
                    .all(|name| count(set, name) == 1)
        })
    };
    bench.until(DAEMON_SETS, "default", "agent", is_up).await;
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "img:2"}]}}}});
    patch(&bench, DAEMON_SETS, "agent", image).await;
    bench.until(DAEMON_SETS, "default", "agent", is_up).await;
    let pods = bench.list(PODS, "app=agent").await;
    assert_eq!(pods[0]["spec"]["containers"][0]["image"], "img:2");
}

#[tokio::test]
async fn a_job_completes_and_goes_in_time() {
    let bench = Bench::start(Controllers::All).await;
    let mut spec = job(&json!({}));
    spec["completions"] = 3.into();
    spec["parallelism"] = 2.into();
    spec["ttlSecondsAfterFinished"] = 60.into();
    let object = json!({"metadata": {"name": "once", "namespace": "default"}, "spec": spec});
    bench.create(JOBS, object).await;
    let done = bench.until(JOBS, "default", "once", |job| has_condition(job, "Complete")).await;
    let done = done.expect("a job");
    assert_eq!(count(&done, "succeeded"), 3);
    let types: Vec<&Value> =
        done["status"]["conditions"].as_array().into_iter().flatten().map(|c| &c["type"]).collect();
    assert_eq!(types, ["SuccessCriteriaMet", "Complete"]);
    assert_eq!(bench.list(PODS, "job-name=once").await.len(), 3);
    bench.clock.advance(Duration::from_mins(2));
    bench.until_gone(JOBS, "default", "once").await;
}

#[tokio::test]
async fn a_job_that_fails_too_often_has_failed() {
    let bench = Bench::start(Controllers::All).await;
    let spec = job(&json!({"sim.flumen.dev/job-fail": "true"}));
    let object = json!({"metadata": {"name": "bad", "namespace": "default"}, "spec": spec});
    bench.create(JOBS, object).await;
    let failed_once = |job: Option<&Value>| job.is_some_and(|job| count(job, "failed") == 1);
    bench.until(JOBS, "default", "bad", failed_once).await;
    // The next attempt waits.
    bench.clock.advance(Duration::from_mins(1));
    let failed = bench.until(JOBS, "default", "bad", |job| has_condition(job, "Failed")).await;
    let failed = failed.expect("a job");
    assert_eq!(count(&failed, "failed"), 2);
    let conditions = failed["status"]["conditions"].as_array().expect("conditions");
    assert_eq!(conditions[0]["type"], "FailureTarget");
    assert_eq!(conditions[1]["reason"], "BackoffLimitExceeded");
}

#[tokio::test]
async fn indexed_jobs_count_indexes() {
    let bench = Bench::start(Controllers::All).await;
    let mut spec = job(&json!({}));
    spec["completions"] = 3.into();
    spec["parallelism"] = 3.into();
    spec["completionMode"] = "Indexed".into();
    let object = json!({"metadata": {"name": "each", "namespace": "default"}, "spec": spec});
    bench.create(JOBS, object).await;
    let done = bench.until(JOBS, "default", "each", |job| has_condition(job, "Complete")).await;
    assert_eq!(done.expect("a job")["status"]["completedIndexes"], "0-2");
}

#[tokio::test]
async fn a_job_whose_indexes_fail_too_often_has_failed() {
    let bench = Bench::start(Controllers::All).await;
    let mut spec = job(&json!({"sim.flumen.dev/job-fail": "true"}));
    for (field, value) in [("completions", 2), ("parallelism", 2), ("backoffLimitPerIndex", 1)] {
        spec[field] = value.into();
    }
    spec["completionMode"] = "Indexed".into();
    spec["backoffLimit"] = 100.into();
    let object = json!({"metadata": {"name": "each", "namespace": "default"}, "spec": spec});
    bench.create(JOBS, object.clone()).await;
    let failed_once = |job: Option<&Value>| job.is_some_and(|job| count(job, "failed") == 2);
    bench.until(JOBS, "default", "each", failed_once).await;
    // The next attempts wait.
    bench.clock.advance(Duration::from_mins(1));
    let failed = bench.until(JOBS, "default", "each", |job| has_condition(job, "Failed")).await;
    let failed = failed.expect("a job");
    assert_eq!(failed["status"]["failedIndexes"], "0,1");
    assert_eq!(count(&failed, "failed"), 4);
    assert_eq!(failed["status"]["conditions"][1]["reason"], "FailedIndexes");

    let mut strict = object;
    strict["metadata"]["name"] = "strict".into();
    strict["spec"]["backoffLimitPerIndex"] = 0.into();
    strict["spec"]["maxFailedIndexes"] = 0.into();
    bench.create(JOBS, strict).await;
    let failed = bench.until(JOBS, "default", "strict", |job| has_condition(job, "Failed")).await;
    let failed = failed.expect("a job");
    assert_eq!(failed["status"]["conditions"][1]["reason"], "MaxFailedIndexesExceeded");
}

#[tokio::test]
async fn a_cron_job_begins_a_job_at_its_time() {
    let bench = Bench::start(Controllers::All).await;
    let object = json!({
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": job(&json!({}))}},
    });
    let made = bench.create(CRON_JOBS, object).await;
    // The server stamps objects with the time of this machine.
    let created: jiff::Timestamp = made["metadata"]["creationTimestamp"]
        .as_str()
        .and_then(|t| t.parse().ok())
        .expect("a time");
    let ahead = created.duration_since("2026-01-01T00:00:00Z".parse().expect("a time"));
    bench.clock.advance(Duration::try_from(ahead).unwrap_or_default() + Duration::from_mins(6));
    let has_run = |cron: Option<&Value>| {
        cron.is_some_and(|cron| cron["status"]["lastSuccessfulTime"].is_string())
    };
    let cron = bench.until(CRON_JOBS, "default", "nightly", has_run).await.expect("a cron job");
    assert!(cron["status"]["lastScheduleTime"].is_string());
    assert_eq!(bench.list(JOBS, "").await.len(), 1);
}
