//! Jobs: pods that are to end, until enough of them have.
//!
//! Unlike the real controller this one puts no finalizer on its pods: what it has counted it keeps in
//! the status, so that pods may be deleted by hand.

mod outcome;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    children::{self, claim, is_active, is_ready, selects},
    status::{self, Status, Wanted},
};
use crate::{
    clock::seconds_later,
    engine::Context,
    kind::{Id, Kind},
    object::{self, annotation, items, number_or, stamp, text, time},
    plan::{Action, Plan, Writer},
};
use outcome::{Counts, Outcome};

const SOURCE: &str = "job-controller";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// How often pods of the same index have failed before.
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";

pub(crate) fn decide(context: Context<'_>, job: &Value) -> Plan {
    let mut plan = Plan::none();
    if is_finished(job) {
        expire(context, &mut plan, job);
        return plan;
    }
    if object::is_ending(job) || !text(job, "/spec/managedBy").is_empty() {
        return plan;
    }
    let pods = claim(context, &mut plan, Kind::Pod, (Kind::Job, job), selects(job));
    let active: Vec<&Value> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
    let counts = Counts::of(job, &pods);
    let mut conditions = items(job, "/status/conditions").to_vec();
    let suspended = object::flag(job, "/spec/suspend");
    note_suspension(context, &mut plan, job, &mut conditions, suspended);
    let started = (!suspended).then(|| time(job, "/status/startTime").unwrap_or(context.now));
    let outcome = outcome::of(job, &counts, &pods, started, context.now);
    if let Some(outcome) = &outcome {
        finish(context, &mut plan, job, &mut conditions, outcome);
    }
    let over = outcome.is_some();
    let status = status(job, &counts, &active, started, &conditions, (over, context.now));
    plan.status(Writer::Manager, Kind::Job, job, status);
    if over || suspended {
        for pod in active {
            plan.delete(Kind::Pod, pod);
            let message = format!("Deleted pod: {}", object::name(pod));
            plan.tell(job, SOURCE, "SuccessfulDelete", message);
        }
    } else {
        if let Some(deadline) = outcome::deadline(job, started) {
            plan.again_at(deadline);
        }
        scale(context, &mut plan, job, &counts, &active, &pods);
    }
    plan
}

pub(super) fn is_finished(job: &Value) -> bool {
    object::is_true(job, "Complete") || object::is_true(job, "Failed")
}

/// Deletes a job some time after its end, if it wants that.
fn expire(context: Context<'_>, plan: &mut Plan, job: &Value) {
    let ttl = job.pointer("/spec/ttlSecondsAfterFinished").and_then(Value::as_i64);
    let end = ["Complete", "Failed"].into_iter().find_map(|type_name| {
        object::condition(job, type_name).and_then(|c| time(c, "/lastTransitionTime"))
    });
    let (Some(ttl), Some(end), false) = (ttl, end, object::is_ending(job)) else { return };
    let due = seconds_later(end, ttl);
    if due > context.now {
        return plan.again_at(due);
    }
    plan.actions.push(Action::Delete {
        id: Id::of(Kind::Job, job),
        uid: object::uid(job).to_owned(),
        grace: None,
        propagation: Some("Foreground"),
    });
}

fn condition(
    type_name: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &str,
    now: Timestamp,
) -> Value {
    let wanted = Wanted { type_name, status, reason, message: message.to_owned() };
    let mut condition = wanted.value(now);
    condition["lastProbeTime"] = stamp(now).into();
    condition
}

fn note_suspension(
    context: Context<'_>,
    plan: &mut Plan,
    job: &Value,
    conditions: &mut Vec<Value>,
    suspended: bool,
) {
    const SUSPENDED: &str = "Suspended";
    let known = status::find(conditions, SUSPENDED).map(|known| text(known, "/status") == "True");
    if suspended && known != Some(true) {
        plan.tell(job, SOURCE, SUSPENDED, "Job suspended".to_owned());
        let new = condition(SUSPENDED, "True", "JobSuspended", "Job suspended", context.now);
        status::set(conditions, new);
    } else if !suspended && known == Some(true) {
        plan.tell(job, SOURCE, "Resumed", "Job resumed".to_owned());
        let new = condition(SUSPENDED, "False", "JobResumed", "Job resumed", context.now);
        status::set(conditions, new);
    }
}

fn finish(
    context: Context<'_>,
    plan: &mut Plan,
    job: &Value,
    conditions: &mut Vec<Value>,
    outcome: &Outcome,
) {
    let now = context.now;
    match outcome {
        Outcome::Complete => {
            const MESSAGE: &str = "Reached expected number of succeeded pods";
            for type_name in ["SuccessCriteriaMet", "Complete"] {
                let new = condition(type_name, "True", "CompletionsReached", MESSAGE, now);
                status::set(conditions, new);
            }
            plan.tell(job, SOURCE, "Completed", "Job completed".to_owned());
        }
        Outcome::Failed { reason, message } => {
            for type_name in ["FailureTarget", "Failed"] {
                status::set(conditions, condition(type_name, "True", reason, message, now));
            }
            plan.warn(job, SOURCE, reason, (*message).to_owned());
        }
    }
}

