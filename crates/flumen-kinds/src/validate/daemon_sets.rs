//! Daemon sets.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::pod;
use super::report::Report;
use super::selector::{self, Match};
use super::workloads::{
    always, at_most_all, collisions, count_or_percent, counters, immutable_selector, labels_match,
    number, shown_count,
};
use crate::internal;
use crate::read::Read;

pub(super) fn daemon_set(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    daemon_set_spec(e, object.part("spec"));
}

fn daemon_set_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    let selector = spec.part("selector");
    selector::check(e, &at.child("selector"), selector);
    let template = spec.part("template");
    let template_at = at.child("template");
    let labels = template.part("metadata").part("labels");
    if selector::matches(selector, labels) == Some(Match::No) {
        labels_match(e, &template_at, template);
    }
    let empty =
        selector.map("matchLabels").is_empty() && selector.list("matchExpressions").is_empty();
    if !selector.is_null() && empty {
        let detail = "empty selector is invalid for daemonset";
        e.invalid(&at.child("selector"), selector::shown(selector), detail);
    }
    pod::template(e, &template_at, template);
    always(e, &template_at, template, "DaemonSet");
    e.not_negative(&at.child("minReadySeconds"), spec.int("minReadySeconds"));
    daemon_strategy(e, &at.child("updateStrategy"), spec.part("updateStrategy"));
    e.not_negative(&at.child("revisionHistoryLimit"), spec.int("revisionHistoryLimit"));
}

fn daemon_strategy(e: &mut Report, at: &Path<'_>, strategy: &Value) {
    match strategy.text("type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            let at = at.child("rollingUpdate");
            let Some(rolling) = strategy.some("rollingUpdate") else { return e.required(&at, "") };
            let (unavailable, surge) = (rolling.part("maxUnavailable"), rolling.part("maxSurge"));
            let (unavailable_at, surge_at) = (at.child("maxUnavailable"), at.child("maxSurge"));
            count_or_percent(e, &unavailable_at, unavailable);
            count_or_percent(e, &surge_at, surge);
            at_most_all(e, &unavailable_at, unavailable);
            at_most_all(e, &surge_at, surge);
            match (number(unavailable) != 0, number(surge) != 0) {
                (true, true) => {
                    let detail = "may not be set when maxUnavailable is non-zero";
                    e.invalid(&surge_at, shown_count(surge), detail);
                }
                (false, false) => e.required(&unavailable_at, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => {
            let shown = internal::shown("apps.DaemonSetUpdateStrategy", strategy);
            e.not_supported(at, shown, &["RollingUpdate", "OnDelete"]);
        }
    }
}

pub(super) fn daemon_set_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    immutable_selector(e, new, old);
    daemon_set_spec(e, new.part("spec"));
}

pub(super) fn daemon_set_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let fields = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    counters(e, new, &fields);
    collisions(e, new, old);
}
