//! `ReplicaSets` and `ReplicationControllers`: as many pods as are wished.

use serde_json::Value;

use super::{
    children::{self, by_use, claim, is_active, is_available, is_over, is_ready, selects},
    status::{self, Status, Wanted},
};
use crate::{
    engine::Context,
    kind::Kind,
    object::{self, items, map, number},
    plan::{Plan, Writer},
    selector,
};

pub(crate) fn replica_set(context: Context<'_>, set: &Value) -> Plan {
    decide(context, Kind::ReplicaSet, set, "replicaset-controller", selects(set))
}

pub(crate) fn replication_controller(context: Context<'_>, set: &Value) -> Plan {
    let wanted = map(set, "/spec/selector");
    let selects = |pod: &Value| selector::contains(map(pod, "/metadata/labels"), wanted);
    decide(context, Kind::ReplicationController, set, "replication-controller", selects)
}

/// Pods that are made or deleted at once, so that a mistake does not flood the server.
const BURST: usize = 500;

fn decide(
    context: Context<'_>,
    kind: Kind,
    set: &Value,
    source: &'static str,
    selects: impl Fn(&Value) -> bool,
) -> Plan {
    let mut plan = Plan::none();
    let pods = claim(context, &mut plan, Kind::Pod, (kind, set), selects);
    let mut active: Vec<&Value> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
    let ending = pods.iter().filter(|pod| object::is_ending(pod) && !is_over(pod)).count();
    let wished = usize::try_from(number(set, "/spec/replicas")).unwrap_or_default();
    // First, so that a pod that cannot be made does not hold back what is known.
    plan.status(Writer::Manager, kind, set, status(context, kind, set, &active, ending, wished));
    let min_ready = number(set, "/spec/minReadySeconds");
    let soon = active.iter().filter_map(|pod| children::available_at(pod, min_ready));
    if let Some(next) = soon.filter(|time| *time > context.now).min() {
        plan.again_at(next);
    }
    if !object::is_ending(set) {
        let template = set.pointer("/spec/template").unwrap_or(&Value::Null);
        for place in active.len()..wished.min(active.len() + BURST) {
            let prefix = format!("{}-", object::name(set));
            let name = children::fresh_name(context, &prefix, set, place);
            let mut pod = children::pod(template, kind, set, &name);
            pod["metadata"]["generateName"] = prefix.into();
            plan.create(Kind::Pod, pod);
            plan.tell(set, source, "SuccessfulCreate", format!("Created pod: {name}"));
        }
        if active.len() > wished {
            by_use(&mut active);
            for pod in active.iter().take((active.len() - wished).min(BURST)) {
                plan.delete(Kind::Pod, pod);
                let message = format!("Deleted pod: {}", object::name(pod));
                plan.tell(set, source, "SuccessfulDelete", message);
            }
        }
    }
    plan
}

