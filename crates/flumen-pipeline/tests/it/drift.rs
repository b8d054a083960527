//! Drift of what is deployed on a real API server.

use flumen_diff::ChangeType;
use flumen_pipeline::deploy::{Operation, Status};

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
