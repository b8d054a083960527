//! Objects arrive in order, whole stages at a time.

use std::time::Instant;

use flumen_apply::Error;
use flumen_testkit::{KubeRequest, PATIENCE};

use crate::fixture::{Fixture, config_map};

const WIDGETS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NAME.stages.example.com}
spec:
  group: stages.example.com
  scope: Namespaced
  names: {plural: NAME, singular: NAME, kind: KIND}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
---
apiVersion: stages.example.com/v1
kind: KIND
metadata: {name: w}
spec: {size: 3}
";

fn widgets(name: &str, kind: &str) -> String {
    WIDGETS.replace("NAME", name).replace("KIND", kind)
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_31_a_definition_and_its_objects_need_one_run() {
    let Some(fixture) = Fixture::new().await else { return };
    let yaml = widgets("widgets", "Widget");
    let planned = fixture.plan(&yaml).await;
    assert!(planned.errors().is_empty(), "the definition arrives with it: {:?}", planned.errors());
    let done = fixture.applied(&yaml).await;
    assert_eq!(
        done,
        "CustomResourceDefinition/widgets.stages.example.com created, Widget/w created"
    );
    assert_eq!(fixture.kubectl(&["get", "widgets", "w", "-o", "jsonpath={.spec.size}"]), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_refusal_stops_the_whole_stage_and_all_are_named() {
    let Some(fixture) = Fixture::new().await else { return };
    let bad = |name: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{ports: [{{port: 0}}]}}\n"
        )
    };
    let yaml = format!("{}{}{}", config_map("good", "1"), bad("first"), bad("second"));
    let error = fixture.apply(&yaml).await.expect_err("two are refused");
    let Error::Rejected(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.len(), 2);
    let text = error.to_string();
    for name in ["first", "second"] {
        let subject = format!("Service/{}/{name} dry-run failed (Invalid)", fixture.namespace);
        assert!(text.contains(&subject), "{text}");
    }
    assert_eq!(fixture.owned("configmaps"), "", "nothing of the stage is there");
    assert_eq!(fixture.proxy.count(KubeRequest::is_write), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn those_that_pass_are_applied_when_asked_to_keep_going() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.keep_going = true;
    let bad =
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 0}]}\n";
    let yaml = format!("{}{bad}", config_map("good", "1"));
    let error = fixture.apply(&yaml).await.expect_err("one is refused");
    assert!(matches!(&error, Error::ApplyFailed(errors) if errors.len() == 1), "{error}");
    assert_eq!(fixture.owned("configmaps"), "good");
}

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_28_objects_land_where_they_belong() {
    let Some(fixture) = Fixture::new().await else { return };
    let other = tokio::task::block_in_place(|| fixture.cluster.fresh_namespace());
    let elsewhere = config_map("there", "1")
        .replace("{name: there}", &format!("{{name: there, namespace: {other}}}"));
    let cluster_wide = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: stages-role, namespace: nonsense}\nrules: []\n";
    let outcome = fixture
        .apply(&format!("{}{elsewhere}{cluster_wide}", config_map("here", "1")))
        .await
        .expect("applied");
    let places: Vec<String> = outcome.changes.iter().map(|change| change.id.to_string()).collect();
    let expected = [
        "ClusterRole/stages-role".to_owned(),
        format!("ConfigMap/{}/here", fixture.namespace),
        format!("ConfigMap/{other}/there"),
    ];
    assert_eq!(places, expected);
}

const SCALED: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
";

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_42_an_autoscaler_keeps_its_replicas() {
    let Some(fixture) = Fixture::new().await else { return };
    let yaml = SCALED;
    fixture.applied(yaml).await;
    fixture.kubectl(&["scale", "deployment", "web", "--replicas=4"]);
    let done = fixture.applied(yaml).await;
    assert_eq!(done, "Deployment/web unchanged, HorizontalPodAutoscaler/web unchanged");
    let replicas =
        fixture.kubectl(&["get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"]);
    assert_eq!(replicas, "4");
}

#[tokio::test(flavor = "multi_thread")]
async fn as_in_flux_replicas_are_applied_beside_an_autoscaler() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.leave_scaled_replicas = false;
    fixture.applied(SCALED).await;
    let replicas = ["get", "deployment", "web", "-o", "jsonpath={.spec.replicas}"];
    assert_eq!(fixture.kubectl(&replicas), "2");
    fixture.kubectl(&["scale", "deployment", "web", "--replicas=4"]);
    let done = fixture.applied(SCALED).await;
    assert_eq!(done, "HorizontalPodAutoscaler/web unchanged, Deployment/web configured");
    assert_eq!(fixture.kubectl(&replicas), "2");
}

/// Refuses every real write of config maps named `c3` in one namespace; dry runs pass.
const POLICY: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAMESPACE}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
    resourceRules:
      - {apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}
  validations:
    - {expression: \"request.dryRun || object.metadata.name != 'c3'\", message: not today}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAMESPACE}
spec: {policyName: NAMESPACE, validationActions: [Deny]}
";

#[tokio::test(flavor = "multi_thread")]
async fn acceptance_32_a_retry_completes_what_an_error_stopped() {
    let Some(fixture) = Fixture::new().await else { return };
    let namespace = &fixture.namespace;
    fixture.kubectl_apply(&POLICY.replace("NAMESPACE", namespace));
    // A policy takes a moment to be heard of.
    let create = ["create", "configmap", "c3", "--namespace", namespace];
    let begin = Instant::now();
    while tokio::task::block_in_place(|| fixture.cluster.kubectl(&create)).succeeded() {
        assert!(begin.elapsed() < PATIENCE, "the policy has no effect");
        fixture.kubectl(&["delete", "configmap", "c3"]);
    }

    let yaml: String = (1..=5).map(|number| config_map(&format!("c{number}"), "1")).collect();
    let error = fixture.apply(&yaml).await.expect_err("one is refused");
    let expected = format!("ConfigMap/{namespace}/c3 apply failed: ");
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert!(error.to_string().contains("not today"), "{error}");

    fixture.kubectl(&["delete", "validatingadmissionpolicybinding", namespace]);
    let begin = Instant::now();
    while !tokio::task::block_in_place(|| fixture.cluster.kubectl(&create)).succeeded() {
        assert!(begin.elapsed() < PATIENCE, "the policy stays in effect");
    }
    fixture.kubectl(&["delete", "configmap", "c3"]);
    let done = fixture.applied(&yaml).await;
    assert!(done.ends_with("ConfigMap/c3 created"), "{done}");
    assert_eq!(fixture.owned("configmaps"), "c1 c2 c3 c4 c5");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_may_bring_the_namespace_of_its_inventory() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let home = format!("{}-home", fixture.namespace);
    fixture.options.owner.namespace.clone_from(&home);
    fixture.options.default_namespace = Some(home.clone());
    let yaml = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {home}}}\n{}",
        config_map("c", "1")
    );
    assert_eq!(
        fixture.applied(&yaml).await,
        format!("Namespace/{home} created, ConfigMap/c created")
    );
    assert_eq!(
        fixture.applied(&yaml).await,
        format!("Namespace/{home} unchanged, ConfigMap/c unchanged")
    );
}