fn status(
    context: Context<'_>,
    kind: Kind,
    set: &Value,
    active: &[&Value],
    ending: usize,
    wished: usize,
) -> Value {
    const FAILURE: &str = "ReplicaFailure";
    let min_ready = number(set, "/spec/minReadySeconds");
    let labels = map(set, "/spec/template/metadata/labels");
    let labelled = |pod: &&&Value| match labels {
        Some(labels) if !labels.is_empty() => {
            selector::contains(map(pod, "/metadata/labels"), Some(labels))
        }
        _ => true,
    };
    let mut conditions = items(set, "/status/conditions").to_vec();
    match context.world.failure(kind, set) {
        Some(message) => {
            let reason = if active.len() < wished { "FailedCreate" } else { "FailedDelete" };
            let wanted =
                Wanted { type_name: FAILURE, status: "True", reason, message: message.to_owned() };
            status::set(&mut conditions, wanted.value(context.now));
        }
        None => status::remove(&mut conditions, FAILURE),
    }
    let available = active.iter().filter(|pod| is_available(pod, min_ready, context.now)).count();
    let mut status = Status::default()
        .always("replicas", active.len())
        .unless_zero("fullyLabeledReplicas", active.iter().filter(labelled).count())
        .unless_zero("readyReplicas", active.iter().filter(|pod| is_ready(pod)).count())
        .unless_zero("availableReplicas", available)
        .unless_empty("conditions", conditions)
        .always("observedGeneration", number(set, "/metadata/generation"));
    if kind == Kind::ReplicaSet {
        status = status.always("terminatingReplicas", ending);
    }
    status.into_value()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::{Settings, plan::Action, world::World};

    fn set(replicas: i64) -> Value {
        json!({
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web", "namespace": "n", "uid": "rs", "generation": 1, "resourceVersion": "1"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "app", "image": "img"}]},
                },
            },
        })
    }

    fn pod(name: &str, ready: bool, owner: Option<&Value>) -> Value {
        let owners: Vec<Value> =
            owner.map(|owner| object::controlled_by(Kind::ReplicaSet, owner)).into_iter().collect();
        json!({
            "metadata": {
                "name": name, "namespace": "n", "uid": name, "resourceVersion": "1",
                "labels": {"app": "web"}, "ownerReferences": owners,
            },
            "spec": {"nodeName": "flumen"},
            "status": {
                "phase": "Running",
                "conditions": [{
                    "type": "Ready",
                    "status": if ready { "True" } else { "False" },
                    "lastTransitionTime": "1970-01-01T00:00:00Z",
                }],
            },
        })
    }

    fn decided(set: &Value, pods: Vec<Value>) -> Plan {
        let mut world = World::default();
        for pod in pods {
            world.put(Kind::Pod, pod);
        }
        let settings = Settings::default();
        replica_set(Context { world: &world, now: Timestamp::UNIX_EPOCH, settings: &settings }, set)
    }

    fn created(plan: &Plan) -> Vec<&Value> {
        let created = plan.actions.iter().filter_map(|action| match action {
            Action::Create { kind: Kind::Pod, object, .. } => Some(object),
            _ => None,
        });
        created.collect()
    }

    fn deleted(plan: &Plan) -> Vec<&str> {
        let deleted = plan.actions.iter().filter_map(|action| match action {
            Action::Delete { id, .. } => Some(id.name.as_str()),
            _ => None,
        });
        deleted.collect()
    }

    #[test]
    fn missing_pods_are_made_from_the_template() {
        let set = set(2);
        let plan = decided(&set, vec![]);
        let pods = created(&plan);
        assert_eq!(pods.len(), 2);
        assert_ne!(object::name(pods[0]), object::name(pods[1]));
        assert!(object::name(pods[0]).starts_with("web-"));
        assert!(object::is_controlled_by(pods[0], "rs"));
        assert_eq!(object::label(pods[0], "app"), Some("web"));
    }

    #[test]
    fn pods_that_are_not_ready_go_first() {
        let set = set(1);
        let pods = vec![pod("a", true, Some(&set)), pod("b", false, Some(&set))];
        assert_eq!(deleted(&decided(&set, pods)), ["b"]);
    }

    #[test]
    fn orphans_are_taken_over_before_new_ones_are_made() {
        let set = set(1);
        let plan = decided(&set, vec![pod("a", true, None)]);
        let adopted = plan.actions.iter().any(|action| {
            matches!(action, Action::Replace { object, .. } if object::is_controlled_by(object, "rs"))
        });
        assert!(adopted, "{plan:?}");
        assert_eq!(created(&plan), Vec::<&Value>::new());
    }

    #[test]
    fn the_status_counts_and_is_written_once() {
        let mut set = set(2);
        let pods = vec![pod("a", true, Some(&set)), pod("b", false, Some(&set))];
        let plan = decided(&set, pods.clone());
        let Some(Action::ReplaceStatus { object, .. }) = plan.actions.first() else {
            panic!("{plan:?}")
        };
        assert_eq!(
            object["status"],
            json!({
                "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 1, "availableReplicas": 1,
                "observedGeneration": 1, "terminatingReplicas": 0,
            })
        );
        set["status"] = object["status"].clone();
        assert_eq!(decided(&set, pods).actions, vec![]);
    }

    #[test]
    fn readiness_must_last() {
        let mut set = set(1);
        set["spec"]["minReadySeconds"] = 5.into();
        let pods = vec![pod("a", true, Some(&set))];
        let plan = decided(&set, pods);
        assert_eq!(plan.again.map(Timestamp::as_second), Some(5));
        let Some(Action::ReplaceStatus { object, .. }) = plan.actions.first() else {
            panic!("{plan:?}")
        };
        assert_eq!(object["status"]["availableReplicas"], Value::Null);
    }
}
