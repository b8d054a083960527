//! Manifests with the object that the real server stores.

use flumen_kinds::{Media, Target, convert, decode, default, prepare_create, stored_version};
use flumen_schema::api::{Api, ApiKind};
use flumen_testkit::{shared_dir, skip};
use serde_json::Value;

/// What other parts of the server add: admission, addresses, uids, the current time.
const ADDED: &[(&str, &[&str])] = &[
    ("customresourcedefinitions", &["/metadata/generation"]),
    ("jobs", &["/metadata/labels", "/spec/selector", "/spec/template/metadata"]),
    ("nodes", &["/spec/taints"]),
    ("persistentvolumeclaims", &["/metadata/finalizers"]),
    ("persistentvolumes", &["/metadata/finalizers", "/status/lastPhaseTransitionTime"]),
    (
        "pods",
        &[
            "/spec/preemptionPolicy",
            "/spec/priority",
            "/spec/serviceAccount",
            "/spec/serviceAccountName",
            "/spec/tolerations",
            "/status/conditions",
        ],
    ),
    (
        "services",
        &[
            "/spec/clusterIP",
            "/spec/clusterIPs",
            "/spec/healthCheckNodePort",
            "/spec/ipFamilies",
            "/spec/ipFamilyPolicy",
            "/spec/loadBalancerSourceRanges",
            "/spec/ports/0/nodePort",
            "/spec/ports/1/nodePort",
        ],
    ),
    ("", &["/metadata/creationTimestamp", "/metadata/namespace"]),
];

fn by_path(path: &str) -> Option<&'static ApiKind> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, version) = match parts.as_slice() {
        ["api", version, ..] => ("", *version),
        ["apis", group, version, ..] => (*group, *version),
        _ => return None,
    };
    let plural = parts.last()?;
    let mut kinds = Api::get().kinds().iter();
    kinds.find(|k| k.group == group && k.version == version && k.plural == *plural)
}

#[test]
fn recorded_manifests_become_what_was_stored() {
    let Some(dir) = shared_dir() else { return skip("recorded defaults", "there is no corpus") };
    let text = std::fs::read_to_string(dir.join("corpus/kubernetes/defaults.jsonl"));
    let text = text.expect("the corpus is readable");
    let (mut count, mut failed) = (0, Vec::new());
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        count += 1;
        if let Err(problem) = check(&case) {
            failed.push(format!("{}: {problem}", case["name"]));
        }
    }
    eprintln!("{}", failed.join("\n"));
    assert!(failed.is_empty(), "{} of {count} failed", failed.len());
}

fn check(case: &Value) -> Result<(), String> {
    let path = case["path"].as_str().unwrap_or_default();
    let kind = by_path(path).ok_or_else(|| format!("no kind at {path}"))?;
    let body = case["manifest"].to_string();
    let decoded = decode(body.as_bytes(), Media::Json, &Target::from(kind));
    let mut object = decoded.map_err(|error| error.to_string())?.object;
    default(&mut object, kind);
    let stored = stored_version(kind);
    object = convert(object, kind, stored);
    prepare_create(stored, &mut object, "2000-01-01T00:00:00Z");
    object = convert(object, stored, kind);
    let mut stored = case["stored"].clone();
    let added = ADDED.iter().filter(|(plural, _)| plural.is_empty() || *plural == kind.plural);
    for pointer in added.flat_map(|(_, pointers)| *pointers) {
        remove(&mut object, pointer);
        remove(&mut stored, pointer);
    }
    let mut differences = Vec::new();
    compare(&mut differences, "", &object, &stored);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) }
}

fn remove(object: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
        parent.remove(name);
    }
}

fn compare(found: &mut Vec<String>, path: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = format!("{path}/{key}");
                match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => compare(found, &path, ours, theirs),
                    (Some(ours), None) => found.push(format!("{path} is {ours}, not absent")),
                    (None, Some(theirs)) => found.push(format!("{path} is absent, not {theirs}")),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                compare(found, &format!("{path}/{index}"), ours, theirs);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path} is {ours}, not {theirs}")),
    }
}
