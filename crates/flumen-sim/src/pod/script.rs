//! Trouble that annotations ask for.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::Value;

use crate::object::{annotation, text};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "annotations that are there or not, in any combination"
)]
pub(super) struct Script {
    pub(super) pull_error: bool,
    pub(super) crash_loop: bool,
    pub(super) never_ready: bool,
    pub(super) slow_start: Duration,
    /// Whether the containers are to end, and whether they start again if they fail.
    pub(super) ends: bool,
    pub(super) restarts: bool,
    pub(super) fails: bool,
}

impl Script {
    pub(super) fn of(pod: &Value) -> Self {
        let asks = |name: &str| {
            let value = annotation(pod, &format!("sim.flumen.dev/{name}"));
            value.is_some_and(|value| value != "false")
        };
        let slow = annotation(pod, "sim.flumen.dev/slow-start");
        let slow: Option<SignedDuration> = slow.and_then(|span| span.parse().ok());
        let policy = text(pod, "/spec/restartPolicy");
        let ends = matches!(policy, "Never" | "OnFailure");
        let crash_loop = asks("crash-loop");
        Self {
            pull_error: asks("image-pull-error"),
            crash_loop: crash_loop && !ends,
            never_ready: asks("never-ready"),
            slow_start: slow.and_then(|span| span.try_into().ok()).unwrap_or_default(),
            ends,
            restarts: policy != "Never",
            fails: ends && (crash_loop || asks("job-fail")),
        }
    }
}
