//! Jobs and cron jobs.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::selector::{self, Match};
use super::{cron, format, pod};
use crate::internal;
use crate::read::Read;

const JOB_NAME: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const CONTROLLER: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NO_MATCH: &str = "`selector` does not match template `labels`";
const INDEXED_LIMIT: i64 = 100_000;
const HIGH_COMPLETIONS_LIMIT: i64 = 10_000;

pub(super) fn job(e: &mut Report, object: &Value) {
    checked_job(e, object, Labels::Prefixed);
}

/// Jobs of old servers have labels without a domain only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Labels {
    Prefixed,
    Plain,
}

fn checked_job(e: &mut Report, object: &Value, labels: Labels) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    generated_selector(e, object, labels);
    let spec = object.part("spec");
    job_spec(e, spec);
    let completions = spec.int("completions");
    if spec.text("completionMode") == "Indexed" && completions > 0 {
        let name = object.part("metadata").text("name");
        let last = format!("{name}-{}", completions - 1);
        if !format::dns_label(&last).is_empty() {
            let at = Path::new("metadata");
            let detail = format!("will not able to create pod with invalid DNS label: {last}");
            e.invalid(&at.child("name"), name, detail);
        }
    }
}

fn generated_selector(e: &mut Report, object: &Value, labels: Labels) {
    let spec = object.part("spec");
    if spec.truth("manualSelector") || spec.some("selector").is_none() {
        return;
    }
    let meta = object.part("metadata");
    let (name, uid) = (meta.text("name"), meta.text("uid"));
    let known = spec.part("template").part("metadata").part("labels");
    let at = Path::new("spec");
    let at = at.child("template");
    let at = at.child("metadata");
    let at = at.child("labels");
    let mut expected = serde_json::Map::new();
    let wanted =
        [(CONTROLLER[0], uid), (JOB_NAME[0], name), (CONTROLLER[1], uid), (JOB_NAME[1], name)];
    let count = if labels == Labels::Prefixed { 4 } else { 2 };
    for (label, value) in wanted.into_iter().take(count) {
        let detail = format!("must be '{value}'");
        match known.text_given(label) {
            None => e.required(&at.key(label), &detail),
            Some(found) if found != value => e.invalid(&at.key(label), known.clone(), detail),
            Some(_) => {}
        }
        expected.insert(label.to_owned(), value.into());
    }
    if selector::matches(spec.part("selector"), &Value::Object(expected)) == Some(Match::No) {
        let at = Path::new("spec");
        let shown = selector::shown(spec.part("selector"));
        e.invalid(&at.child("selector"), shown, "`selector` not auto-generated");
    }
}

fn job_spec(e: &mut Report, spec: &Value) {
    let at = Path::new("spec");
    common_spec(e, &at, spec);
    match spec.some("selector") {
        None => e.required(&at.child("selector"), ""),
        Some(selector) => selector::check(e, &at.child("selector"), selector),
    }
    let labels = spec.part("template").part("metadata").part("labels");
    if selector::matches(spec.part("selector"), labels) == Some(Match::No) {
        let at = at.child("template");
        e.invalid(&at.child("metadata").child("labels"), labels.clone(), NO_MATCH);
    }
}

/// What jobs and templates of jobs share.
fn common_spec(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let fields = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    for field in fields {
        e.not_negative_if_given(&at.child(field), spec.int_given(field));
    }
    let per_index = spec.int_given("backoffLimitPerIndex");
    if spec.some("maxFailedIndexes").is_some() && per_index.is_none() {
        e.required(&at.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
    }
    if let Some(manager) = spec.text_given("managedBy") {
        let at = at.child("managedBy");
        e.domain_path(&at, manager);
        if manager.len() > 63 {
            e.too_long(&at, 63);
        }
    }
    completion_mode(e, at, spec);
    if spec.some("podFailurePolicy").is_some() {
        failure_policy(e, &at.child("podFailurePolicy"), spec);
    }
    if let Some(policy) = spec.some("successPolicy") {
        let at = at.child("successPolicy");
        if spec.text("completionMode") == "Indexed" {
            success_policy(e, &at, policy, spec.int("completions"));
        } else {
            let shown = internal::shown("batch.SuccessPolicy", policy);
            e.invalid(&at, shown, "requires indexed completion mode");
        }
    }
    if let Some(policy) = spec.text_given("podReplacementPolicy") {
        let known: &[&str] = match spec.some("podFailurePolicy") {
            Some(_) => &["Failed"],
            None => &["Failed", "TerminatingOrFailed"],
        };
        e.one_of(&at.child("podReplacementPolicy"), policy, known);
    }
    let template_at = at.child("template");
    pod::template(e, &template_at, spec.part("template"));
    let restart = spec.part("template").part("spec").text("restartPolicy");
    let at = template_at.child("spec");
    let at = at.child("restartPolicy");
    match restart {
        "Always" | "" => e.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.some("podFailurePolicy").is_some() => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            e.invalid(&at, restart, detail);
        }
        "OnFailure" | "Never" => {}
        other => e.not_supported(&at, other, &["OnFailure", "Never"]),
    }
}

