//! Jobs.

use flumen_fields::Path;
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::{IMMUTABLE, Report};
use super::selector::{self, Match};
use super::{format, job_policies, pod};
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
pub(super) fn common_spec(e: &mut Report, at: &Path<'_>, spec: &Value) {
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
        job_policies::failure_policy(e, &at.child("podFailurePolicy"), spec);
    }
    if let Some(policy) = spec.some("successPolicy") {
        let at = at.child("successPolicy");
        if spec.text("completionMode") == "Indexed" {
            job_policies::success_policy(e, &at, policy, spec.int("completions"));
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
        if let (Some(completions), Some(failed)) = (completions, failed)
            && failed > completions
        {
            e.invalid(&failed_at, failed, "must be less than or equal to completions");
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
