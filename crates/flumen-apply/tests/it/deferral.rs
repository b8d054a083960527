//! Objects whose kind comes late wait by themselves.

use std::time::Duration;

use flumen_apply::Error;
use flumen_testkit::KubeRequest;

use crate::fixture::{Fixture, config_map};

fn definition(plural: &str, kind: &str) -> String {
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.late.example.com}}
spec:
  group: late.example.com
  scope: Namespaced
  names: {{plural: {plural}, singular: {plural}, kind: {kind}}}
  versions:
    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}
"
    )
}

fn resource(kind: &str) -> String {
    format!("---\napiVersion: late.example.com/v1\nkind: {kind}\nmetadata: {{name: w}}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_definition_is_waited_for() {
    let Some(fixture) = Fixture::new().await else { return };
    let yaml = format!("{}{}", config_map("c", "1"), resource("Late"));
    let (outcome, ()) = tokio::join!(fixture.apply(&yaml), async {
        // Something else delivers the definition once the rest has been applied.
        let writes_the_rest =
            |request: &KubeRequest| request.is_write() && request.name() == Some("c");
        fixture.until_requested("the rest is applied", writes_the_rest).await;
        fixture.kubectl_apply(&definition("lates", "Late"));
    });
    let outcome = outcome.expect("applied");
    let done: Vec<String> = outcome.changes.iter().map(|change| change.id.to_string()).collect();
    let namespace = &fixture.namespace;
    assert_eq!(done, [format!("ConfigMap/{namespace}/c"), format!("Late/{namespace}/w")]);
    assert_eq!(outcome.inventory.len(), 2);
    assert_eq!(fixture.kubectl(&["get", "lates", "-o", "name"]), "late.late.example.com/w");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_never_comes_is_named_and_the_rest_is_tracked() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.timeout = Duration::from_secs(2);
    let yaml = format!("{}{}", config_map("c", "1"), resource("Never"));
    let error = fixture.apply(&yaml).await.expect_err("never served");
    assert!(matches!(error, Error::KindsNotServed { .. }), "{error}");
    let text = error.to_string();
    // Nobody knows yet whether the kind has namespaces.
    assert!(text.contains("Never/w waits for"), "{text}");
    assert!(text.contains("kind Never of late.example.com/v1"), "{text}");
    assert_eq!(fixture.owned("configmaps"), "c");
    let inventory = fixture.kubectl(&["get", "cm", "inv-app", "-o", "jsonpath={.data.resources}"]);
    assert!(inventory.contains(&format!("{}_c__ConfigMap", fixture.namespace)), "{inventory}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strict_kinds_apply_nothing() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.strict_kinds = true;
    let yaml = format!("{}{}", config_map("c", "1"), resource("Never"));
    let error = fixture.apply(&yaml).await.expect_err("not served");
    let expected =
        "Never/w dry-run failed: no matches for kind \"Never\" in version \"late.example.com/v1\"";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(fixture.owned("configmaps"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_of_other_kinds_are_no_reason_to_ask_again() {
    let Some(mut fixture) = Fixture::new().await else { return };
    let others =
        (0..20).map(|number| definition(&format!("others{number}"), &format!("Other{number}")));
    fixture.kubectl_apply(&others.collect::<Vec<_>>().join("---"));
    fixture.options.timeout = Duration::from_secs(3);
    fixture.apply(&resource("Never")).await.expect_err("never served");
    let asked = fixture.proxy.count(|request| request.path == "/apis");
    assert!(asked < 10, "{asked} times, while 20 others were there");
}
