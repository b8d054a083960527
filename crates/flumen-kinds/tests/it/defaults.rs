//! Manifests with the object that the real server stores.

use flumen_kinds::{
    Media, Target, convert, decode, default, prepare_create, stored_version, tighten,
};
use flumen_schema::api::ApiKind;
use serde_json::Value;

use crate::corpus::{cases, differences, kind_at, remove};

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
    (
        "",
        &[
            "/metadata/creationTimestamp",
            "/metadata/managedFields",
            "/metadata/namespace",
            "/metadata/uid",
        ],
    ),
];

#[test]
fn recorded_manifests_become_what_was_stored() {
    let Some(cases) = cases("defaults.jsonl") else { return };
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| check(case).err().map(|problem| format!("{}: {problem}", case["name"])))
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

fn check(case: &Value) -> Result<(), String> {
    let path = case["path"].as_str().unwrap_or_default();
    let kind = kind_at(path).ok_or_else(|| format!("no kind at {path}"))?;
    compare_answers(kind, &case["manifest"], &case["stored"])
}

/// Compares what we answer to a create with what was answered.
pub(crate) fn compare_answers(
    kind: &'static ApiKind,
    manifest: &Value,
    theirs: &Value,
) -> Result<(), String> {
    let decoded = decode(manifest.to_string().as_bytes(), Media::Json, &Target::from(kind));
    let mut object = decoded.map_err(|error| error.to_string())?.object;
    default(&mut object, kind);
    tighten(&mut object, kind);
    let stored = stored_version(kind);
    object = convert(object, kind, stored);
    prepare_create(stored, &mut object, "2000-01-01T00:00:00Z");
    // What is stored is read again with defaults, which may follow from what was just set.
    default(&mut object, stored);
    object = convert(object, stored, kind);
    let mut theirs = theirs.clone();
    let added = ADDED.iter().filter(|(plural, _)| plural.is_empty() || *plural == kind.plural);
    for pointer in added.flat_map(|(_, pointers)| *pointers) {
        remove(&mut object, pointer);
        remove(&mut theirs, pointer);
    }
    let differences = differences(&object, &theirs);
    if differences.is_empty() { Ok(()) } else { Err(differences.join("; ")) }
}
