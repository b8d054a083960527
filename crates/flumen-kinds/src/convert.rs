//! The same object in another version of its kind.
//!
//! Two kinds are served in two versions: events under two groups, and autoscalers. One version of
//! each is stored.

mod autoscaler;
mod event;

pub(crate) use autoscaler::drop_annotations;
use flumen_schema::api::{Api, ApiKind};
use serde_json::Value;

use crate::{canonical::canonical, default, prepare::drop_template_generation};

/// The version in which objects of a kind are stored.
pub fn stored_version(kind: &'static ApiKind) -> &'static ApiKind {
    let api = Api::get();
    let stored = match (kind.group, kind.kind) {
        ("events.k8s.io", "Event") => api.kind("", "v1", "Event"),
        ("autoscaling", "HorizontalPodAutoscaler") => api.kind("autoscaling", "v2", kind.kind),
        _ => None,
    };
    stored.unwrap_or(kind)
}

/// Turns a canonical object of one version into one of another version of the same kind. What is in the
/// version that is stored has its defaults.
pub fn convert(object: Value, from: &ApiKind, to: &'static ApiKind) -> Value {
    let is_stored = std::ptr::eq(stored_version(to), to) && !std::ptr::eq(from, to);
    let mut object = convert_as_is(object, from, to);
    if is_stored {
        default(&mut object, to);
    }
    object
}

/// The same without defaults.
pub fn convert_as_is(object: Value, from: &ApiKind, to: &ApiKind) -> Value {
    let key = |kind: &ApiKind| (kind.group, kind.version, kind.kind);
    let mut object = match (key(from), key(to)) {
        (("events.k8s.io", ..), ("", _, "Event")) => event::to_core(object),
        (("", _, "Event"), ("events.k8s.io", ..)) => event::from_core(object),
        (("autoscaling", "v1", _), (_, "v2", _)) => autoscaler::to_v2(object),
        (("autoscaling", "v2", _), (_, "v1", _)) => autoscaler::to_v1(object),
        _ => return object,
    };
    object["apiVersion"] = match to.group {
        "" => to.version.into(),
        group => format!("{group}/{}", to.version).into(),
    };
    canonical(&mut object, to.object);
    object
}

/// Removes the annotations that stand for fields which a version does not have. Metadata without its
/// object is shown without them.
pub fn remove_converted_annotations(kind: &ApiKind, object: &mut Value) {
    if (kind.group, kind.kind) == ("apps", "DaemonSet") {
        drop_template_generation(object);
    }
}

#[cfg(test)]
mod tests;
