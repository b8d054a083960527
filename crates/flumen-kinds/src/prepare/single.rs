//! Kinds that need a step of their own.

use serde_json::{Map, Value, json};

use super::{copy, copy_in, count, remove, remove_in, set, set_in};
use crate::read::Read;

pub(super) fn namespace(object: &mut Value, _now: &str) {
    set(object, "status", json!({"phase": "Active"}));
    let mut finalizers = object.part("spec").list("finalizers").to_vec();
    if !finalizers.iter().any(|name| name == "kubernetes") {
        finalizers.push("kubernetes".into());
        set_in(object, "spec", "finalizers", finalizers.into());
    }
    name_label(object);
}

pub(super) fn namespace_update(new: &mut Value, old: &Value) {
    copy_in(new, old, "spec", "finalizers");
    name_label(new);
}

/// Selectors of namespaces rely on this label.
fn name_label(object: &mut Value) {
    let name = object.part("metadata").text("name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(meta) = object.get_mut("metadata") {
        set_in(meta, "labels", "kubernetes.io/metadata.name", name.into());
    }
}

/// A limit range that has no name is named after its uid.
pub(super) fn limit_range(object: &mut Value, _now: &str) {
    let meta = object.part("metadata");
    if meta.text("name").is_empty() {
        let uid = meta.text("uid").to_owned();
        super::set_meta(object, "name", uid.into());
    }
}

pub(super) fn node(object: &mut Value, _now: &str) {
    remove_in(object, "spec", "configSource");
}

pub(super) fn node_update(new: &mut Value, old: &Value) {
    if old.part("spec").some("configSource").is_none() {
        remove_in(new, "spec", "configSource");
    }
}

pub(super) fn volume(object: &mut Value, now: &str) {
    set(object, "status", json!({"phase": "Pending", "lastPhaseTransitionTime": now}));
}

pub(super) fn claim(object: &mut Value, _now: &str) {
    set(object, "status", json!({}));
    data_sources(object, None);
}

pub(super) fn claim_update(new: &mut Value, old: &Value) {
    data_sources(new, Some(old));
}

/// A source of data is named in an old field and in a new one; both say the same if they can.
fn data_sources(object: &mut Value, old: Option<&Value>) {
    let Some(spec) = object.get_mut("spec") else { return };
    let in_use = old.is_some_and(|old| {
        let spec = old.part("spec");
        spec.some("dataSource").is_some() || spec.some("dataSourceRef").is_some()
    });
    let reference = spec.some("dataSourceRef").cloned();
    if !in_use && reference.is_none() && is_unusual_source(spec.part("dataSource")) {
        remove(spec, "dataSource");
    }
    match (spec.some("dataSource").cloned(), reference) {
        (Some(source), None) => set(spec, "dataSourceRef", source),
        (None, Some(mut reference)) if reference.text("namespace").is_empty() => {
            remove(&mut reference, "namespace");
            set(spec, "dataSource", reference);
        }
        _ => {}
    }
}

/// Whether it is neither a claim nor a snapshot. The old field drops those without a word.
fn is_unusual_source(source: &Value) -> bool {
    if source.is_null() {
        return false;
    }
    let claim =
        source.text("kind") == "PersistentVolumeClaim" && source.text("apiGroup").is_empty();
    let snapshot = source.text("kind") == "VolumeSnapshot"
        && source.text("apiGroup") == "snapshot.storage.k8s.io";
    !claim && !snapshot
}

/// What the server answers itself is available at once.
pub(super) fn api_service(object: &mut Value, now: &str) {
    if object.part("spec").some("service").is_none() {
        let condition = json!({
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        });
        set_in(object, "status", "conditions", json!([condition]));
    }
}

pub(super) fn secret_update(new: &mut Value, old: &Value) {
    if new.text("type").is_empty() {
        copy(new, old, "type");
    }
}

/// References to secrets keep their names only.
pub(super) fn service_account(object: &mut Value, _now: &str) {
    let Some(Value::Array(secrets)) = object.get_mut("secrets") else { return };
    for secret in secrets {
        if let Value::Object(fields) = secret {
            fields.retain(|name, _| name == "name");
        }
    }
}

pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

pub(super) fn daemon_set(object: &mut Value, _now: &str) {
    let generation = known_generation(object).max(1);
    template_generation(object, generation);
}

pub(super) fn daemon_set_update(new: &mut Value, old: &Value) {
    let changed = new.part("spec").part("template") != old.part("spec").part("template");
    template_generation(new, known_generation(old) + i64::from(changed));
}