fn completion_mode(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let mode = spec.text_given("completionMode");
    let (completions, parallelism) = (spec.int_given("completions"), spec.int("parallelism"));
    let failed = spec.int_given("maxFailedIndexes");
    let per_index = spec.int_given("backoffLimitPerIndex");
    let failed_at = at.child("maxFailedIndexes");
    e.one_of_if_given(&at.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
    if mode == Some("Indexed") {
        if completions.is_none() {
            e.required(&at.child("completions"), "when completion mode is Indexed");
        }
        let parallelism_at = at.child("parallelism");
        if parallelism > INDEXED_LIMIT {
            let detail = format!(
                "must be less than or equal to {INDEXED_LIMIT} when completion mode is Indexed"
            );
            e.invalid(&parallelism_at, parallelism, detail);
        }
        if let (Some(completions), Some(failed)) = (completions, failed) {
            if failed > completions {
                e.invalid(&failed_at, failed, "must be less than or equal to completions");
            }
        }
        if let Some(failed) = failed.filter(|failed| *failed > INDEXED_LIMIT) {
            let detail = format!("must be less than or equal to {INDEXED_LIMIT}");
            e.invalid(&failed_at, failed, detail);
        }
        if completions.is_some_and(|count| count > INDEXED_LIMIT) && per_index.is_some() {
            let detail = format!(
                "must be less than or equal to {HIGH_COMPLETIONS_LIMIT} when completions are above {INDEXED_LIMIT} and used with backoff limit per index"
            );
            if failed.is_none() {
                let detail = format!("must be specified when completions is above {INDEXED_LIMIT}");
                e.required(&failed_at, &detail);
            }
            if parallelism > HIGH_COMPLETIONS_LIMIT {
                e.invalid(&parallelism_at, parallelism, detail.as_str());
            }
            if let Some(failed) = failed.filter(|failed| *failed > HIGH_COMPLETIONS_LIMIT) {
                e.invalid(&failed_at, failed, detail);
            }
        }
    }
    if matches!(mode, None | Some("NonIndexed")) {
        for (field, value) in [("backoffLimitPerIndex", per_index), ("maxFailedIndexes", failed)] {
            if let Some(value) = value {
                e.invalid(&at.child(field), value, "requires indexed completion mode");
            }
        }
    }
}

fn failure_policy(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let rules = spec.part("podFailurePolicy").list("rules");
    let at = at.child("rules");
    if rules.len() > 20 {
        e.push(FieldError::too_many(&at, rules.len(), 20));
    }
    let pod = spec.part("template").part("spec");
    let names: BTreeSet<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pod.list(list))
        .map(|container| container.text("name"))
        .collect();
    for (n, rule) in rules.iter().enumerate() {
        let at = at.index(n);
        let action = rule.text("action");
        let known = ["Count", "FailIndex", "FailJob", "Ignore"];
        match action {
            "" => {
                let detail = "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]";
                e.required(&at.child("action"), detail);
            }
            "FailIndex" if spec.some("backoffLimitPerIndex").is_none() => {
                let detail = "requires the backoffLimitPerIndex to be set";
                e.invalid(&at.child("action"), action, detail);
            }
            _ => e.one_of(&at.child("action"), action, &known),
        }
        let codes = rule.some("onExitCodes");
        if let Some(codes) = codes {
            exit_codes(e, &at.child("onExitCodes"), codes, &names);
        }
        let conditions = rule.list("onPodConditions");
        pod_conditions(e, &at.child("onPodConditions"), conditions);
        let detail = match (codes.is_some(), !conditions.is_empty()) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        e.push(FieldError::new(FieldErrorKind::Invalid, &at, None, detail));
    }
}

fn pod_conditions(e: &mut Report, at: &Path<'_>, conditions: &[Value]) {
    if conditions.len() > 20 {
        e.push(FieldError::too_many(at, conditions.len(), 20));
    }
    for (n, condition) in conditions.iter().enumerate() {
        let at = at.index(n);
        e.form(&at.child("type"), condition.text("type"), format::qualified_name);
        match condition.text("status") {
            "" => {
                let detail = "valid values: [\"False\" \"True\" \"Unknown\"]";
                e.required(&at.child("status"), detail);
            }
            status => e.one_of(&at.child("status"), status, &["False", "True", "Unknown"]),
        }
    }
}

