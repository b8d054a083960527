//! The definitions say what Flux's say.

use std::process::Command;

use flumen_api::{
    ExternalArtifact, GitRepository, Kind, Kustomization, OciRepository, definitions,
};
use serde_json::Value;

fn parsed() -> Vec<Value> {
    definitions().iter().map(|text| serde_json::from_str(text).expect("JSON")).collect()
}

#[test]
fn there_is_one_for_each_kind() {
    let names = parsed().into_iter().map(|definition| definition["metadata"]["name"].clone());
    let name = |plural, group| Value::from(format!("{plural}.{group}"));
    let expected = [
        name(Kustomization::PLURAL, Kustomization::GROUP),
        name(GitRepository::PLURAL, GitRepository::GROUP),
        name(OciRepository::PLURAL, OciRepository::GROUP),
        name(ExternalArtifact::PLURAL, ExternalArtifact::GROUP),
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn every_field_is_described() {
    fn check(schema: &Value, path: &str) {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            let description = field["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{path} has no description");
            check(field, &path);
            check(&field["items"], &path);
        }
    }
    for definition in parsed() {
        let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        for part in ["spec", "status"] {
            check(&schema["properties"][part], part);
        }
    }
}

/// What ours say beyond Flux's.
const ADDED: [&str; 3] =
    ["v1 spec.dependsOn[].apiVersion", "v1 spec.dependsOn[].kind", "v1 spec.dependsOn[].ready"];

#[test]
fn nothing_of_flux_is_missing_or_different() {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("Flux's definitions", "no `../shared` beside the checkout");
        return;
    };
    let crds = flumen_testkit::repository_root().join("crates/flumen-api/crds");
    let mut command = Command::new("python3");
    command.arg(shared.join("corpus/compare-crds")).arg("--json").arg(crds);
    for kind in
        [Kustomization::KIND, GitRepository::KIND, OciRepository::KIND, ExternalArtifact::KIND]
    {
        command.args(["--kind", kind]);
    }
    let Ok(output) = command.output() else {
        flumen_testkit::skip("Flux's definitions", "their comparison needs python3");
        return;
    };
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let kinds = report["kinds"].as_array().expect("kinds");
    assert_eq!(kinds.len(), 4);
    let found: Vec<(&str, &str)> = kinds
        .iter()
        .flat_map(|kind| kind["diffs"].as_array().into_iter().flatten())
        .map(|diff| (diff["what"].as_str().unwrap_or(""), diff["where"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(found, ADDED.map(|field| ("extra", field)));
}
