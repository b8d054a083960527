//! Drift of what is deployed on a real API server.

use std::{sync::Mutex, time::Duration};

use flumen_diff::ChangeType;
use flumen_pipeline::{
    deploy::{Operation, Status},
    schedule::{Clock, Schedules},
};
use jiff::Timestamp;

use crate::site::{Deployed, TestSite, config_map};

async fn check_drift(site: &TestSite) -> Deployed {
    site.run("app", Operation::CheckDrift, None, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_35_36_37_an_edit_is_drift_until_the_next_deploy() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    site.build_and_deploy("app").await.expect(Status::Active);
    let quiet = check_drift(&site).await.expect(Status::NoDrift);
    assert!(quiet.heard.contains(&"No drift detected".to_owned()), "{:?}", quiet.heard);

    let patch = r#"{"data":{"key":"by hand"}}"#;
    site.kubectl(&["patch", "configmap/a", "--type=merge", "-p", patch]);
    let drifted = check_drift(&site).await.expect(Status::Drifted);
    assert!(drifted.heard.contains(&"Drift detected".to_owned()), "{:?}", drifted.heard);
    assert_eq!(drifted.changes(), [("a".to_owned(), ChangeType::Modified)]);
    let text = drifted.plan.expect("the difference").text;
    assert!(text.contains("by hand"), "{text}");
    assert_eq!(site.field("configmap/a", ".data.key"), "by hand", "nothing is written");

    site.deploy("app").await.expect(Status::Active);
    assert_eq!(site.field("configmap/a", ".data.key"), "1");
    check_drift(&site).await.expect(Status::NoDrift);
}

/// A clock that is where it should be as soon as somebody waits.
struct Jumping(Mutex<Timestamp>);

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("no panic holds it")
    }

    async fn sleep(&self, duration: Duration) {
        *self.0.lock().expect("no panic holds it") += duration;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_35_a_schedule_finds_an_edit() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    let build = site.build("app").await;
    site.deploy("app").await.expect(Status::Active);
    let patch = r#"{"data":{"key":"by hand"}}"#;
    site.kubectl(&["patch", "configmap/a", "--type=merge", "-p", patch]);

    let clock = Jumping(Mutex::new("2026-01-01T08:00:01Z".parse().expect("a time")));
    let mut schedules = Schedules::new("prod");
    schedules.set("app", "30 * * * *", build.build_id, clock.now());
    let hour = Duration::from_hours(1);
    assert!(schedules.wait(&clock, hour / 6).await.is_empty(), "it is ten past eight");
    assert_eq!(schedules.wait(&clock, hour).await, ["app"]);
    assert_eq!(clock.now().to_string(), "2026-01-01T08:30:00Z");
    check_drift(&site).await.expect(Status::Drifted);
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_measured_against_what_is_deployed_not_against_the_last_build() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    let deployed = site.build_and_deploy("app").await.expect(Status::Active);
    site.set_inline("app", &config_map("a", "2"));
    site.build("app").await;
    let quiet = check_drift(&site).await.expect(Status::NoDrift);
    assert_eq!(quiet.outcome.artifact, deployed.outcome.artifact);
}
