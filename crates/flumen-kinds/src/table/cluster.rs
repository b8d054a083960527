//! Cells of nodes, events, quotas and what the server says of itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object::Object;

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE: &str = "kubernetes.io/role";

pub(super) fn node_status(node: Object<'_>) -> Value {
    // Of several conditions of one type the last one counts.
    let ready = node.items("status.conditions").rev().find(|c| c.text("type") == "Ready");
    let mut status = match ready.map(|condition| condition.text("status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node.flag("spec.unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    status.into()
}

pub(super) fn node_roles(node: Object<'_>) -> Value {
    let labels = node.map("metadata.labels").into_iter().flatten();
    let roles = labels.filter_map(|(key, value)| match key.strip_prefix(ROLE_PREFIX) {
        Some(role) => Some(role),
        None if key == ROLE => value.as_str(),
        None => None,
    });
    let roles: BTreeSet<&str> = roles.filter(|role| !role.is_empty()).collect();
    match roles.into_iter().collect::<Vec<_>>().join(",") {
        none if none.is_empty() => "<none>".into(),
        roles => roles.into(),
    }
}

pub(super) fn node_internal_ip(node: Object<'_>) -> Value {
    node_address(node, "InternalIP")
}

pub(super) fn node_external_ip(node: Object<'_>) -> Value {
    node_address(node, "ExternalIP")
}

fn node_address(node: Object<'_>, type_name: &str) -> Value {
    let found = node.condition("status.addresses", type_name);
    found.map_or("<none>", |address| address.text("address")).into()
}

/// All cells of an event, in either of its versions.
pub(super) fn event(event: Object<'_>) -> Vec<Value> {
    let either = |core: &'static str, new: &'static str| if event.has(core) { core } else { new };
    let mut first = event.age(either("firstTimestamp", "deprecatedFirstTimestamp"));
    if first == "<unknown>" {
        first = event.age("eventTime");
    }
    let mut last = event.age(either("lastTimestamp", "deprecatedLastTimestamp"));
    if last == "<unknown>" {
        last.clone_from(&first);
    }
    let mut count = event.number(either("count", "deprecatedCount")).max(1);
    if event.has("series") {
        last = event.age("series.lastObservedTime");
        count = event.number("series.count");
    }
    let about = event.at(either("involvedObject", "regarding")).unwrap_or(&Value::Null);
    let about = Object::new(about, event.now);
    let mut target = about.text("kind").to_lowercase();
    if !about.text("name").is_empty() {
        target = format!("{target}/{}", about.text("name"));
    }
    let filled = |paths: [&str; 3]| {
        paths.into_iter().map(|path| event.text(path)).find(|text| !text.is_empty()).unwrap_or("")
    };
    let component =
        filled(["source.component", "deprecatedSource.component", "reportingComponent"]);
    let component =
        if component.is_empty() { event.text("reportingController") } else { component };
    let source = match filled(["source.host", "deprecatedSource.host", "reportingInstance"]) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    vec![
        last.into(),
        event.text("type").into(),
        event.text("reason").into(),
        target.into(),
        about.text("fieldPath").into(),
        source.into(),
        event.text(either("message", "note")).trim().into(),
        first.into(),
        count.into(),
        event.text("metadata.name").into(),
    ]
}

/// Requests and limits, used of hard.
pub(super) fn quota(quota: Object<'_>) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let used = quota.map("status.used");
    for (resource, hard) in quota.map("status.hard").into_iter().flatten() {
        let used = used.and_then(|used| used.get(resource)).and_then(Value::as_str).unwrap_or("0");
        let list = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        list.push(format!("{resource}: {used}/{}", hard.as_str().unwrap_or("0")));
    }
    vec![requests.join(", ").into(), limits.join(", ").into()]
}

/// Status, message and error.
pub(super) fn component(component: Object<'_>) -> Vec<Value> {
    match component.condition("conditions", "Healthy") {
        Some(healthy) => {
            let state = if healthy.text("status") == "True" { "Healthy" } else { "Unhealthy" };
            vec![state.into(), healthy.text("message").into(), healthy.text("error").into()]
        }
        None => vec!["Unknown".into(), "".into(), "".into()],
    }
}

/// Who serves an API.
pub(super) fn service(api: Object<'_>) -> Value {
    if !api.has("spec.service") {
        return "Local".into();
    }
    format!("{}/{}", api.text("spec.service.namespace"), api.text("spec.service.name")).into()
}

pub(super) fn available(api: Object<'_>) -> Value {
    let Some(condition) = api.condition("status.conditions", "Available") else {
        return "Unknown".into();
    };
    match (condition.text("status"), condition.text("reason")) {
        ("True", _) => "True".into(),
        (status, "") => status.into(),
        (status, reason) => format!("{status} ({reason})").into(),
    }
}

/// Whether the priority level of a flow schema is missing.
pub(super) fn dangling(schema: Object<'_>) -> Value {
    let condition = schema.condition("status.conditions", "Dangling");
    condition.map_or("?", |condition| condition.text("status")).into()
}

pub(super) fn claim_state(claim: Object<'_>) -> Value {
    let deleted = claim.has("metadata.deletionTimestamp");
    let allocated = claim.has("status.allocation");
    let reserved = allocated && claim.count("status.reservedFor") > 0;
    let states = [
        (deleted, "deleted"),
        (!allocated && !deleted, "pending"),
        (allocated, "allocated"),
        (reserved, "reserved"),
    ];
    let states = states.into_iter().filter(|(holds, _)| *holds).map(|(_, state)| state);
    states.collect::<Vec<_>>().join(",").into()
}