/// How often the template changed.
fn known_generation(object: &Value) -> i64 {
    let known = object.part("metadata").part("annotations").text(TEMPLATE_GENERATION);
    known.parse().unwrap_or_default()
}

pub(crate) fn drop_template_generation(object: &mut Value) {
    let Some(Value::Object(meta)) = object.get_mut("metadata") else { return };
    if let Some(Value::Object(annotations)) = meta.get_mut("annotations") {
        annotations.remove(TEMPLATE_GENERATION);
        if annotations.is_empty() {
            meta.remove("annotations");
        }
    }
}

pub(super) fn template_generation(object: &mut Value, generation: i64) {
    if let Some(meta) = object.get_mut("metadata") {
        set_in(meta, "annotations", TEMPLATE_GENERATION, generation.to_string().into());
    }
}

const JOB_NAME: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const CONTROLLER: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

/// Pods of a job are told apart by its uid, unless the job says that it knows better.
pub(super) fn job(object: &mut Value, _now: &str) {
    if object.part("spec").truth("manualSelector") {
        return;
    }
    let meta = object.part("metadata");
    let (name, uid) = (meta.text("name").to_owned(), meta.text("uid").to_owned());
    let Some(spec) = object.get_mut("spec") else { return };
    let mut selector = spec.part("selector").clone();
    if selector.is_null() {
        selector = Value::Object(Map::new());
    }
    if !selector.map("matchLabels").contains_key(CONTROLLER[1]) {
        set_in(&mut selector, "matchLabels", CONTROLLER[1], uid.clone().into());
    }
    set(spec, "selector", selector);
    let Some(template) = spec.get_mut("template") else { return };
    if template.some("metadata").is_none() {
        set(template, "metadata", Value::Object(Map::new()));
    }
    let Some(meta) = template.get_mut("metadata") else { return };
    for (labels, value) in [(JOB_NAME, name), (CONTROLLER, uid)] {
        for label in labels {
            if !meta.map("labels").contains_key(label) {
                set_in(meta, "labels", label, value.clone().into());
            }
        }
    }
}

/// Fields of coordinated leader election, which is off by default.
const COORDINATED: [&str; 2] = ["strategy", "preferredHolder"];

pub(super) fn lease(object: &mut Value, _now: &str) {
    for field in COORDINATED {
        remove_in(object, "spec", field);
    }
}

/// Whoever has them already may keep them.
pub(super) fn lease_update(new: &mut Value, old: &Value) {
    if COORDINATED.iter().all(|field| old.part("spec").some(field).is_none()) {
        lease(new, "");
    }
}

/// Who asks is filled in by who knows it.
pub(super) fn signing_request(object: &mut Value, _now: &str) {
    for field in ["username", "uid", "groups", "extra"] {
        remove_in(object, "spec", field);
    }
}

pub(super) fn signing_request_update(new: &mut Value, old: &Value) {
    copy(new, old, "spec");
}

pub(super) fn driver_update(new: &mut Value, old: &Value) {
    if new.part("spec") != old.part("spec") {
        count(new, old);
    }
}

pub(super) fn prepare_subresource(
    kind: &str,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    match (kind, subresource) {
        ("Namespace", _) => name_label(new),
        ("DaemonSet", "status") => template_generation(new, known_generation(old)),
        ("PersistentVolume", "status") => {
            let time = "lastPhaseTransitionTime";
            let (status, was) = (new.part("status"), old.part("status"));
            let same_time = status.some(time) == was.some(time);
            if status.text("phase") == was.text("phase") {
                if status.some(time).is_none() {
                    copy_in(new, old, "status", time);
                }
            } else if status.some(time).is_none() || same_time {
                set_in(new, "status", time, now.into());
            }
        }
        ("CertificateSigningRequest", "approval" | "status") => condition_times(new, old, now),
        _ => {}
    }
}

fn condition_times(new: &mut Value, old: &Value, now: &str) {
    let known = old.part("status").list("conditions").to_vec();
    let conditions = new.get_mut("status").and_then(|status| status.get_mut("conditions"));
    let Some(Value::Array(conditions)) = conditions else { return };
    for condition in conditions {
        if condition.some("lastUpdateTime").is_none() {
            set(condition, "lastUpdateTime", now.into());
        }
        if condition.some("lastTransitionTime").is_none() {
            let same = |other: &&Value| {
                other.text("type") == condition.text("type")
                    && other.text("status") == condition.text("status")
            };
            let time = known.iter().find(same).and_then(|other| other.some("lastTransitionTime"));
            let time = time.cloned().unwrap_or_else(|| now.into());
            set(condition, "lastTransitionTime", time);
        }
    }
}
