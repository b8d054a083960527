//! Cron jobs.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{batch, cron, format, selector};
use crate::read::Read;

pub(super) fn cron_job(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    cron_job_spec(e, object.part("spec"), None);
    let name = object.part("metadata").text("name");
    if name.len() > 52 {
        let at = Path::new("metadata");
        e.invalid(&at.child("name"), name, format::characters(52));
    }
}

fn cron_job_spec(e: &mut Report, spec: &Value, old: Option<&Value>) {
    let at = Path::new("spec");
    let schedule = spec.text("schedule");
    let schedule_at = at.child("schedule");
    if schedule.is_empty() {
        e.required(&schedule_at, "");
    } else {
        if let Some(problem) = cron::problem(schedule) {
            e.invalid(&schedule_at, schedule, problem);
        }
        let allowed = old.is_some_and(|old| old.text("schedule").contains("TZ"));
        let detail = match (schedule.contains("TZ"), allowed) {
            (true, true) if spec.some("timeZone").is_some() => {
                Some("cannot use both timeZone field and TZ or CRON_TZ in schedule")
            }
            (true, false) => {
                Some("cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
            }
            _ => None,
        };
        if let Some(detail) = detail {
            e.invalid(&schedule_at, schedule, detail);
        }
    }
    let deadline = spec.int_given("startingDeadlineSeconds");
    e.not_negative_if_given(&at.child("startingDeadlineSeconds"), deadline);
    if old.is_none_or(|old| old.part("timeZone") != spec.part("timeZone"))
        && let Some(zone) = spec.text_given("timeZone")
    {
        time_zone(e, &at.child("timeZone"), zone);
    }
    let policies = ["Allow", "Forbid", "Replace"];
    e.choice(&at.child("concurrencyPolicy"), spec.text("concurrencyPolicy"), &policies);
    let template = spec.part("jobTemplate").part("spec");
    let template_at = at.child("jobTemplate");
    let template_at = template_at.child("spec");
    batch::common_spec(e, &template_at, template);
    if let Some(selector) = template.some("selector") {
        let detail = "`selector` will be auto-generated";
        e.invalid(&template_at.child("selector"), selector::shown(selector), detail);
    }
    if template.truth("manualSelector") {
        e.not_supported(&template_at.child("manualSelector"), true, &["nil", "false"]);
    }
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        e.not_negative_if_given(&at.child(field), spec.int_given(field));
    }
}

/// Whether there is a time zone of this name. Names of the tz database are known by heart, because a
/// server has to accept the same ones wherever it runs.
pub(super) fn is_known_zone(name: &str) -> bool {
    const ZONES: &str = include_str!("zones.txt");
    matches!(name, "" | "UTC" | "Local") || ZONES.lines().any(|zone| zone == name)
}

fn time_zone(e: &mut Report, at: &Path<'_>, zone: &str) {
    if zone.is_empty() {
        return e.invalid(at, zone, "timeZone must be nil or non-empty string");
    }
    let odd = |part: &str| {
        let fits = (1..=14).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_+".contains(&b));
        matches!(part, "." | "..") || part.starts_with('-') || !fits
    };
    if zone.split('/').any(odd) {
        return e.invalid(at, zone, format!("unknown time zone {zone}"));
    }
    if zone.eq_ignore_ascii_case("Local") {
        let detail =
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        e.invalid(at, zone, detail);
    }
    if !is_known_zone(zone) {
        e.invalid(at, zone, format!("unknown time zone {zone}"));
    }
}

pub(super) fn cron_job_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    cron_job_spec(e, new.part("spec"), Some(old.part("spec")));
}
