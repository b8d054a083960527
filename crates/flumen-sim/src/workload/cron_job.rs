//! Cron jobs: a job at every time of a schedule.

use cronexpr::{Crontab, parse_crontab};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{job::is_finished, status::Status};
use crate::{
    clock::seconds_later,
    engine::Context,
    kind::{Id, Kind},
    object::{self, flag, items, number_or, stamp, text, time},
    plan::{Action, Plan, Writer, reference},
};

const SOURCE: &str = "cronjob-controller";

pub(crate) fn decide(context: Context<'_>, cron_job: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::is_ending(cron_job) {
        return plan;
    }
    let mut jobs: Vec<&Value> =
        context.world.controlled(object::uid(cron_job), Kind::Job).collect();
    jobs.sort_by_key(|job| text(job, "/metadata/creationTimestamp"));
    let mut active: Vec<Value> =
        jobs.iter().filter(|job| !is_finished(job)).map(|job| active_reference(job)).collect();
    let mut last = time(cron_job, "/status/lastScheduleTime");
    tell_ends(&mut plan, cron_job, &jobs);
    trim(&mut plan, cron_job, &jobs);
    let schedule = schedule(cron_job);
    if schedule.is_none() {
        let message = format!("unparseable schedule: {:?}", text(cron_job, "/spec/schedule"));
        plan.warn(cron_job, SOURCE, "UnparseableSchedule", message);
    }
    if let Some(schedule) = schedule.filter(|_| !flag(cron_job, "/spec/suspend")) {
        if let Some(due) = due(cron_job, &schedule, last, context.now)
            && let Some(job) = begin(&mut plan, cron_job, due, &jobs)
        {
            active.push(active_reference(&job));
            last = Some(due);
        }
        if let Ok(next) = schedule.find_next(context.now) {
            plan.again_at(next.timestamp());
        }
    }
    let succeeded = jobs.iter().filter_map(|job| time(job, "/status/completionTime")).max();
    let succeeded = succeeded.max(time(cron_job, "/status/lastSuccessfulTime"));
    let mut status = Status::default().unless_empty("active", active);
    for (name, time) in [("lastScheduleTime", last), ("lastSuccessfulTime", succeeded)] {
        if let Some(time) = time {
            status = status.always(name, stamp(time));
        }
    }
    plan.status(Writer::Manager, Kind::CronJob, cron_job, status.into_value());
    plan
}

/// Says which of the jobs that ran have ended.
fn tell_ends(plan: &mut Plan, cron_job: &Value, jobs: &[&Value]) {
    let ran = items(cron_job, "/status/active");
    for job in jobs.iter().filter(|job| is_finished(job)) {
        let name = object::name(job);
        if ran.iter().any(|active| text(active, "/name") == name) {
            let end = if object::is_true(job, "Complete") { "Complete" } else { "Failed" };
            let message = format!("Saw completed job: {name}, condition: {end}");
            plan.tell(cron_job, SOURCE, "SawCompletedJob", message);
        }
    }
}

/// The schedule in its time zone; macros as `@daily` are those of cron.
fn schedule(cron_job: &Value) -> Option<Crontab> {
    let fields = match text(cron_job, "/spec/schedule") {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        fields => fields,
    };
    let zone = match text(cron_job, "/spec/timeZone") {
        "" => "UTC",
        zone => zone,
    };
    parse_crontab(&format!("{fields} {zone}")).ok()
}

/// The last time that has come and has not been served, unless it is too long ago.
fn due(
    cron_job: &Value,
    schedule: &Crontab,
    last: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let created = time(cron_job, "/metadata/creationTimestamp").unwrap_or(now);
    let deadline = cron_job.pointer("/spec/startingDeadlineSeconds").and_then(Value::as_i64);
    let earliest = deadline.map_or(Timestamp::MIN, |seconds| seconds_later(now, -seconds));
    let from = last.unwrap_or(created).max(earliest);
    let mut due = None;
    let mut at = from;
    // Only the newest of missed times counts; a day of minutes is looked at.
    for _ in 0..1500 {
        match schedule.find_next(at) {
            Ok(next) if next.timestamp() <= now => at = next.timestamp(),
            _ => break,
        }
        due = Some(at);
    }
    due
}

