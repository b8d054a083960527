//! How many pods of a disruption budget may go.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{
    clock::later,
    engine::Context,
    kind::{Id, Kind},
    object::{self, map, number, number_or, number_or_share, stamp, text},
    plan::{Plan, Writer},
    selector,
};

/// How long a pod that was let go may take until it is counted again.
const DISRUPTION_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) fn decide(context: Context<'_>, budget: &Value) -> Plan {
    let mut plan = Plan::none();
    if object::is_ending(budget) {
        return plan;
    }
    let namespace = object::namespace(budget);
    let selector = budget.pointer("/spec/selector");
    let pods: Vec<&Value> = context
        .world
        .list(Kind::Pod, namespace)
        .filter(|pod| selector::matches(selector, map(pod, "/metadata/labels")))
        .filter(|pod| !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed"))
        .collect();
    let disrupted = disrupted(context, budget, &pods);
    let is_healthy = |pod: &&&Value| {
        object::is_true(pod, "Ready")
            && !object::is_ending(pod)
            && !disrupted.contains_key(object::name(pod))
    };
    let healthy = pods.iter().filter(is_healthy).count();
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let least = budget.pointer("/spec/minAvailable");
    let (expected, desired) = match (least, budget.pointer("/spec/maxUnavailable")) {
        (Some(Value::Number(least)), _) => (count(pods.len()), least.as_i64().unwrap_or_default()),
        (Some(least), _) => {
            let expected = wished(context, namespace, &pods);
            (expected, number_or_share(Some(least), expected, true))
        }
        (None, most) => {
            let expected = wished(context, namespace, &pods);
            (expected, (expected - number_or_share(most, expected, true)).max(0))
        }
    };
    let allowed = if expected > 0 { (count(healthy) - desired).max(0) } else { 0 };
    let generation = number(budget, "/metadata/generation");
    let (status, reason) =
        if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let known = object::condition(budget, "DisruptionAllowed");
    let turned = known
        .filter(|known| text(known, "/status") == status)
        .map_or_else(|| stamp(context.now), |known| text(known, "/lastTransitionTime").to_owned());
    let mut status = json!({
        "conditions": [{
            "type": "DisruptionAllowed",
            "status": status,
            "reason": reason,
            "message": "",
            "observedGeneration": generation,
            "lastTransitionTime": turned,
        }],
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": generation,
    });
    if !disrupted.is_empty() {
        plan.again_at(later(context.now, DISRUPTION_TIMEOUT));
        status["disruptedPods"] = disrupted.into();
    }
    plan.status(Writer::Manager, Kind::PodDisruptionBudget, budget, status);
    plan
}

/// The pods that were let go and are still here, with the time of that. They are as good as gone, until it turns out
/// that they stay.
fn disrupted(context: Context<'_>, budget: &Value, pods: &[&Value]) -> Map<String, Value> {
    let noted = map(budget, "/status/disruptedPods").into_iter().flatten();
    let is_going = |(name, time): &(&String, &Value)| {
        let time = time.as_str().and_then(|time| time.parse::<Timestamp>().ok());
        let is_recent = time.is_some_and(|time| later(time, DISRUPTION_TIMEOUT) > context.now);
        is_recent && pods.iter().any(|pod| object::name(pod) == *name && !object::is_ending(pod))
    };
    noted.filter(is_going).map(|(name, time)| (name.clone(), time.clone())).collect()
}

/// How many pods the controllers of some pods want together.
fn wished(context: Context<'_>, namespace: &str, pods: &[&Value]) -> i64 {
    let owners: BTreeSet<Id> = pods
        .iter()
        .filter_map(|pod| object::controller(pod))
        .filter_map(|owner| Some(Id::new(Kind::of(owner)?, namespace, text(owner, "/name"))))
        .collect();
    owners
        .iter()
        .filter_map(|id| context.world.get(id))
        .map(|o| number_or(o, "/spec/replicas", 1))
        .sum()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Settings, plan::Action, world::World};

    #[test]
    fn what_is_ready_above_the_limit_may_go() {
        let set = json!({
            "metadata": {"name": "web", "namespace": "n", "uid": "rs", "resourceVersion": "1"},
            "spec": {"replicas": 4},
        });
        let mut world = World::default();
        for name in ["a", "b", "c"] {
            let pod = json!({
                "metadata": {
                    "name": name, "namespace": "n", "uid": name, "resourceVersion": "1",
                    "labels": {"app": "web"},
                    "ownerReferences": [object::controlled_by(Kind::ReplicaSet, &set)],
                },
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            });
            world.put(Kind::Pod, pod);
        }
        world.put(Kind::ReplicaSet, set);
        for (spec, expected) in [
            (json!({"minAvailable": 2}), (3, 2, 1)),
            (json!({"minAvailable": "50%"}), (4, 2, 1)),
            (json!({"maxUnavailable": 1}), (4, 3, 0)),
            (json!({"maxUnavailable": "50%"}), (4, 2, 1)),
        ] {
            let mut budget = json!({"metadata": {"name": "b", "namespace": "n"}, "spec": spec});
            budget["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
            let settings = Settings::default();
            let now = Timestamp::UNIX_EPOCH;
            let plan = decide(Context { world: &world, now, settings: &settings }, &budget);
            let [Action::ReplaceStatus { object, .. }] = plan.actions.as_slice() else {
                panic!("{plan:?}")
            };
            let status = &object["status"];
            let found = ["expectedPods", "desiredHealthy", "disruptionsAllowed"]
                .map(|name| status[name].as_i64().unwrap_or(-1));
            assert_eq!((found[0], found[1], found[2]), expected, "{}", budget["spec"]);
        }
    }

    #[test]
    fn who_was_let_go_is_not_counted_for_a_while() {
        let mut world = World::default();
        for name in ["a", "b"] {
            let pod = json!({
                "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": "1"},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            });
            world.put(Kind::Pod, pod);
        }
        let budget = json!({
            "metadata": {"name": "b", "namespace": "n"},
            "spec": {"minAvailable": 1, "selector": {}},
            "status": {"disruptedPods": {"a": "1970-01-01T00:00:00Z", "x": "1970-01-01T00:00:00Z"}},
        });
        let settings = Settings::default();
        for (seconds, allowed, noted) in [(60, 0, true), (121, 1, false)] {
            let now = Timestamp::from_second(seconds).expect("a time");
            let plan = decide(Context { world: &world, now, settings: &settings }, &budget);
            let [Action::ReplaceStatus { object, .. }] = plan.actions.as_slice() else {
                panic!("{plan:?}")
            };
            assert_eq!(object["status"]["disruptionsAllowed"], allowed, "{object}");
            assert_eq!(object["status"]["disruptedPods"].get("a").is_some(), noted, "{object}");
            assert!(object["status"]["disruptedPods"].get("x").is_none());
        }
    }
}
