//! Deployments: a replica set for each template, and the way from the old ones to the new one.

mod progress;
mod rollout;
mod scale;
mod sets;

use serde_json::{Value, json};

use super::{
    children::{claim, is_over, selects},
    status::{self, Status},
};
use crate::{
    engine::Context,
    kind::Kind,
    object::{self, annotate, annotation, items, number, number_or, number_or_share, text},
    plan::{Action, Plan, Writer},
};
use sets::{Set, Sets};

const SOURCE: &str = "deployment-controller";
const REVISION: &str = "deployment.kubernetes.io/revision";

/// A deployment while it is decided upon.
struct Rollout<'a> {
    context: Context<'a>,
    deployment: &'a Value,
    sets: Sets,
    conditions: Vec<Value>,
    /// How often the hash of the template was another's.
    collisions: Option<i64>,
    plan: Plan,
}

pub(crate) fn decide(context: Context<'_>, deployment: &Value) -> Plan {
    let mut plan = Plan::none();
    let owner = (Kind::Deployment, deployment);
    let found = claim(context, &mut plan, Kind::ReplicaSet, owner, selects(deployment));
    let mut rollout = Rollout {
        context,
        deployment,
        sets: Sets::of(deployment, &found),
        conditions: items(deployment, "/status/conditions").to_vec(),
        collisions: deployment.pointer("/status/collisionCount").and_then(Value::as_i64),
        plan,
    };
    rollout.go_on();
    rollout.plan
}

impl Rollout<'_> {
    fn go_on(&mut self) {
        if object::is_ending(self.deployment) {
            return self.finish(false);
        }
        self.note_pause();
        self.sets.sync_new(self.deployment);
        if flag_paused(self.deployment) || self.sets.were_scaled(self.wished()) {
            self.scale();
            if flag_paused(self.deployment) {
                self.clean_up();
            }
            return self.finish(false);
        }
        if self.is_rolling() {
            self.roll();
        } else {
            self.recreate();
        }
        self.finish(true);
    }

    fn wished(&self) -> i64 {
        number_or(self.deployment, "/spec/replicas", 1)
    }

    fn is_rolling(&self) -> bool {
        text(self.deployment, "/spec/strategy/type") != "Recreate"
    }

    /// How many pods there may be above the wish, and how many may be missing. One of them is not
    /// zero, or nothing would ever move.
    fn limits(&self) -> (i64, i64) {
        if !self.is_rolling() {
            return (0, 0);
        }
        let at =
            |name: &str| self.deployment.pointer(&format!("/spec/strategy/rollingUpdate/{name}"));
        let surge = number_or_share(at("maxSurge"), self.wished(), true);
        let missing = number_or_share(at("maxUnavailable"), self.wished(), false);
        let missing = if surge == 0 && missing == 0 { 1 } else { missing };
        (surge, missing.min(self.wished()))
    }

    /// Deletes old replica sets above the limit that have no pods.
    fn clean_up(&mut self) {
        let limit = number_or(self.deployment, "/spec/revisionHistoryLimit", i64::MAX);
        let mut old: Vec<&Set> =
            self.sets.old.iter().filter(|set| !object::is_ending(&set.object)).collect();
        let excess = old.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        old.sort_by_key(|set| set.revision());
        for set in old.into_iter().take(excess) {
            let is_empty = number(&set.object, "/status/replicas") == 0 && set.replicas() == 0;
            if is_empty && set.is_observed() {
                self.plan.delete(Kind::ReplicaSet, &set.object);
            }
        }
    }

    /// Writes what was decided about replica sets, then the status.
    fn finish(&mut self, is_rollout: bool) {
        let status = self.status(is_rollout);
        let changed = self.sets.take_changed();
        // Replica sets first: the status speaks of them.
        let told = std::mem::take(&mut self.plan.actions);
        for (object, is_new) in changed {
            let (writer, kind) = (Writer::Manager, Kind::ReplicaSet);
            self.plan.actions.push(if is_new {
                Action::Create { writer, kind, object }
            } else {
                Action::Replace { writer, kind, object }
            });
        }
        self.plan.actions.extend(told);
        let mut deployment = self.deployment.clone();
        let revision = self.sets.new.as_ref().and_then(|set| annotation(&set.object, REVISION));
        if let Some(revision) = revision
            && annotation(&deployment, REVISION) != Some(revision)
        {
            annotate(&mut deployment, REVISION, revision);
        }
        deployment["status"] = status;
        if deployment != *self.deployment {
            self.plan.actions.push(Action::ReplaceStatus {
                writer: Writer::Manager,
                kind: Kind::Deployment,
                object: deployment,
            });
        }
    }

    fn status(&mut self, is_rollout: bool) -> Value {
        let sum = |name: &str| self.sets.sum(&format!("/status/{name}"));
        let available = sum("availableReplicas");
        let unavailable = (self.sets.wished() - available).max(0);
        let updated =
            self.sets.new.as_ref().map_or(0, |set| number(&set.object, "/status/replicas"));
        let (_, missing) = self.limits();
        let has_enough = available >= self.wished() - missing;
        let (status, reason, message) = if has_enough {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            (
                "False",
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            )
        };
        let count = |number: i64| usize::try_from(number).unwrap_or_default();
        let numbers = Status::default()
            .always("observedGeneration", number(self.deployment, "/metadata/generation"))
            .unless_zero("replicas", count(sum("replicas")))
            .unless_zero("updatedReplicas", count(updated))
            .unless_zero("readyReplicas", count(sum("readyReplicas")))
            .unless_zero("availableReplicas", count(available))
            .unless_zero("unavailableReplicas", count(unavailable))
            .always("terminatingReplicas", sum("terminatingReplicas"));
        let numbers = match self.collisions {
            Some(collisions) => numbers.always("collisionCount", collisions),
            None => numbers,
        };
        self.set_condition("Available", status, reason, message);
        let mut value = numbers.into_value();
        if is_rollout {
            self.note_progress(&value);
        }
        if !self.conditions.is_empty() {
            value["conditions"] = self.conditions.clone().into();
        }
        value
    }

    fn set_condition(&mut self, type_name: &str, status: &str, reason: &str, message: &str) {
        let now = object::stamp(self.context.now);
        let condition = json!({
            "type": type_name,
            "status": status,
            "reason": reason,
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        });
        status::set(&mut self.conditions, condition);
    }

    /// Whether pods of old templates are still there.
    fn has_old_pods(&self) -> bool {
        let counted = self.sets.old.iter().any(|set| number(&set.object, "/status/replicas") > 0);
        counted
            || self.sets.old.iter().any(|set| {
                let mut pods = self.context.world.controlled(object::uid(&set.object), Kind::Pod);
                pods.any(|pod| !is_over(pod))
            })
    }
}

fn flag_paused(deployment: &Value) -> bool {
    object::flag(deployment, "/spec/paused")
}

#[cfg(test)]
mod tests;
