//! Recorded refusals: the same causes in the same words.

use flumen_fields::FieldError;
use flumen_kinds::{
    Media, Target, convert, decode, decode_value, default, prepare_create, prepare_update,
    stored_version, tighten, validate_create, validate_update,
};
use flumen_schema::api::{Api, ApiKind};
use flumen_testkit::{shared_dir, skip};
use serde_json::{Value, json};

const UID: &str = "7f3c";
const NOW: &str = "2026-01-02T03:04:05Z";
/// Refusals of other parts of the server, which know more than the object.
const ELSEWHERE: [&str; 5] = [
    "validation/apply/",
    "validation/fields/",
    "validation/namespace/",
    "validation/service/cluster-ip-range",
    "validation/service/family",
];

#[test]
fn recorded_objects_are_refused_for_the_same_causes() {
    let Some(dir) = shared_dir() else { return skip("recorded refusals", "there is no corpus") };
    let text = std::fs::read_to_string(dir.join("corpus/kubernetes/validation.jsonl"));
    let text = text.expect("the corpus is readable").replace("${ID}", "id").replace("<uid#2>", UID);
    let (mut count, mut failed) = (0, Vec::new());
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let name = case["name"].as_str().unwrap_or_default();
        if ELSEWHERE.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let Some(outcome) = check(&case) else { continue };
        count += 1;
        if let Err(problem) = outcome {
            failed.push(format!("{name}: {problem}"));
        }
    }
    assert!(count > 150, "only {count} cases were found");
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}

/// Nothing if the case is not about validation of a built-in kind.
fn check(case: &Value) -> Option<Result<(), String>> {
    let steps = case["steps"].as_array()?;
    let last = steps.last()?;
    let expected = &last["expect"];
    let status = expected["status"].as_i64()?;
    let causes = expected["body"]["details"]["causes"].as_array();
    let refused = status == 422 && causes.is_some();
    if !refused && !matches!(status, 200 | 201) {
        return None;
    }
    let errors = match last["method"].as_str()? {
        "POST" => {
            let (kind, object) = created(last)?;
            validate_create(kind, &object)
        }
        "PATCH" => {
            let (kind, old) = created(&steps[steps.len() - 2])?;
            let kind = stored_version(kind);
            let mut new = old.clone();
            merge(&mut new, last.get("body")?);
            let mut new = decode_value(&new, kind.object).ok()?.object;
            default(&mut new, kind);
            tighten(&mut new, kind);
            prepare_update(kind, &mut new, &old);
            validate_update(kind, &new, &old)
        }
        _ => return None,
    };
    let message = expected["body"]["message"].as_str().unwrap_or_default();
    Some(compare(&errors, causes.filter(|_| refused), message))
}

fn compare(
    errors: &[FieldError],
    causes: Option<&Vec<Value>>,
    message: &str,
) -> Result<(), String> {
    let found = FieldError::summary(errors);
    let Some(causes) = causes else {
        return if errors.is_empty() { Ok(()) } else { Err(format!("refused: {found}")) };
    };
    let wanted = message.split_once(" is invalid: ").map_or(message, |(_, rest)| rest);
    if wanted != found {
        return Err(format!("\n  wanted {wanted}\n  found  {found}"));
    }
    let mut reasons: Vec<Value> = errors
        .iter()
        .map(|e| json!({"reason": e.kind.reason(), "message": e.body(), "field": e.field}))
        .collect();
    reasons.sort_by_key(ToString::to_string);
    let mut causes = causes.clone();
    causes.sort_by_key(ToString::to_string);
    if reasons == causes { Ok(()) } else { Err(format!("causes {causes:?}, found {reasons:?}")) }
}

/// An object as it is when the server looks whether it may be created.
pub(crate) fn created(step: &Value) -> Option<(&'static ApiKind, Value)> {
    let (kind, namespace) = by_path(step["path"].as_str()?)?;
    let body = expanded(step.get("body")?).to_string();
    let decoded = decode(body.as_bytes(), Media::Json, &Target::from(kind)).ok()?;
    let mut object = decoded.object;
    default(&mut object, kind);
    tighten(&mut object, kind);
    let stored = stored_version(kind);
    object = convert(object, kind, stored);
    let meta = &mut object["metadata"];
    meta["uid"] = UID.into();
    meta["creationTimestamp"] = NOW.into();
    if let Some(namespace) = namespace {
        meta["namespace"] = namespace.into();
    } else if let Value::Object(meta) = meta {
        meta.remove("namespace");
    }
    if kind.kind == "Service"
        && object["spec"]["clusterIP"].is_null()
        && object["spec"]["type"] != "ExternalName"
    {
        object["spec"]["clusterIP"] = "10.0.0.7".into();
        object["spec"]["clusterIPs"] = json!(["10.0.0.7"]);
    }
    prepare_create(stored, &mut object, NOW);
    Some((kind, object))
}

fn by_path(path: &str) -> Option<(&'static ApiKind, Option<&str>)> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let (namespace, plural) = match rest {
        [plural] => (None, plural),
        ["namespaces", namespace, plural] => (Some(*namespace), plural),
        _ => return None,
    };
    let mut kinds = Api::get().kinds().iter();
    let kind = kinds.find(|k| k.group == group && k.version == version && k.plural == *plural)?;
    Some((kind, namespace))
}

/// Repeated texts are written short in the corpus.
fn expanded(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            if let Some(repeat) = fields.get("$repeat") {
                let count = usize::try_from(repeat[1].as_u64().unwrap_or_default());
                let text = repeat[0].as_str().unwrap_or_default();
                return text.repeat(count.unwrap_or_default()).into();
            }
            fields.iter().map(|(key, value)| (key.clone(), expanded(value))).collect()
        }
        Value::Array(items) => items.iter().map(expanded).collect(),
        other => other.clone(),
    }
}

fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            if let Value::Object(fields) = object {
                fields.remove(key);
            }
        } else {
            merge(&mut object[key], value);
        }
    }
}
