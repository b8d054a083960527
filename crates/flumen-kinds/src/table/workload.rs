//! Cells of jobs, deployments and what guards them.

use serde_json::Value;

use super::{duration, object::Object, selector};

pub(super) fn completions(job: Object<'_>) -> Value {
    let done = job.number("status.succeeded");
    let parallelism = job.number("spec.parallelism");
    match job.at("spec.completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{done}/{wanted}").into(),
        None if parallelism > 1 => format!("{done}/1 of {parallelism}").into(),
        None => format!("{done}/1").into(),
    }
}

pub(super) fn job_duration(job: Object<'_>) -> Value {
    let Some(start) = job.time("status.startTime") else {
        return "".into();
    };
    let end = job.time("status.completionTime").unwrap_or(job.now);
    duration::age(Some(start), end).into()
}

pub(super) fn job_status(job: Object<'_>) -> Value {
    let is = |condition: &str| {
        let found = job.condition("status.conditions", condition);
        found.is_some_and(|condition| condition.text("status") == "True")
    };
    let over = ["Complete", "Failed"].into_iter().find(|state| is(state));
    let terminating = job.has("metadata.deletionTimestamp").then_some("Terminating");
    let state = over.or(terminating).or_else(|| {
        ["Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(|state| is(state))
    });
    state.unwrap_or("Running").into()
}

pub(super) fn suspended(cron_job: Object<'_>) -> Value {
    match cron_job.at("spec.suspend").and_then(Value::as_bool) {
        Some(true) => "True".into(),
        Some(false) => "False".into(),
        None => "<unset>".into(),
    }
}

pub(super) fn last_schedule(cron_job: Object<'_>) -> Value {
    const PATH: &str = "status.lastScheduleTime";
    if cron_job.has(PATH) { cron_job.age(PATH).into() } else { "<none>".into() }
}

/// Unlike other kinds, an empty one is printed as nothing.
pub(super) fn deployment_selector(deployment: Object<'_>) -> Value {
    match deployment.at("spec.selector").map(selector::selector) {
        Some(Ok(text)) => text.into(),
        Some(Err(_)) => "<invalid>".into(),
        None => "".into(),
    }
}

/// Who made a revision, as `statefulset.apps/db`.
pub(super) fn controller(revision: Object<'_>) -> Value {
    let Some(owner) = revision.items("metadata.ownerReferences").find(|o| o.flag("controller"))
    else {
        return "<none>".into();
    };
    let group = owner.text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    let kind = format!("{}{dot}{group}", owner.text("kind")).to_lowercase();
    format!("{kind}/{}", owner.text("name")).into()
}

pub(super) fn min_available(budget: Object<'_>) -> Value {
    number_or_share(budget, "spec.minAvailable")
}

pub(super) fn max_unavailable(budget: Object<'_>) -> Value {
    number_or_share(budget, "spec.maxUnavailable")
}

fn number_or_share(budget: Object<'_>, path: &str) -> Value {
    match budget.at(path) {
        Some(Value::String(share)) => share.as_str().into(),
        Some(number) => number.to_string().into(),
        None => "N/A".into(),
    }
}