fn status(
    job: &Value,
    counts: &Counts,
    active: &[&Value],
    started: Option<Timestamp>,
    conditions: &[Value],
    (over, now): (bool, Timestamp),
) -> Value {
    let running = if over { 0 } else { active.len() };
    let ready = if over { 0 } else { active.iter().filter(|pod| is_ready(pod)).count() };
    let mut status = Status::default()
        .unless_zero("active", running)
        .always("ready", ready)
        .unless_zero("succeeded", counts.succeeded)
        .unless_zero("failed", counts.failed)
        .always("terminating", counts.ending)
        .always("uncountedTerminatedPods", json!({}))
        .unless_empty("conditions", conditions.to_vec());
    if let Some(started) = started {
        status = status.always("startTime", stamp(started));
    }
    if is_indexed(job) && !counts.indexes.is_empty() {
        status = status.always("completedIndexes", outcome::ranges(&counts.indexes));
    }
    if outcome::limit_per_index(job).is_some() {
        status = status.always("failedIndexes", outcome::ranges(&counts.failed_indexes));
    }
    let complete = conditions.iter().any(|c| text(c, "/type") == "Complete");
    if complete {
        status = status.always("completionTime", stamp(now));
    }
    status.into_value()
}

fn is_indexed(job: &Value) -> bool {
    text(job, "/spec/completionMode") == "Indexed"
}

/// Makes as many pods as may run at once, and deletes those above.
fn scale(
    context: Context<'_>,
    plan: &mut Plan,
    job: &Value,
    counts: &Counts,
    active: &[&Value],
    pods: &[&Value],
) {
    let parallelism = usize::try_from(number_or(job, "/spec/parallelism", 1)).unwrap_or_default();
    let wished = match job.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(all) => {
            let done = counts.succeeded + counts.failed_indexes.len();
            let left = usize::try_from(all).unwrap_or_default().saturating_sub(done);
            parallelism.min(left)
        }
        // A queue: once one has succeeded, no more begin.
        None if counts.succeeded > 0 => active.len(),
        None => parallelism,
    };
    for pod in active.iter().skip(wished) {
        plan.delete(Kind::Pod, pod);
    }
    let missing = wished.saturating_sub(active.len());
    if missing == 0 {
        return;
    }
    let is_free = |index: &usize| {
        let is_running = active.iter().any(|pod| index_of(pod) == Some(*index));
        !is_running && !counts.indexes.contains(index) && !counts.failed_indexes.contains(index)
    };
    if outcome::limit_per_index(job).is_some() {
        // Each index waits for itself.
        let all = number_or(job, "/spec/completions", 0);
        let free = (0..usize::try_from(all).unwrap_or_default()).filter(is_free);
        for (place, index) in free.take(missing).enumerate() {
            let failures = counts.failures.get(&index).copied().unwrap_or_default();
            let own: Vec<&Value> =
                pods.iter().copied().filter(|pod| index_of(pod) == Some(index)).collect();
            match outcome::retry_at(&own, failures).filter(|time| *time > context.now) {
                Some(wait) => plan.again_at(wait),
                None => make(context, plan, job, place, Some((index, Some(failures)))),
            }
        }
        return;
    }
    if let Some(wait) = outcome::retry_at(pods, counts.failed).filter(|time| *time > context.now) {
        return plan.again_at(wait);
    }
    for (place, index) in (0..).filter(is_free).take(missing).enumerate() {
        make(context, plan, job, place, is_indexed(job).then_some((index, None)));
    }
}

fn index_of(pod: &Value) -> Option<usize> {
    annotation(pod, INDEX)?.parse().ok()
}

/// Makes a pod; one of an index knows how often others of it have failed, if that is counted.
fn make(
    context: Context<'_>,
    plan: &mut Plan,
    job: &Value,
    place: usize,
    index: Option<(usize, Option<usize>)>,
) {
    let prefix = match index {
        Some((index, _)) => format!("{}-{index}-", object::name(job)),
        None => format!("{}-", object::name(job)),
    };
    let name = children::fresh_name(context, &prefix, job, place);
    let template = job.pointer("/spec/template").unwrap_or(&Value::Null);
    let mut pod = children::pod(template, Kind::Job, job, &name);
    pod["metadata"]["generateName"] = prefix.into();
    if let Some((index, failures)) = index {
        let index = index.to_string();
        if let Some(failures) = failures {
            object::annotate(&mut pod, FAILURES, &failures.to_string());
        }
        object::annotate(&mut pod, INDEX, &index);
        pod["metadata"]["labels"][INDEX] = index.as_str().into();
        pod["spec"]["hostname"] = format!("{}-{index}", object::name(job)).into();
    }
    plan.create(Kind::Pod, pod);
    plan.tell(job, SOURCE, "SuccessfulCreate", format!("Created pod: {name}"));
}
