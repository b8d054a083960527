//! What may become of the status of a Job. Others than its controller may manage a Job, so it is checked
//! that no end is taken back and no count goes down. What did not change is not checked again.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, FieldErrorKind, Path};
use serde_json::Value;

use super::job_indexes::{fault, overlap};
use super::meta;
use super::report::{IMMUTABLE, Report};
use crate::internal;
use crate::read::Read;

pub(super) fn job_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let at = Path::new("status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        e.not_negative(&at.child(field), new.part("status").int(field));
    }
    uncounted(e, new.part("status"));
    let step = Step { spec: new.part("spec"), status: new.part("status"), was: old.part("status") };
    conditions(e, step);
    times(e, step);
    finished(e, step);
    indexes(e, step);
    if step.changes(&["ready", "active"]) && step.status.int("ready") > step.status.int("active") {
        let detail = "cannot set more ready pods than active";
        e.invalid(&at.child("ready"), step.status.int("ready"), detail);
    }
    success_criteria(e, step);
    transitions(e, step);
}

/// A status, what it was, and what the Job is to do.
#[derive(Clone, Copy)]
struct Step<'a> {
    spec: &'a Value,
    status: &'a Value,
    was: &'a Value,
}

impl Step<'_> {
    fn changes(self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.status.some(field) != self.was.some(field))
    }

    fn turns(self, condition: &str) -> bool {
        holds(self.status, condition) != holds(self.was, condition)
    }

    fn is_indexed(self) -> bool {
        self.spec.text("completionMode") == "Indexed"
    }

    fn turns_finished(self) -> bool {
        is_finished(self.status) != is_finished(self.was)
    }
}

fn has(status: &Value, condition: &str, value: &str) -> bool {
    let mut conditions = status.list("conditions").iter();
    conditions.any(|one| one.text("type") == condition && one.text("status") == value)
}

fn holds(status: &Value, condition: &str) -> bool {
    has(status, condition, "True")
}

fn is_finished(status: &Value) -> bool {
    holds(status, "Complete") || holds(status, "Failed")
}

fn wrong_conditions(e: &mut Report, detail: impl Into<String>) {
    let at = Path::new("status");
    let at = at.child("conditions");
    e.push(FieldError::new(FieldErrorKind::Invalid, &at, None, detail.into()));
}

fn uncounted(e: &mut Report, status: &Value) {
    let at = Path::new("status");
    let at = at.child("uncountedTerminatedPods");
    let mut seen = BTreeSet::new();
    for outcome in ["succeeded", "failed"] {
        let list = at.child(outcome);
        for (index, pod) in status.part("uncountedTerminatedPods").list(outcome).iter().enumerate()
        {
            let pod = pod.as_str().unwrap_or_default();
            if pod.is_empty() {
                e.invalid(&list.index(index), pod, "must not be empty");
            } else if !seen.insert(pod) {
                e.duplicate(&list.index(index), pod);
            }
        }
    }
}

fn conditions(e: &mut Report, step: Step<'_>) {
    let status = step.status;
    let (complete, failed) = (holds(status, "Complete"), holds(status, "Failed"));
    let is_target = holds(status, "FailureTarget");
    if (step.turns("Complete") || step.turns("Failed")) && complete && failed {
        wrong_conditions(e, "cannot set Complete=True and Failed=true conditions");
    }
    if (step.turns("Complete") || step.turns("FailureTarget")) && complete && is_target {
        wrong_conditions(e, "cannot set Complete=True and FailureTarget=true conditions");
    }
}

fn times(e: &mut Report, step: Step<'_>) {
    let status = step.status;
    let at = Path::new("status");
    let at = at.child("completionTime");
    let (started, ended) = (status.text("startTime"), status.text("completionTime"));
    let complete = holds(status, "Complete");
    if step.turns("Complete") || step.changes(&["completionTime"]) {
        if !ended.is_empty() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            e.invalid(&at, ended, detail);
        }
        if ended.is_empty() && complete {
            e.required(&at, "completionTime is required for Complete jobs");
        }
    }
    let change = step.changes(&["startTime", "completionTime"]);
    // Both have the same form, in which the order of texts is that of times.
    if change && !started.is_empty() && !ended.is_empty() && ended < started {
        e.invalid(&at, ended, "must be equal to or after `startTime`");
    }
}

