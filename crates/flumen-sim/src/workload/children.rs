//! Objects that a controller makes from a template, takes over, or lets go.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    clock::seconds_later,
    engine::Context,
    hash,
    kind::Kind,
    object::{self, items, map, text, time},
    plan::Plan,
    selector,
};

/// A name for a new pod that begins with a prefix and that no pod has. Of pods that are named at once,
/// each has another place.
pub(super) fn fresh_name(
    context: Context<'_>,
    prefix: &str,
    owner: &Value,
    place: usize,
) -> String {
    const SUFFIX: usize = 5;
    const MOST: usize = 63;
    let room = prefix.len().min(MOST - SUFFIX);
    let end = (0..=room).rev().find(|end| prefix.is_char_boundary(*end)).unwrap_or_default();
    let mut attempt = 0;
    loop {
        let time = context.now.as_nanosecond();
        let seed = format!("{}/{time}/{place}/{attempt}", object::uid(owner));
        let name = format!("{}{}", &prefix[..end], hash::letters(&seed, SUFFIX));
        if context.world.find(Kind::Pod, object::namespace(owner), &name).is_none() {
            return name;
        }
        attempt += 1;
    }
}

/// A pod as a template describes it, under a controller.
pub(super) fn pod(template: &Value, kind: Kind, owner: &Value, name: &str) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": object::namespace(owner),
            "ownerReferences": [object::controlled_by(kind, owner)],
        },
        "spec": template.get("spec").cloned().unwrap_or_else(|| json!({})),
    });
    for part in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{part}")) {
            pod["metadata"][part] = value.clone();
        }
    }
    pod
}

/// Whether a pod counts: it is neither over nor being deleted.
pub(super) fn is_active(pod: &Value) -> bool {
    !object::is_ending(pod) && !is_over(pod)
}

pub(super) fn is_over(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

pub(super) fn is_ready(pod: &Value) -> bool {
    object::is_true(pod, "Ready")
}

/// When a ready pod counts as available: after it has been ready for some seconds.
pub(super) fn available_at(pod: &Value, min_ready_seconds: i64) -> Option<Timestamp> {
    if !is_ready(pod) {
        return None;
    }
    let since = object::condition(pod, "Ready").and_then(|c| time(c, "/lastTransitionTime"))?;
    Some(if min_ready_seconds == 0 { since } else { seconds_later(since, min_ready_seconds) })
}

pub(super) fn is_available(pod: &Value, min_ready_seconds: i64, now: Timestamp) -> bool {
    available_at(pod, min_ready_seconds).is_some_and(|time| min_ready_seconds == 0 || time <= now)
}

/// The pods that are deleted first: those that are least of use.
pub(super) fn by_use(pods: &mut [&Value]) {
    pods.sort_by_cached_key(|pod| {
        let phase = match text(pod, "/status/phase") {
            "Pending" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let placed = !text(pod, "/spec/nodeName").is_empty();
        let created = text(pod, "/metadata/creationTimestamp").to_owned();
        // Of those that are equal, the youngest goes.
        (placed, phase, is_ready(pod), std::cmp::Reverse(created), object::name(pod).to_owned())
    });
}

/// Takes over objects of a kind that the selector means and nobody controls, and lets those go that
/// it no longer means. Returns the ones that are, or will be, under control.
pub(super) fn claim<'a>(
    context: Context<'a>,
    plan: &mut Plan,
    children: Kind,
    (kind, owner): (Kind, &'a Value),
    selects: impl Fn(&Value) -> bool,
) -> Vec<&'a Value> {
    let uid = object::uid(owner).to_owned();
    let (mut kept, released): (Vec<&Value>, Vec<&Value>) =
        context.world.controlled(&uid, children).partition(|child| selects(child));
    if object::is_ending(owner) {
        return kept;
    }
    for child in released.into_iter().filter(|child| !object::is_ending(child)) {
        let mut child = child.clone();
        let owners = items(&child, "/metadata/ownerReferences").iter();
        let rest: Vec<Value> = owners.filter(|o| text(o, "/uid") != uid).cloned().collect();
        child["metadata"]["ownerReferences"] = rest.into();
        plan.replace(children, child);
    }
    for orphan in context.world.free(children, object::namespace(owner)) {
        if !object::is_ending(orphan) && !is_over(orphan) && selects(orphan) {
            let mut adopted = orphan.clone();
            let mut owners = items(orphan, "/metadata/ownerReferences").to_vec();
            owners.push(object::controlled_by(kind, owner));
            adopted["metadata"]["ownerReferences"] = owners.into();
            plan.replace(children, adopted);
            kept.push(orphan);
        }
    }
    kept
}

/// Whether the label selector of an object means another object.
pub(super) fn selects(owner: &Value) -> impl Fn(&Value) -> bool + '_ {
    move |child| selector::matches(owner.pointer("/spec/selector"), map(child, "/metadata/labels"))
}
