//! Controllers of pods.

use flumen_schema::api::ApiKind;
use serde_json::{Value, json};

use super::pod::items;
use crate::{prepare::TEMPLATE_GENERATION, read::Read as _};

fn set_missing(object: &mut Value, name: &str, value: impl Into<Value>) {
    if object.some(name).is_none() {
        object[name] = value.into();
    }
}

pub(super) fn deployment_strategy(strategy: &mut Value) {
    rolling_update(strategy, &json!("25%"), &json!("25%"));
}

pub(super) fn daemon_set_strategy(strategy: &mut Value) {
    rolling_update(strategy, &json!(1), &json!(0));
}

/// The server counts templates in a field of its own, and shows it as an annotation to everyone who
/// looks at the object, those who note owners too.
pub(super) fn daemon_set(set: &mut Value) {
    set_missing(set, "metadata", json!({}));
    set_missing(&mut set["metadata"], "annotations", json!({}));
    set_missing(&mut set["metadata"]["annotations"], TEMPLATE_GENERATION, "0");
}

fn rolling_update(strategy: &mut Value, max_unavailable: &Value, max_surge: &Value) {
    if strategy.text("type") == "RollingUpdate" {
        set_missing(strategy, "rollingUpdate", json!({}));
        let update = &mut strategy["rollingUpdate"];
        set_missing(update, "maxUnavailable", max_unavailable.clone());
        set_missing(update, "maxSurge", max_surge.clone());
    } else if strategy.some("rollingUpdate").is_some() {
        // The server's own type has both in any case.
        set_missing(&mut strategy["rollingUpdate"], "maxUnavailable", 0);
        set_missing(&mut strategy["rollingUpdate"], "maxSurge", 0);
    }
}

pub(super) fn stateful_set_strategy(strategy: &mut Value) {
    if strategy.text("type").is_empty() {
        strategy["type"] = "RollingUpdate".into();
        set_missing(strategy, "rollingUpdate", json!({}));
    }
    if strategy.text("type") == "RollingUpdate" && strategy.some("rollingUpdate").is_some() {
        set_missing(&mut strategy["rollingUpdate"], "partition", 0);
    }
}

/// Claims inside of a set say their kind.
pub(super) fn stateful_set_spec(spec: &mut Value) {
    for claim in items(spec, "volumeClaimTemplates") {
        claim["apiVersion"] = "v1".into();
        claim["kind"] = "PersistentVolumeClaim".into();
    }
}

pub(super) fn job(job: &mut Value) {
    // A new job is about to get labels for its pods, and what it inherits are those.
    let spec = job.part("spec");
    if spec.some("selector").is_some() || spec.truth("manualSelector") {
        inherit_labels(job);
    }
    let spec = &mut job["spec"];
    if spec.some("parallelism").is_none() {
        set_missing(spec, "completions", 1);
    }
    set_missing(spec, "parallelism", 1);
    let is_per_index = spec.some("backoffLimitPerIndex").is_some();
    set_missing(spec, "backoffLimit", if is_per_index { i32::MAX } else { 6 });
    set_missing(spec, "completionMode", "NonIndexed");
    set_missing(spec, "suspend", false);
    let has_policy = spec.some("podFailurePolicy").is_some();
    set_missing(
        spec,
        "podReplacementPolicy",
        if has_policy { "Failed" } else { "TerminatingOrFailed" },
    );
    set_missing(spec, "manualSelector", false);
}

pub(super) fn replication_controller(controller: &mut Value) {
    let labels = controller.part("spec").part("template").part("metadata").map("labels").clone();
    if !labels.is_empty() && controller.part("spec").map("selector").is_empty() {
        controller["spec"]["selector"] = labels.into();
    }
    inherit_labels(controller);
}

/// Gives a new object the labels of its template that it inherits before the server adds to those, and
/// says whether it did. Other kinds have them from the beginning.
pub fn inherit_early(object: &mut Value, kind: &ApiKind) -> bool {
    let is_job = (kind.group, kind.kind) == ("batch", "Job");
    let is_bare = is_job && object.part("metadata").map("labels").is_empty();
    if is_bare {
        inherit_labels(object);
    }
    is_bare && !object.part("metadata").map("labels").is_empty()
}

/// An object without labels has those of its template.
fn inherit_labels(object: &mut Value) {
    let labels = object.part("spec").part("template").part("metadata").map("labels").clone();
    if !labels.is_empty() && object.part("metadata").map("labels").is_empty() {
        object["metadata"]["labels"] = labels.into();
    }
}
