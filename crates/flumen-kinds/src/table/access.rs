//! Cells of bindings, certificates and admission policies.

use serde_json::Value;

use super::{duration, object::Object, selector};

pub(super) fn role(binding: Object<'_>) -> Value {
    format!("{}/{}", binding.text("roleRef.kind"), binding.text("roleRef.name")).into()
}

/// Users, groups and service accounts.
pub(super) fn subjects(binding: Object<'_>) -> Vec<Value> {
    ["User", "Group", "ServiceAccount"]
        .into_iter()
        .map(|kind| {
            let subjects = binding.items("subjects").filter(|s| s.text("kind") == kind);
            let names = subjects.map(|subject| match kind {
                "ServiceAccount" => {
                    format!("{}/{}", subject.text("namespace"), subject.text("name"))
                }
                _ => subject.text("name").to_owned(),
            });
            names.collect::<Vec<_>>().join(", ").into()
        })
        .collect()
}

pub(super) fn requested_duration(request: Object<'_>) -> Value {
    match request.at("spec.expirationSeconds").and_then(Value::as_i64) {
        Some(seconds) => duration::human(seconds).into(),
        None => "<none>".into(),
    }
}

pub(super) fn request_state(request: Object<'_>) -> Value {
    let has = |condition: &str| request.condition("status.conditions", condition).is_some();
    let mut state = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !request.text("status.certificate").is_empty() {
        state.push_str(",Issued");
    }
    state.into()
}

pub(super) fn param_kind(policy: Object<'_>) -> Value {
    if !policy.has("spec.paramKind") {
        return "<unset>".into();
    }
    let version = policy.text("spec.paramKind.apiVersion");
    format!("{version}/{}", policy.text("spec.paramKind.kind")).into()
}

pub(super) fn param_ref(binding: Object<'_>) -> Value {
    let name = binding.text("spec.paramRef.name");
    if !name.is_empty() {
        // Parameters without a namespace may be of all of them, or of the cluster.
        return match binding.text("spec.paramRef.namespace") {
            "" => format!("*/{name}").into(),
            namespace => format!("{namespace}/{name}").into(),
        };
    }
    match binding.at("spec.paramRef.selector") {
        Some(selector) => selector::go_text(selector).into(),
        None => "<unset>".into(),
    }
}
