//! When to look for drift.
//!
//! Each component of an install has at most one schedule, named `drift-check-<install>-<component>`.
//! [`Schedules`] knows what is due and when to look again; the clock is the caller's.

use std::{collections::BTreeMap, future::Future, time::Duration};

use cronexpr::{Crontab, parse_crontab};
use jiff::Timestamp;

use crate::BuildId;

/// Reads five cron fields in UTC.
pub(crate) fn parse_schedule(text: &str) -> Option<Crontab> {
    let has_five_fields = text.split_whitespace().count() == 5;
    has_five_fields.then(|| parse_crontab(&format!("{text} UTC")).ok())?
}

/// What time it is, and how to wait.
pub trait Clock {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()>;
}

/// The schedules of one install.
#[derive(Debug)]
pub struct Schedules {
    install: String,
    components: BTreeMap<String, Schedule>,
}

#[derive(Debug)]
struct Schedule {
    /// The build that it came with.
    build: BuildId,
    /// None if drift is not looked for.
    crontab: Option<Crontab>,
    next: Option<Timestamp>,
}

impl Schedules {
    pub fn new(install: &str) -> Self {
        Self { install: install.to_owned(), components: BTreeMap::new() }
    }

    /// Sets what the configuration of a component says; empty means never. It replaces the running
    /// schedule once the component was built with it: a schedule comes with a build.
    pub fn set(&mut self, component: &str, schedule: &str, build: BuildId, now: Timestamp) {
        if self.components.get(component).is_some_and(|running| running.build == build) {
            return;
        }
        let crontab = parse_schedule(schedule);
        let next = crontab.as_ref().and_then(|crontab| next_after(crontab, now));
        self.components.insert(component.to_owned(), Schedule { build, crontab, next });
    }

    /// The name that a check goes by.
    pub fn name(&self, component: &str) -> String {
        format!("drift-check-{}-{component}", self.install)
    }

    /// Waits until something is due, at most for `longest`, and returns what is.
    pub async fn wait(&mut self, clock: &impl Clock, longest: Duration) -> Vec<String> {
        let now = clock.now();
        let until_due = self.next().map(|next| Duration::try_from(next.duration_since(now)));
        // A time that has passed has no duration.
        let pause = until_due.map_or(longest, |due| due.unwrap_or_default().min(longest));
        clock.sleep(pause).await;
        self.due(clock.now())
    }

    /// When something is due next; `None` if nothing ever is.
    fn next(&self) -> Option<Timestamp> {
        self.components.values().filter_map(|schedule| schedule.next).min()
    }

    /// The components that are due, each once however often its time has come since.
    fn due(&mut self, now: Timestamp) -> Vec<String> {
        let mut due = Vec::new();
        for (name, schedule) in &mut self.components {
            if schedule.next.is_some_and(|next| next <= now) {
                let crontab = schedule.crontab.as_ref();
                schedule.next = crontab.and_then(|crontab| next_after(crontab, now));
                due.push(name.clone());
            }
        }
        due
    }
}

fn next_after(crontab: &Crontab, now: Timestamp) -> Option<Timestamp> {
    crontab.find_next(now).ok().map(|time| time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        format!("2026-01-01T{time}Z").parse().expect("a time")
    }

    fn build(number: u8) -> BuildId {
        BuildId::new(at("00:00:00"), [number; 10])
    }

    #[test]
    fn what_is_due_is_handed_out_once() {
        let mut schedules = Schedules::new("prod");
        assert_eq!(schedules.next(), None);
        schedules.set("web", "*/10 * * * *", build(1), at("08:00:00"));
        schedules.set("api", "30 * * * *", build(1), at("08:00:00"));
        schedules.set("docs", "", build(1), at("08:00:00"));
        assert_eq!(schedules.next(), Some(at("08:10:00")));
        assert!(schedules.due(at("08:09:59")).is_empty());
        assert_eq!(schedules.due(at("08:10:00")), ["web"]);
        assert!(schedules.due(at("08:10:01")).is_empty());
        assert_eq!(schedules.next(), Some(at("08:20:00")));
        assert_eq!(schedules.due(at("09:05:00")), ["api", "web"]);
        assert_eq!(schedules.next(), Some(at("09:10:00")));
        assert_eq!(schedules.name("web"), "drift-check-prod-web");
    }

    #[test]
    fn a_schedule_takes_effect_with_the_next_build() {
        let mut schedules = Schedules::new("prod");
        schedules.set("web", "0 * * * *", build(1), at("08:00:00"));
        schedules.set("web", "*/5 * * * *", build(1), at("08:01:00"));
        assert_eq!(schedules.next(), Some(at("09:00:00")));
        schedules.set("web", "*/5 * * * *", build(2), at("08:02:00"));
        assert_eq!(schedules.next(), Some(at("08:05:00")), "it replaces the running one");
        schedules.set("web", "", build(3), at("08:03:00"));
        assert_eq!(schedules.next(), None);
    }

    #[test]
    fn acceptance_38_five_fields_are_wanted() {
        assert!(parse_schedule("0 2 * * *").is_some());
        for text in ["every day", "@daily", "0 2 * * * *", "61 2 * * *", ""] {
            assert!(parse_schedule(text).is_none(), "{text}");
        }
    }
}