fn finished(e: &mut Report, step: Step<'_>) {
    let (spec, status) = (step.spec, step.status);
    if (step.turns("Failed") || step.changes(&["failedIndexes"]))
        && holds(status, "Failed")
        && !holds(status, "FailureTarget")
    {
        let detail = "cannot set Failed=True condition without the FailureTarget=true condition";
        wrong_conditions(e, detail);
    }
    if (step.turns("Complete") || step.turns("SuccessCriteriaMet"))
        && holds(status, "Complete")
        && !holds(status, "SuccessCriteriaMet")
    {
        let detail =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        wrong_conditions(e, detail);
    }
    if !is_finished(status) {
        return;
    }
    let at = Path::new("status");
    let turns = step.turns_finished();
    if (turns || step.changes(&["active"])) && status.int("active") > 0 {
        let active = status.int("active");
        e.invalid(&at.child("active"), active, "active>0 is invalid for finished job");
    }
    let never_starts = spec.truth("suspend") && spec.int_given("completions") == Some(0);
    let is_started = status.some("startTime").is_some();
    if (turns || step.changes(&["startTime"])) && !never_starts && !is_started {
        e.required(&at.child("startTime"), "startTime is required for finished job");
    }
    let uncounted = status.part("uncountedTerminatedPods");
    let is_counted = uncounted.list("failed").is_empty() && uncounted.list("succeeded").is_empty();
    if (turns || step.changes(&["uncountedTerminatedPods"])) && !is_counted {
        let at = at.child("uncountedTerminatedPods");
        let uncounted = internal::shown("batch.UncountedTerminatedPods", uncounted);
        e.invalid(&at, uncounted, "must be empty for finished job");
    }
    if (turns || step.changes(&["terminating"])) && status.int("terminating") > 0 {
        let terminating = status.int("terminating");
        let detail = "terminating>0 is invalid for finished job";
        e.invalid(&at.child("terminating"), terminating, detail);
    }
}

fn indexes(e: &mut Report, step: Step<'_>) {
    let at = Path::new("status");
    let (completed_at, failed_at) = (at.child("completedIndexes"), at.child("failedIndexes"));
    let completed = step.status.text("completedIndexes");
    let failed = step.status.text_given("failedIndexes");
    let limit = step.spec.int_given("completions");
    let is_limited_by_index = step.spec.some("backoffLimitPerIndex").is_some();
    let (completed_change, failed_changes) =
        (step.changes(&["completedIndexes"]), step.changes(&["failedIndexes"]));
    let failed_change = failed.filter(|_| failed_changes);
    if completed_change && let Some(fault) = limit.and_then(|limit| fault(completed, limit)) {
        let detail = format!("error parsing completedIndexes: {fault}");
        e.invalid(&completed_at, completed, detail);
    }
    if let (Some(failed), Some(limit), true) = (failed_change, limit, is_limited_by_index)
        && let Some(fault) = fault(failed, limit)
    {
        e.invalid(&failed_at, failed, format!("error parsing failedIndexes: {fault}"));
    }
    if completed_change && !completed.is_empty() && !step.is_indexed() {
        let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
        e.invalid(&completed_at, completed, detail);
    }
    if let (Some(failed), false) = (failed_change, is_limited_by_index) {
        let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        e.invalid(&failed_at, failed, detail);
    }
    if let (Some(failed), Some(limit)) = (failed, limit)
        && (completed_change || failed_changes)
        && let Some(index) = overlap(completed, failed, limit)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        e.invalid(&failed_at, failed, detail);
    }
}

fn success_criteria(e: &mut Report, step: Step<'_>) {
    let status = step.status;
    let met = holds(status, "SuccessCriteriaMet");
    for other in ["Failed", "FailureTarget"] {
        if met && holds(status, other) {
            let detail = format!("cannot set SuccessCriteriaMet=True and {other}=true conditions");
            wrong_conditions(e, detail);
        }
    }
    if step.spec.some("successPolicy").is_some() && !met && holds(status, "Complete") {
        let detail =
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        wrong_conditions(e, detail);
    }
}

fn transitions(e: &mut Report, step: Step<'_>) {
    let Step { spec, status, was } = step;
    let at = Path::new("status");
    for end in ["Failed", "Complete", "FailureTarget"] {
        if holds(was, end) && !holds(status, end) {
            wrong_conditions(e, format!("cannot disable the terminal {end}=True condition"));
        }
    }
    // Those of which as many run at once as have to succeed may be made smaller.
    let may_shrink =
        step.is_indexed() && spec.int_given("completions") == spec.int_given("parallelism");
    for (count, may_fall) in [("failed", false), ("succeeded", may_shrink)] {
        if !may_fall && status.int(count) < was.int(count) {
            let detail = format!("cannot decrease the {count} counter");
            e.invalid(&at.child(count), status.int(count), detail);
        }
    }
    let (ended, had_ended) = (status.text("completionTime"), was.text("completionTime"));
    if !ended.is_empty() && !had_ended.is_empty() && ended != had_ended {
        e.invalid(&at.child("completionTime"), ended, IMMUTABLE);
    }
    let resumes = holds(was, "Suspended") && has(status, "Suspended", "False");
    let had_started = was.some("startTime").is_some();
    if step.changes(&["startTime"]) && had_started && !resumes && !spec.truth("suspend") {
        let detail = "startTime cannot be removed for unsuspended job";
        e.required(&at.child("startTime"), detail);
    }
    if step.turns("SuccessCriteriaMet") {
        if holds(was, "SuccessCriteriaMet") {
            wrong_conditions(e, "cannot disable the SuccessCriteriaMet=True condition");
        } else if holds(was, "Complete") {
            let detail =
                "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
            wrong_conditions(e, detail);
        }
    }
}
