//! Deploys to a real API server: plans, approvals, applies, rollbacks.

use flumen_diff::ChangeType;
use flumen_oci::{
    Target,
    copy::{CopyOptions, copy},
};
use flumen_pipeline::{
    Error,
    deploy::{Ended, Operation, Status, Verdict},
};

use crate::{
    TestRegistry,
    site::{TestSite, config_map},
};

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.example.com/web:1}]}
---
";

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_11_a_build_is_deployed_as_it_was_when_its_tag_has_moved() {
    let Some(site) = TestSite::new().await else { return };
    let registry = TestRegistry::start().await;
    // The artifact that somebody else publishes is made by a component here.
    site.set_inline("other", &config_map("published", "first"));
    publish(&site, &registry).await;
    let url = registry.reference("published");
    site.set_component("app", &format!("[oci_artifact]\nurl = \"{url}\"\ntag = \"stable\"\n"));
    let old = site.build("app").await;
    site.set_inline("other", &config_map("published", "second"));
    publish(&site, &registry).await;

    let deployed = site.deploy("app").await.expect(Status::Active);
    assert_eq!(deployed.outcome.artifact, Some(old.digest));
    assert_eq!(site.field("configmap/published", ".data.key"), "first");
}

/// Builds `other` and moves the tag `stable` to it.
async fn publish(site: &TestSite, registry: &TestRegistry) {
    let build = site.build("other").await;
    let from = site.project.state().store().expect("a store");
    let to = registry.repository("published");
    let target = Target::Digest(build.digest);
    copy(&from, &target, &to, Some("stable"), &CopyOptions::default()).await.expect("published");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_21_a_first_plan_adds_everything() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &(config_map("a", "1") + &config_map("b", "2")));
    site.build("app").await;
    let planned = site.run("app", Operation::Deploy, None, None).await;
    let added = |name: &str| (name.to_owned(), ChangeType::Added);
    assert_eq!(planned.changes(), [added("a"), added("b")]);
    let plan = planned.plan.expect("a plan");
    let lines: Vec<&str> = plan.document.k8s_content_diff[0]
        .entries
        .iter()
        .filter_map(|entry| entry.payload.as_deref())
        .map(str::trim)
        .collect();
    for line in ["apiVersion: v1", "kind: ConfigMap", "name: a", "key: \"1\""] {
        assert!(lines.contains(&line), "{line} in {lines:?}");
    }
    assert!(!site.exists("configmap/a"), "a plan writes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_22_an_unchanged_redeploy_writes_nothing() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    site.build_and_deploy("app").await.expect(Status::Active);
    let versions = |site: &TestSite| {
        site.kubectl(&["get", "configmaps", "-o", "jsonpath={.items[*].metadata.resourceVersion}"])
    };
    let before = versions(&site);
    let again = site.run("app", Operation::Deploy, None, None).await.expect(Status::AutoSkipped);
    assert!(again.plan.is_none());
    assert_eq!(versions(&site), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_23_a_changed_key_is_two_lines() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &(config_map("a", "one") + &config_map("b", "same")));
    site.build_and_deploy("app").await.expect(Status::Active);
    site.set_inline("app", &(config_map("a", "two") + &config_map("b", "same")));
    let deployed = site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(deployed.changes(), [("a".to_owned(), ChangeType::Modified)]);
    let plan = deployed.plan.expect("a plan");
    let entries = plan.document.k8s_content_diff[0].entries.iter();
    let entries: Vec<_> = entries
        .map(|entry| (entry.path.as_str(), entry.change_type, entry.payload.as_deref()))
        .collect();
    assert_eq!(
        entries,
        [
            ("data.key", ChangeType::Removed, Some("one")),
            ("data.key", ChangeType::Added, Some("two"))
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_24_status_and_versions_are_no_change() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", DEPLOYMENT);
    site.build_and_deploy("app").await.expect(Status::Active);
    let before = site.field("deployment/web", ".metadata.resourceVersion");
    let patch = r#"{"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2,
        "updatedReplicas":2,"availableReplicas":2,
        "conditions":[{"type":"Available","status":"True"},
        {"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}"#;
    site.kubectl(&["patch", "deployment/web", "--subresource=status", "--type=merge", "-p", patch]);
    assert_ne!(site.field("deployment/web", ".metadata.resourceVersion"), before);
    let again = site.run("app", Operation::Deploy, None, None).await;
    assert!(again.expect(Status::AutoSkipped).plan.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_25_a_forbidden_object_is_an_error_in_the_plan() {
    let Some(admin) = TestSite::new().await else { return };
    let user = format!("clerk-{}", admin.namespace);
    let file = admin.cluster.user_kubeconfig(&user);
    let site = TestSite::on(admin.cluster, file).await;
    let rights = ["create", "role", "clerk", "--verb=*", "--resource=configmaps"];
    site.kubectl(&rights);
    site.kubectl(&["create", "rolebinding", "clerk", "--role=clerk", &format!("--user={user}")]);
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: canary-7}\n---\n";
    site.set_inline("app", &(config_map("a", "1") + secret + &config_map("b", "1")));
    site.build("app").await;
    let planned = site.run("app", Operation::Deploy, None, None).await;
    let mut changes = planned.changes();
    changes.sort_by(|a, b| a.0.cmp(&b.0));
    let change = |name: &str, change_type| (name.to_owned(), change_type);
    let expected = [
        change("a", ChangeType::Added),
        change("b", ChangeType::Added),
        change("s", ChangeType::Error),
    ];
    assert_eq!(changes, expected);
    let plan = planned.plan.expect("a plan");
    assert!(plan.text.contains("forbidden"), "{}", plan.text);
    let shown = format!("{plan:?} {:?}", planned.heard);
    assert!(!shown.contains("canary-7") && !shown.contains("Y2FuYXJ5LTc"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_26_nothing_is_applied_after_a_denial() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    site.build("app").await;
    for verdict in [Verdict::Deny, Verdict::DenyAndContinue] {
        let denied = site.run("app", Operation::Deploy, Some(verdict), None).await;
        denied.expect(Status::ApprovalDenied);
        assert!(!site.exists("configmap/a"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_27_what_is_approved_is_live_and_says_whose_it_is() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &config_map("a", "1"));
    site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(site.field("configmap/a", ".data.key"), "1");
    let label =
        |name: &str| site.field("configmap/a", &format!(".metadata.labels.flumen\\.dev/{name}"));
    assert_eq!(label("install"), "prod");
    assert_eq!(label("component"), "app");
    let history = site.recorded("app").await.history;
    assert_eq!((history.len(), history[0].by.as_str()), (1, "somebody"));
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_28_objects_go_to_the_namespace_that_they_or_the_component_name() {
    let Some(site) = TestSite::new().await else { return };
    let other = tokio::task::block_in_place(|| site.cluster.fresh_namespace());
    let elsewhere =
        config_map("b", "1").replace("name: b", &format!("name: b\n  namespace: {other}"));
    site.set_inline("app", &(config_map("a", "1") + &elsewhere));
    site.build_and_deploy("app").await.expect(Status::Active);
    assert!(site.exists("configmap/a") && !site.exists("configmap/b"));
    site.kubectl(&["get", "configmap/b", "--namespace", &other]);
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_30_what_is_dropped_is_pruned_and_stands_in_the_plan() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("app", &(config_map("a", "1") + &config_map("b", "1")));
    site.build_and_deploy("app").await.expect(Status::Active);
    site.set_inline("app", &config_map("a", "1"));
    let deployed = site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(deployed.changes(), [("b".to_owned(), ChangeType::Removed)]);
    assert!(site.exists("configmap/a") && !site.exists("configmap/b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_31_a_definition_and_its_objects_come_in_one_deploy() {
    let Some(site) = TestSite::new().await else { return };
    let group = format!("{}.example.com", site.namespace);
    let definition = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
         metadata: {{name: gadgets.{group}}}\nspec:\n  group: {group}\n  scope: Namespaced\n  \
         names: {{kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}}\n  \
         versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n---\n"
    );
    let gadget = format!(
        "apiVersion: {group}/v1\nkind: Gadget\nmetadata: {{name: one}}\nspec: {{size: 3}}\n---\n"
    );
    site.set_inline("app", &(gadget + &definition));
    site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(site.field(&format!("gadgets.{group}/one"), ".spec.size"), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_32_an_error_names_the_object_and_a_retry_completes_the_rest() {
    let Some(site) = TestSite::new().await else { return };
    let documents =
        |third: &str| ["a", "b", third, "d", "e"].map(|name| config_map(name, "1")).concat();
    site.set_inline("app", &documents("Not-A-Name"));
    let failed = site.build_and_deploy("app").await.expect(Status::Error);
    let Ended::Failed(error) = &failed.outcome.ended else { panic!("{:?}", failed.outcome) };
    assert!(error.to_string().contains("Not-A-Name"), "{error}");
    site.set_inline("app", &documents("c"));
    site.build_and_deploy("app").await.expect(Status::Active);
    for name in ["a", "b", "c", "d", "e"] {
        assert!(site.exists(&format!("configmap/{name}")), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_40_a_rollback_brings_back_a_digest_without_a_build() {
    let Some(site) = TestSite::new().await else { return };
    let mut digests = Vec::new();
    for value in ["one", "two", "three"] {
        site.set_inline("app", &config_map("a", value));
        let deployed = site.build_and_deploy("app").await.expect(Status::Active);
        digests.extend(deployed.outcome.artifact);
    }
    let history = site.recorded("app").await.history;
    assert_eq!(history.len(), 3);
    let first = history.last().expect("the oldest");
    // What would be built now is something else.
    site.set_inline("app", "this is no manifest\n");
    let approve = Some(Verdict::Approve);
    let back = site.run("app", Operation::Deploy, approve, Some(first)).await;
    assert_eq!(back.expect(Status::Active).outcome.artifact.as_ref(), digests.first());
    assert_eq!(site.field("configmap/a", ".data.key"), "one");
    let history = site.recorded("app").await.history;
    assert_eq!((history.len(), history[0].rolled_back_to), (4, Some(first.number)));
}

#[tokio::test(flavor = "multi_thread")]
async fn components_refer_to_what_is_deployed_of_others() {
    let Some(site) = TestSite::new().await else { return };
    site.set_inline("web", &config_map("web", "1"));
    let first = site.build("web").await;
    let reference = "{{ .install.components.web.outputs.image.tag }}";
    site.set_inline("app", &config_map("a", reference));
    // Before anything is deployed, the last build is what there is.
    site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(site.field("configmap/a", ".data.key"), first.tag);
    site.deploy("web").await.expect(Status::Active);

    site.set_inline("web", &config_map("web", "2"));
    let second = site.build("web").await;
    let quiet = site.run("app", Operation::CheckDrift, None, None).await;
    quiet.expect(Status::NoDrift);
    site.deploy("web").await.expect(Status::Active);
    site.deploy("app").await.expect(Status::Active);
    assert_eq!(site.field("configmap/a", ".data.key"), second.tag);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_install_deploys_from_its_own_registry() {
    let Some(mut site) = TestSite::new().await else { return };
    let registry = TestRegistry::start().await;
    site.set_registry(&registry);
    site.set_inline("app", &config_map("a", "1"));
    let build = site.build("app").await;
    site.deploy("app").await.expect(Status::Active);
    let target = Target::Tag(build.tag.clone());
    let synced = registry.repository("prod").resolve(&target).await.expect("it was copied");
    assert_eq!(synced.digest, build.digest);
    let history = site.recorded("app").await.history;
    let expected = format!("{}:{}@{}", registry.reference("prod"), build.tag, build.digest);
    assert_eq!(history[0].artifact, expected);

    // A registry that has lost it, and so has nothing to bring back.
    let empty = TestRegistry::start().await;
    site.set_registry(&empty);
    let back = site.run("app", Operation::Deploy, None, Some(&history[0])).await;
    let Ended::Failed(error) = back.expect(Status::Error).outcome.ended else { panic!("no error") };
    assert!(matches!(error, Error::ArtifactGone { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_41_an_unsigned_artifact_is_refused_before_planning() {
    let Some(mut site) = TestSite::new().await else { return };
    let key = site.enforce_signatures();
    site.set_inline("app", &config_map("a", "1"));
    let build = site.build("app").await;
    let refused = site.deploy("app").await.expect(Status::Error);
    assert!(matches!(refused.outcome.ended, Ended::Failed(Error::Registry(_))));
    assert!(!refused.heard.contains(&"planning".to_owned()), "{:?}", refused.heard);
    site.sign(&build, &key).await;
    site.deploy("app").await.expect(Status::Active);
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_42_replicas_belong_to_the_autoscaler() {
    let Some(site) = TestSite::new().await else { return };
    let autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n\
                      metadata: {name: web}\nspec:\n  maxReplicas: 9\n  \
                      scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n---\n";
    site.set_inline("app", &format!("{DEPLOYMENT}{autoscaler}"));
    site.build_and_deploy("app").await.expect(Status::Active);
    site.kubectl(&["scale", "deployment/web", "--replicas=7"]);
    let drift = site.run("app", Operation::CheckDrift, None, None).await;
    drift.expect(Status::NoDrift);
    let changed = DEPLOYMENT.replace("web:1", "web:2");
    site.set_inline("app", &format!("{changed}{autoscaler}"));
    site.build_and_deploy("app").await.expect(Status::Active);
    assert_eq!(site.field("deployment/web", ".spec.replicas"), "7");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deploy_that_waits_for_health_looks_again_after_its_window() {
    let Some(site) = TestSite::new().await else { return };
    let manifest = config_map("calm", "1");
    site.set_component(
        "app",
        &format!(
            "manifest = '''\n{manifest}'''\n[health]\nblock_deploy = true\nstabilization_window = \"1s\"\n"
        ),
    );
    site.build_and_deploy("app").await.expect(Status::Active);
}