/// Begins the job of a time, if the others allow it.
fn begin(plan: &mut Plan, cron_job: &Value, due: Timestamp, jobs: &[&Value]) -> Option<Value> {
    let running: Vec<&&Value> =
        jobs.iter().filter(|job| !is_finished(job) && !object::is_ending(job)).collect();
    match text(cron_job, "/spec/concurrencyPolicy") {
        "Forbid" if !running.is_empty() => {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            plan.tell(cron_job, SOURCE, "JobAlreadyActive", message.to_owned());
            return None;
        }
        "Replace" => {
            for job in running {
                delete(plan, cron_job, job);
            }
        }
        _ => {}
    }
    let name = format!("{}-{}", object::name(cron_job), due.as_second() / 60);
    if jobs.iter().any(|job| object::name(job) == name) {
        return None;
    }
    let template = cron_job.pointer("/spec/jobTemplate").unwrap_or(&Value::Null);
    let mut job = json!({
        "apiVersion": Kind::Job.api_version(),
        "kind": Kind::Job.name(),
        "metadata": {
            "name": name,
            "namespace": object::namespace(cron_job),
            "ownerReferences": [object::controlled_by(Kind::CronJob, cron_job)],
        },
        "spec": template.get("spec").cloned().unwrap_or_default(),
    });
    for part in ["labels", "annotations"] {
        if let Some(value) = template.pointer(&format!("/metadata/{part}")) {
            job["metadata"][part] = value.clone();
        }
    }
    object::annotate(&mut job, "batch.kubernetes.io/cronjob-scheduled-timestamp", &stamp(due));
    plan.create(Kind::Job, job.clone());
    plan.tell(cron_job, SOURCE, "SuccessfulCreate", format!("Created job {name}"));
    Some(job)
}

/// Deletes the oldest finished jobs above the limits.
fn trim(plan: &mut Plan, cron_job: &Value, jobs: &[&Value]) {
    for (condition, limit, other) in
        [("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1)]
    {
        let limit = number_or(cron_job, &format!("/spec/{limit}"), other);
        let ended: Vec<&&Value> = jobs
            .iter()
            .filter(|job| object::is_true(job, condition) && !object::is_ending(job))
            .collect();
        let excess = ended.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
        for job in ended.into_iter().take(excess) {
            delete(plan, cron_job, job);
        }
    }
}

fn delete(plan: &mut Plan, cron_job: &Value, job: &Value) {
    plan.actions.push(Action::Delete {
        id: Id::of(Kind::Job, job),
        uid: object::uid(job).to_owned(),
        grace: None,
        propagation: Some("Background"),
    });
    let message = format!("Deleted job {}", object::name(job));
    plan.tell(cron_job, SOURCE, "SuccessfulDelete", message);
}

/// A job as the status lists it. One that was just made has neither identity nor version as yet.
fn active_reference(job: &Value) -> Value {
    let mut reference = reference(job);
    if let Some(map) = reference.as_object_mut() {
        map.retain(|_, value| value != "");
    }
    reference
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn cron_job(spec: &Value) -> Value {
        json!({
            "metadata": {"name": "c", "creationTimestamp": "2026-01-01T00:00:30Z"},
            "spec": spec,
        })
    }

    #[test]
    fn the_newest_of_missed_times_is_due() {
        let job = cron_job(&json!({"schedule": "*/5 * * * *"}));
        let schedule = schedule(&job).expect("a schedule");
        let due = |last, now| due(&job, &schedule, last, at(now));
        assert_eq!(due(None, "2026-01-01T00:04:59Z"), None);
        assert_eq!(due(None, "2026-01-01T00:11:00Z"), Some(at("2026-01-01T00:10:00Z")));
        assert_eq!(due(Some(at("2026-01-01T00:10:00Z")), "2026-01-01T00:11:00Z"), None);
    }

    #[test]
    fn a_time_that_is_too_long_ago_is_not_due() {
        let job = cron_job(&json!({"schedule": "0 * * * *", "startingDeadlineSeconds": 60}));
        let schedule = schedule(&job).expect("a schedule");
        assert_eq!(due(&job, &schedule, None, at("2026-01-01T01:05:00Z")), None);
        assert!(due(&job, &schedule, None, at("2026-01-01T01:00:30Z")).is_some());
    }

    #[test]
    fn schedules_have_zones_and_macros() {
        assert!(schedule(&cron_job(&json!({"schedule": "@daily"}))).is_some());
        let zoned = cron_job(&json!({"schedule": "0 0 * * *", "timeZone": "Europe/Berlin"}));
        let next = schedule(&zoned).and_then(|s| s.find_next(at("2026-01-01T12:00:00Z")).ok());
        assert_eq!(next.map(|next| next.timestamp()), Some(at("2026-01-01T23:00:00Z")));
        assert!(schedule(&cron_job(&json!({"schedule": "often"}))).is_none());
    }

    #[test]
    fn a_running_job_forbids_the_next_or_is_replaced() {
        let running = json!({"metadata": {"name": "c-1", "uid": "j", "namespace": "n"}});
        for (policy, begins, deletes) in
            [("Allow", true, false), ("Forbid", false, false), ("Replace", true, true)]
        {
            let job = cron_job(&json!({"concurrencyPolicy": policy}));
            let mut plan = Plan::none();
            let begun = begin(&mut plan, &job, at("2026-01-01T00:10:00Z"), &[&running]);
            assert_eq!(begun.is_some(), begins, "{policy}");
            let deleted = plan.actions.iter().any(|action| matches!(action, Action::Delete { .. }));
            assert_eq!(deleted, deletes, "{policy}");
        }
    }
}
