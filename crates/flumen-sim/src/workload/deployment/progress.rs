//! Whether a rollout gets on.

use serde_json::Value;

use super::{super::status, Rollout, flag_paused};
use crate::{
    clock::seconds_later,
    object::{self, number, stamp, text, time},
};

const PROGRESSING: &str = "Progressing";
const AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

impl Rollout<'_> {
    pub(super) fn deadline(&self) -> Option<i64> {
        let deadline = self.deployment.pointer("/spec/progressDeadlineSeconds")?.as_i64()?;
        (deadline != i64::from(i32::MAX)).then_some(deadline)
    }

    /// Says that a deployment is paused, or no longer.
    pub(super) fn note_pause(&mut self) {
        if self.deadline().is_none() {
            return;
        }
        let reason =
            status::find(&self.conditions, PROGRESSING).map_or("", |known| text(known, "/reason"));
        let (known, paused) = (reason == "DeploymentPaused", flag_paused(self.deployment));
        if reason == TIMED_OUT || known == paused {
            return;
        }
        if paused {
            self.set_condition(PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused");
        } else {
            self.set_condition(
                PROGRESSING,
                "Unknown",
                "DeploymentResumed",
                "Deployment is resumed",
            );
        }
    }

    /// Judges a new status against the last one.
    pub(super) fn note_progress(&mut self, new: &Value) {
        let Some(deadline) = self.deadline() else {
            return status::remove(&mut self.conditions, PROGRESSING);
        };
        let known = status::find(&self.conditions, PROGRESSING).cloned();
        let reason = known.as_ref().map_or("", |known| text(known, "/reason"));
        let is_settled =
            reason == AVAILABLE && number(new, "/replicas") == number(new, "/updatedReplicas");
        if !is_settled {
            if self.is_complete(new) {
                let message = self.message("has successfully progressed.");
                self.set_condition(PROGRESSING, "True", AVAILABLE, &message);
            } else if self.is_moving(new) {
                let message = self.message("is progressing.");
                // The time of the update is what the deadline counts from, so it is renewed.
                status::remove(&mut self.conditions, PROGRESSING);
                self.set_condition(PROGRESSING, "True", "ReplicaSetUpdated", &message);
                if let (Some(known), Some(new)) = (&known, self.conditions.last_mut())
                    && text(known, "/status") == "True"
                {
                    new["lastTransitionTime"] = known["lastTransitionTime"].clone();
                }
            } else if let Some(known) = &known
                && reason != AVAILABLE
            {
                let updated = time(known, "/lastUpdateTime").unwrap_or(self.context.now);
                let end = seconds_later(updated, deadline);
                if reason == TIMED_OUT || end < self.context.now {
                    let message = self.message("has timed out progressing.");
                    self.set_condition(PROGRESSING, "False", TIMED_OUT, &message);
                } else {
                    // A second more, because times have whole seconds.
                    self.plan.again_at(seconds_later(end, 1));
                }
            }
        }
        self.note_failure();
        if self.is_moving(new) && !self.is_complete(new) {
            self.plan.again_at(seconds_later(self.context.now, deadline + 1));
        }
    }

    /// Takes over that a replica set cannot make its pods.
    fn note_failure(&mut self) {
        const FAILURE: &str = "ReplicaFailure";
        let mut sets = self.sets.new.iter().chain(&self.sets.old);
        match sets.find_map(|set| object::condition(&set.object, FAILURE)).cloned() {
            Some(mut failure) => {
                failure["lastUpdateTime"] = stamp(self.context.now).into();
                status::set(&mut self.conditions, failure);
            }
            None => status::remove(&mut self.conditions, FAILURE),
        }
    }

    /// Whether the last status says that everything is done.
    pub(super) fn is_complete_before(&self) -> bool {
        self.is_complete(self.deployment.get("status").unwrap_or(&Value::Null))
    }

    fn is_complete(&self, status: &Value) -> bool {
        let counts = ["/updatedReplicas", "/replicas", "/availableReplicas"];
        counts.iter().all(|count| number(status, count) == self.wished())
            && number(status, "/observedGeneration")
                >= number(self.deployment, "/metadata/generation")
    }

    fn is_moving(&self, new: &Value) -> bool {
        let old = self.deployment.get("status").unwrap_or(&Value::Null);
        let outdated =
            |status: &Value| number(status, "/replicas") - number(status, "/updatedReplicas");
        let grew = |count: &str| number(new, count) > number(old, count);
        grew("/updatedReplicas")
            || outdated(new) < outdated(old)
            || grew("/readyReplicas")
            || grew("/availableReplicas")
    }

    fn message(&self, what: &str) -> String {
        match &self.sets.new {
            Some(set) => format!("ReplicaSet {:?} {what}", object::name(&set.object)),
            None => format!("Deployment {:?} {what}", object::name(self.deployment)),
        }
    }
}
