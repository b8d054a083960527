//! Events, as the core group has them. Those that were sent to their own group have to say more.

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use crate::internal;
use crate::read::Read;

pub(super) fn core(e: &mut Report, event: &Value) {
    common(e, event, "reportingComponent");
}

pub(super) fn core_update(e: &mut Report, new: &Value, _old: &Value) {
    common(e, new, "reportingComponent");
}

pub(super) fn own_group(e: &mut Report, event: &Value) {
    common(e, event, "reportingController");
    meta::check(e, event, Scope::Namespaced, Naming::SUBDOMAIN);
    series(e, event);
    if event.some("eventTime").is_none() {
        e.required(&Path::new("eventTime"), "");
    }
    let of = event.text("type");
    if !matches!(of, "Normal" | "Warning") {
        e.invalid(&Path::new("type"), "", format!("has invalid value: {of}"));
    }
    let source = event.part("source");
    let unset = [
        ("firstTimestamp", event.some("firstTimestamp").is_some()),
        ("lastTimestamp", event.some("lastTimestamp").is_some()),
        ("count", event.int("count") != 0),
        ("source", !source.text("component").is_empty() || !source.text("host").is_empty()),
    ];
    for (field, set) in unset {
        if set {
            e.invalid(&Path::new(field), "", "needs to be unset");
        }
    }
}

pub(super) fn own_group_update(e: &mut Report, new: &Value, old: &Value) {
    common(e, new, "reportingController");
    meta::check_update(e, new, old);
    if new.part("series") != old.part("series") {
        series(e, new);
    }
    let structs = [
        ("involvedObject", "core.ObjectReference"),
        ("source", "core.EventSource"),
        ("related", "core.ObjectReference"),
    ];
    let struct_of = |field: &str| structs.iter().find(|(name, _)| *name == field);
    let fields = [
        "involvedObject",
        "reason",
        "message",
        "source",
        "firstTimestamp",
        "lastTimestamp",
        "count",
        "reason",
        "type",
        "eventTime",
        "action",
        "related",
        "reportingController",
        "reportingInstance",
    ];
    for field in fields {
        let stored = if field == "reportingController" { "reportingComponent" } else { field };
        let (now, then) = (new.part(stored), old.part(stored));
        let at = Path::new(field);
        if now == then {
            continue;
        }
        match (struct_of(field), field) {
            (Some((_, of)), "related") => {
                e.invalid(&at, internal::shown_pointer(of, new.some(stored)), IMMUTABLE);
            }
            (Some((_, of)), _) => e.invalid(&at, internal::shown(of, now), IMMUTABLE),
            (None, "firstTimestamp" | "lastTimestamp" | "eventTime") => e.immutable(&at, now, then),
            (None, "count") => e.invalid(&at, new.int(stored), IMMUTABLE),
            (None, _) => e.immutable_text(&at, new.text(stored), old.text(stored)),
        }
    }
}

fn series(e: &mut Report, event: &Value) {
    let Some(series) = event.some("series") else { return };
    if series.int("count") < 2 {
        e.invalid(&Path::new("series.count"), "", "should be at least 2");
    }
    if series.some("lastObservedTime").is_none() {
        e.required(&Path::new("series.lastObservedTime"), "");
    }
}

fn common(e: &mut Report, event: &Value, controller_field: &str) {
    let namespace = event.part("metadata").text("namespace");
    let involved = event.part("involvedObject").text("namespace");
    let at = Path::new("involvedObject");
    let at = at.child("namespace");
    let timed = event.some("eventTime").is_some();
    let fits = match (timed, involved.is_empty()) {
        (false, true) => matches!(namespace, "" | "default"),
        (false, false) => namespace == involved,
        (true, true) => matches!(namespace, "default" | "kube-system"),
        (true, false) => true,
    };
    if !fits {
        e.invalid(&at, involved, "does not match event.namespace");
    }
    if timed {
        let controller = event.text("reportingComponent");
        e.filled(&Path::new(controller_field), controller);
        e.form(&Path::new(controller_field), controller, format::qualified_name);
        for field in ["reportingInstance", "action", "reason"] {
            e.filled(&Path::new(field), event.text(field));
            limited(e, field, event, 128);
        }
        limited(e, "message", event, 1024);
    }
    e.form(&Path::new("namespace"), namespace, format::dns_subdomain);
}

fn limited(e: &mut Report, field: &str, event: &Value, limit: usize) {
    if event.text(field).len() > limit {
        e.invalid(&Path::new(field), "", format!("can have at most {limit} characters"));
    }
}