fn exit_codes(e: &mut Report, at: &Path<'_>, codes: &Value, names: &BTreeSet<&str>) {
    let operator = codes.text("operator");
    match operator {
        "" => e.required(&at.child("operator"), "valid values: [\"In\" \"NotIn\"]"),
        operator => e.one_of(&at.child("operator"), operator, &["In", "NotIn"]),
    }
    if let Some(name) = codes.text_given("containerName").filter(|name| !names.contains(name)) {
        let detail = "must be one of the container or initContainer names in the pod template";
        e.invalid(&at.child("containerName"), name, detail);
    }
    let at = at.child("values");
    let values: Vec<i64> =
        codes.list("values").iter().map(|value| value.as_i64().unwrap_or_default()).collect();
    if values.is_empty() {
        e.invalid(&at, codes.part("values").clone(), "at least one value is required");
    } else if values.len() > 255 {
        e.push(FieldError::too_many(&at, values.len(), 255));
    }
    let mut seen = BTreeSet::new();
    for (n, value) in values.iter().enumerate() {
        if operator == "In" && *value == 0 {
            e.invalid(&at.index(n), *value, "must not be 0 for the In operator");
        }
        if !seen.insert(*value) {
            e.duplicate(&at.index(n), *value);
        }
    }
    if !values.is_sorted() {
        e.invalid(&at, codes.part("values").clone(), "must be ordered");
    }
}

fn success_policy(e: &mut Report, at: &Path<'_>, policy: &Value, completions: i64) {
    let at = at.child("rules");
    let rules = policy.list("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        e.required(&at, detail);
    }
    if rules.len() > 20 {
        e.push(FieldError::too_many(&at, rules.len(), 20));
    }
    for (n, rule) in rules.iter().enumerate() {
        let at = at.index(n);
        let (count, indexes) =
            (rule.int_given("succeededCount"), rule.text_given("succeededIndexes"));
        if count.is_none() && indexes.is_none() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            e.required(&at, detail);
        }
        let mut total = 0;
        if let Some(indexes) = indexes {
            let at = at.child("succeededIndexes");
            if indexes.len() > 64 * 1024 {
                e.too_long(&at, 64 * 1024);
            }
            match index_count(indexes, completions) {
                Ok(count) => total = count,
                Err(problem) => {
                    let detail = format!("error parsing succeededIndexes: {problem}");
                    e.invalid(&at, indexes, detail);
                }
            }
        }
        if let Some(count) = count {
            let at = at.child("succeededCount");
            e.not_negative(&at, count);
            if count > completions {
                let detail = format!(
                    "must be less than or equal to {completions} (the number of specified completions)"
                );
                e.invalid(&at, count, detail);
            }
            if indexes.is_some() && count > total {
                let detail = format!(
                    "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
                );
                e.invalid(&at, count, detail);
            }
        }
    }
}

