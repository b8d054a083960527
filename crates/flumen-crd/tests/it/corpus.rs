//! What a real API server said about definitions and objects.

use std::{collections::BTreeMap, path::PathBuf};

use flumen_crd::{Served, validate_create};
use flumen_fields::FieldError;
use flumen_kinds::{Media, Target};
use flumen_schema::api::Api;
use serde_json::{Value, json};

fn scenarios() -> Option<Vec<Value>> {
    let file = flumen_testkit::shared_dir()?.join("corpus/kubernetes/transcripts/crd.jsonl");
    Some(read(&file))
}

#[expect(clippy::disallowed_methods, reason = "a test may read its corpus")]
fn read(file: &PathBuf) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the scenarios");
    text.lines().map(|line| serde_json::from_str(line).expect("a scenario")).collect()
}

/// Causes as the corpus has them: sorted.
fn causes(errors: &[FieldError]) -> Vec<Value> {
    let cause = |error: &FieldError| json!({"field": error.field, "message": error.body(), "reason": error.kind.reason()});
    let mut causes: Vec<_> = errors.iter().map(cause).collect();
    causes.sort_by_key(Value::to_string);
    causes
}

fn expected_causes(expect: &Value) -> Vec<Value> {
    let mut causes = expect["body"]["details"]["causes"].as_array().cloned().unwrap_or_default();
    causes.sort_by_key(Value::to_string);
    causes
}

/// A definition as the server sees it: with defaults and prepared.
fn definition(body: &Value) -> Value {
    let kind = Api::get()
        .kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
        .expect("a built-in kind");
    let bytes = body.to_string();
    let decoded = flumen_kinds::decode(bytes.as_bytes(), Media::Json, &Target::from(kind));
    let mut object = decoded.expect("a definition").object;
    flumen_kinds::default(&mut object, kind);
    flumen_crd::prepare_create(&mut object);
    object
}

/// Names have placeholders in the corpus that no name may have.
fn with_id(value: &Value) -> Value {
    let text = value.to_string().replace("${ID}", "0");
    serde_json::from_str(&text).expect("still JSON")
}

#[test]
fn definitions_are_refused_in_the_words_of_the_server() {
    let Some(scenarios) = scenarios() else {
        flumen_testkit::skip("definitions of the corpus", "there is no corpus here");
        return;
    };
    let mut failed = BTreeMap::new();
    let mut count = 0;
    for scenario in scenarios.iter().map(with_id) {
        let name = scenario["name"].as_str().unwrap_or_default().to_owned();
        for step in scenario["steps"].as_array().into_iter().flatten() {
            let is_definition = step["body"]["kind"] == "CustomResourceDefinition";
            if !is_definition || step["method"] != "POST" {
                continue;
            }
            count += 1;
            let object = definition(&step["body"]);
            let mut found = causes(&validate_create(&object));
            let mut expected = expected_causes(&step["expect"]);
            // The metadata of built-in kinds is checked elsewhere.
            let is_name = |cause: &Value| {
                cause["message"].as_str().is_some_and(|it| it.contains("RFC 1123 subdomain"))
                    && cause["field"] == "metadata.name"
            };
            found.retain(|cause| !is_name(cause));
            expected.retain(|cause| !is_name(cause));
            if found != expected {
                failed.insert(name.clone(), (found, expected));
            }
        }
    }
    let told: Vec<_> = failed
        .iter()
        .map(|(name, (found, expected))| {
            format!("{name}: {} instead of {}", json!(found), json!(expected))
        })
        .collect();
    assert!(count > 50, "only {count} definitions were found");
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn objects_are_pruned_and_refused_as_by_the_server() {
    let Some(scenarios) = scenarios() else {
        flumen_testkit::skip("objects of the corpus", "there is no corpus here");
        return;
    };
    let mut failed = Vec::new();
    let mut count = 0;
    for scenario in scenarios.iter().map(with_id) {
        let name = scenario["name"].as_str().unwrap_or_default();
        let mut served: Option<Served> = None;
        for step in scenario["steps"].as_array().into_iter().flatten() {
            let body = &step["body"];
            if body["kind"] == "CustomResourceDefinition" && step["method"] == "POST" {
                served = Some(Served::new(&definition(body)));
                continue;
            }
            let Some(served) = &served else { continue };
            let is_create = step["method"] == "POST" && body["kind"] == served.kind.as_str();
            let status = step["expect"]["status"].as_u64().unwrap_or(0);
            let version = body["apiVersion"].as_str().and_then(|it| it.split_once('/'));
            let version = version.and_then(|(_, version)| served.version(version));
            let (true, true, Some(version)) = (is_create, matches!(status, 201 | 422), version)
            else {
                continue;
            };
            count += 1;
            let mut object = body.clone();
            // The path of a request decides on the namespace.
            let namespace = if served.is_namespaced { "t-0".into() } else { Value::Null };
            object["metadata"]["namespace"] = namespace;
            if object["metadata"]["name"].is_null() {
                object["metadata"]["name"] = "generated".into();
            }
            version.admit(&mut object).expect("an object");
            version.default(&mut object);
            version.prepare_create(&mut object);
            let found = causes(&version.validate_create(&object).errors);
            let expected = expected_causes(&step["expect"]);
            if found != expected {
                failed.push(format!("{name}: {} instead of {}", json!(found), json!(expected)));
            }
            let stored = &step["expect"]["body"];
            for part in ["spec", "status"] {
                if status == 201 && stored.is_object() && object[part] != stored[part] {
                    failed.push(format!("{name}: {} instead of {}", object[part], stored[part]));
                }
            }
        }
    }
    assert!(count > 50, "only {count} objects");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
