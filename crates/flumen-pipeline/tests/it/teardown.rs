//! Teardowns on a real API server.

use flumen_diff::{ChangeType, PlanOperation};
use flumen_pipeline::deploy::{Operation, Status, Verdict};

use crate::site::{Deployed, TestSite, config_map};

async fn tear_down(site: &TestSite, verdict: Option<Verdict>) -> Deployed {
    site.run("app", Operation::Teardown, verdict, None).await
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_33_a_teardown_lists_everything_and_removes_it_when_approved() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &(config_map("a", "1") + &config_map("b", "1")));
    site.build_and_deploy("app").await.expect(Status::Active);
    let planned = tear_down(&site, None).await.expect(Status::PendingApproval);
    let mut changes = planned.changes();
    changes.sort_by(|a, b| a.0.cmp(&b.0));
    let removed = |name: &str| (name.to_owned(), ChangeType::Removed);
    assert_eq!(changes, [removed("a"), removed("b")]);
    assert_eq!(planned.plan.expect("a plan").document.op, PlanOperation::Delete);
    assert!(site.exists("configmap/a"));

    tear_down(&site, Some(Verdict::Approve)).await.expect(Status::Inactive);
    assert!(!site.exists("configmap/a") && !site.exists("configmap/b"));
    let again = tear_down(&site, None).await.expect(Status::Noop);
    assert!(again.heard.contains(&"nothing to teardown".to_owned()), "{:?}", again.heard);
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_34_what_is_gone_already_is_no_failure() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &(config_map("a", "1") + &config_map("b", "1")));
    site.build_and_deploy("app").await.expect(Status::Active);
    site.kubectl(&["delete", "configmap/a"]);
    tear_down(&site, Some(Verdict::Approve)).await.expect(Status::Inactive);
    assert!(!site.exists("configmap/b"));

    site.deploy("app").await.expect(Status::Active);
    site.kubectl(&["delete", "configmap/a", "configmap/b"]);
    tear_down(&site, None).await.expect(Status::Inactive);
    tear_down(&site, None).await.expect(Status::Noop);
}