/// How many indexes a text like `1,3-5` names.
fn index_count(text: &str, completions: i64) -> Result<i64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let (mut total, mut last) = (0, None);
    let order =
        |before: i64, now: i64| format!("non-increasing order, previous: {before}, current: {now}");
    for part in text.split(',') {
        let ends: Vec<&str> = part.split('-').collect();
        if ends.len() > 2 {
            return Err(format!(
                "the fragment {part:?} violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        let number = |text: &str| {
            let number: i64 = text
                .parse()
                .map_err(|_| format!("cannot convert string to integer for index: {text:?}"))?;
            if number >= completions {
                return Err(format!("too large index: {text:?}"));
            }
            Ok(number)
        };
        let start = number(ends[0])?;
        let end = match ends.get(1) {
            None => start,
            Some(end) => {
                let end = number(end)?;
                if start >= end {
                    return Err(order(start, end));
                }
                end
            }
        };
        if let Some(last) = last.filter(|last| *last >= start) {
            return Err(order(last, start));
        }
        total += end - start + 1;
        last = Some(end);
    }
    Ok(total)
}

pub(super) fn job_update(e: &mut Report, new: &Value, old: &Value) {
    let was_labels = old.part("spec").part("template").part("metadata").map("labels");
    let prefixed = was_labels.contains_key(JOB_NAME[1]) && was_labels.contains_key(CONTROLLER[1]);
    checked_job(e, new, if prefixed { Labels::Prefixed } else { Labels::Plain });
    meta::check_update(e, new, old);
    let (spec, was) = (new.part("spec"), old.part("spec"));
    job_spec(e, spec);
    let at = Path::new("spec");
    let completions_at = at.child("completions");
    if spec.text("completionMode") == "Indexed" {
        if let Some(completions) = spec.int_given("completions") {
            let changed = spec.part("completions") != was.part("completions");
            if changed && completions != spec.int("parallelism") {
                let detail = "can only be modified in tandem with spec.parallelism";
                e.invalid(&completions_at, completions, detail);
            }
        }
    } else {
        e.immutable(&completions_at, spec.part("completions"), was.part("completions"));
    }
    if spec.part("selector") != was.part("selector") {
        e.invalid(&at.child("selector"), selector::shown(spec.part("selector")), IMMUTABLE);
    }
    template_update(e, &at.child("template"), new, old);
    let shown = |field: &str| match field {
        "podFailurePolicy" => internal::shown_pointer("batch.PodFailurePolicy", spec.some(field)),
        "successPolicy" => internal::shown_pointer("batch.SuccessPolicy", spec.some(field)),
        _ => spec.part(field).clone().into(),
    };
    for field in
        ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"]
    {
        if spec.part(field) != was.part(field) {
            e.invalid(&at.child(field), shown(field), IMMUTABLE);
        }
    }
}

fn template_update(e: &mut Report, at: &Path<'_>, new: &Value, old: &Value) {
    let template = new.part("spec").part("template");
    let mut was = old.part("spec").part("template").clone();
    let waits = old.part("spec").truth("suspend") && old.part("status").some("startTime").is_none();
    if waits {
        // Where pods run may still be decided by whoever queues the job.
        for field in ["labels", "annotations"] {
            take_in(&mut was, template, "metadata", field);
        }
        for field in ["nodeSelector", "tolerations", "schedulingGates"] {
            take_in(&mut was, template, "spec", field);
        }
        let affinity = template.part("spec").part("affinity").clone();
        let mut kept = was.part("spec").part("affinity").clone();
        if kept.is_null() && !affinity.is_null() {
            kept = Value::Object(serde_json::Map::new());
        }
        take(&mut kept, &affinity, "nodeAffinity");
        let empty = kept.as_object().is_none_or(serde_json::Map::is_empty);
        if let Some(Value::Object(spec)) = was.get_mut("spec") {
            if empty && affinity.is_null() {
                spec.remove("affinity");
            } else {
                spec.insert("affinity".to_owned(), kept);
            }
        }
    }
    if *template != was {
        e.invalid(at, internal::shown("core.PodTemplateSpec", template), IMMUTABLE);
    }
}

fn take(into: &mut Value, from: &Value, field: &str) {
    if let Value::Object(fields) = into {
        match from.get(field) {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
    }
}

fn take_in(into: &mut Value, from: &Value, parent: &str, field: &str) {
    if let Some(inner) = into.get_mut(parent) {
        take(inner, from.part(parent), field);
    }
}

pub(super) fn job_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let (status, was) = (new.part("status"), old.part("status"));
    let at = Path::new("status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        e.not_negative(&at.child(field), status.int(field));
    }
    let holds = |status: &Value, of: &str| {
        status
            .list("conditions")
            .iter()
            .any(|condition| condition.text("type") == of && condition.text("status") == "True")
    };
    let conditions = at.child("conditions");
    let mut wrong = |at: &Path<'_>, detail: String| {
        e.push(FieldError::new(FieldErrorKind::Invalid, at, None, detail));
    };
    let (complete, failed) = (holds(status, "Complete"), holds(status, "Failed"));
    let (target, met) = (holds(status, "FailureTarget"), holds(status, "SuccessCriteriaMet"));
    if complete && failed {
        wrong(&conditions, "cannot set Complete=True and Failed=true conditions".into());
    }
    if failed && !target && !holds(was, "Failed") {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        wrong(&conditions, detail.into());
    }
    if complete && !met && !holds(was, "Complete") {
        let detail =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        wrong(&conditions, detail.into());
    }
    for of in ["Failed", "Complete", "FailureTarget"] {
        if holds(was, of) && !holds(status, of) {
            wrong(&conditions, format!("cannot disable the terminal {of}=True condition"));
        }
    }
}

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
    if old.is_none_or(|old| old.part("timeZone") != spec.part("timeZone")) {
        if let Some(zone) = spec.text_given("timeZone") {
            time_zone(e, &at.child("timeZone"), zone);
        }
    }
    let policies = ["Allow", "Forbid", "Replace"];
    e.choice(&at.child("concurrencyPolicy"), spec.text("concurrencyPolicy"), &policies);
    let template = spec.part("jobTemplate").part("spec");
    let template_at = at.child("jobTemplate");
    let template_at = template_at.child("spec");
    common_spec(e, &template_at, template);
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

/// Whether there is a time zone of this name.
pub(super) fn is_known_zone(name: &str) -> bool {
    name.is_empty() || name == "UTC" || name == "Local" || jiff::tz::TimeZone::get(name).is_ok()
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
