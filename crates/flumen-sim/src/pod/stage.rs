//! How far a pod has come after a time on its node.

use std::time::Duration;

use super::script::Script;
use crate::Pace;

pub(super) const PULL_FAILED: &str = "ErrImagePull";
pub(super) const PULL_WAITS: &str = "ImagePullBackOff";
pub(super) const PULL_MESSAGE: &str = "not found (simulated by an annotation)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Containers are being made.
    Creating,
    PullFailed,
    PullWaits,
    Running {
        ready: bool,
    },
    /// Containers exited and wait to be started again: how often they were, and how long they wait.
    Crashed {
        restarts: u32,
        wait: Duration,
    },
    Ended {
        failed: bool,
    },
}

/// How long a failed pull is shown before it is said to wait.
const PULL_SHOWN: Duration = Duration::from_secs(2);

/// How long a failed container waits at first, and at most.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LAST_WAIT: Duration = Duration::from_mins(5);

/// The stage after a time, and after which time the next one comes.
pub(super) fn at(script: &Script, elapsed: Duration, pace: Pace) -> (Stage, Option<Duration>) {
    if elapsed < pace.start {
        return (Stage::Creating, Some(pace.start));
    }
    if script.pull_error {
        let waits = pace.start + PULL_SHOWN;
        return if elapsed < waits {
            (Stage::PullFailed, Some(waits))
        } else {
            (Stage::PullWaits, None)
        };
    }
    if script.ends {
        let end = pace.start + pace.run.max(script.slow_start);
        return match (elapsed < end, script.fails && script.restarts) {
            (true, _) => (Stage::Running { ready: !script.never_ready }, Some(end)),
            (false, true) => crashed(end, elapsed),
            (false, false) => (Stage::Ended { failed: script.fails }, None),
        };
    }
    if script.crash_loop {
        return crashed(pace.start, elapsed);
    }
    let ready = pace.start + script.slow_start;
    if script.never_ready {
        (Stage::Running { ready: false }, None)
    } else if elapsed < ready {
        (Stage::Running { ready: false }, Some(ready))
    } else {
        (Stage::Running { ready: true }, None)
    }
}

fn crashed(first: Duration, elapsed: Duration) -> (Stage, Option<Duration>) {
    let (mut restarts, mut wait, mut next) = (1, FIRST_WAIT, first + FIRST_WAIT);
    while next <= elapsed {
        restarts += 1;
        wait = (wait * 2).min(LAST_WAIT);
        next += wait;
    }
    (Stage::Crashed { restarts, wait }, Some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { start: Duration::from_secs(1), run: Duration::from_secs(2) };

    fn check(script: Script, elapsed: u64, expected: Stage, next: Option<u64>) {
        let stage = at(&script, Duration::from_secs(elapsed), PACE);
        assert_eq!(stage, (expected, next.map(Duration::from_secs)));
    }

    #[test]
    fn a_pod_becomes_ready() {
        check(Script::default(), 0, Stage::Creating, Some(1));
        check(Script::default(), 1, Stage::Running { ready: true }, None);
    }

    #[test]
    fn slow_and_never() {
        let slow = Script { slow_start: Duration::from_secs(5), ..Script::default() };
        check(slow, 2, Stage::Running { ready: false }, Some(6));
        check(slow, 6, Stage::Running { ready: true }, None);
        let never = Script { never_ready: true, ..Script::default() };
        check(never, 100, Stage::Running { ready: false }, None);
    }

    #[test]
    fn jobs_end() {
        let job = Script { ends: true, ..Script::default() };
        check(job, 1, Stage::Running { ready: true }, Some(3));
        check(job, 3, Stage::Ended { failed: false }, None);
        check(Script { fails: true, ..job }, 3, Stage::Ended { failed: true }, None);
    }

    #[test]
    fn crashes_come_ever_more_slowly() {
        let script = Script { crash_loop: true, ..Script::default() };
        let wait = Duration::from_secs;
        check(script, 1, Stage::Crashed { restarts: 1, wait: wait(10) }, Some(11));
        check(script, 11, Stage::Crashed { restarts: 2, wait: wait(20) }, Some(31));
        check(script, 31, Stage::Crashed { restarts: 3, wait: wait(40) }, Some(71));
    }

    #[test]
    fn a_pull_fails_then_waits() {
        let script = Script { pull_error: true, ..Script::default() };
        check(script, 1, Stage::PullFailed, Some(3));
        check(script, 3, Stage::PullWaits, None);
    }
}
