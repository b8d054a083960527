//! Daemon sets: a pod on every node, of which there is one.

use serde_json::{Value, json};

use super::{
    children::{self, claim, is_active, is_available, is_over, is_ready, selects},
    revision,
    status::Status,
};
use crate::{
    engine::Context,
    kind::Kind,
    node,
    object::{self, items, label, number},
    plan::{Plan, Writer},
};

const SOURCE: &str = "daemonset-controller";
const REVISION: &str = "controller-revision-hash";

pub(crate) fn decide(context: Context<'_>, set: &Value) -> Plan {
    let mut plan = Plan::none();
    let pods = claim(context, &mut plan, Kind::Pod, (Kind::DaemonSet, set), selects(set));
    let history = revision::sync(context, &mut plan, Kind::DaemonSet, set);
    let wished = usize::from(context.world.find(Kind::Node, "", node::NAME).is_some());
    let is_newest = |pod: &Value| label(pod, REVISION) == Some(&history.hash);
    let active: Vec<&Value> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
    let status = status(context, set, &active, wished, is_newest);
    plan.status(Writer::Manager, Kind::DaemonSet, set, status);
    if object::is_ending(set) {
        return plan;
    }
    for pod in pods.iter().filter(|pod| is_over(pod) && !object::is_ending(pod)) {
        delete(&mut plan, set, pod);
    }
    let replaces = object::text(set, "/spec/updateStrategy/type") != "OnDelete";
    let outdated = active.iter().filter(|pod| replaces && !is_newest(pod));
    let excess = active.iter().skip(wished);
    for pod in outdated.chain(excess) {
        delete(&mut plan, set, pod);
    }
    // The old one must be gone before the next one comes.
    if pods.is_empty() && wished > 0 {
        make(context, &mut plan, set, &history.hash);
    }
    history.trim(&mut plan, set, |name| {
        let hash = name.rsplit('-').next();
        pods.iter().any(|pod| label(pod, REVISION) == hash)
    });
    plan
}

fn delete(plan: &mut Plan, set: &Value, pod: &Value) {
    plan.delete(Kind::Pod, pod);
    let message = format!("Deleted pod: {}", object::name(pod));
    plan.tell(set, SOURCE, "SuccessfulDelete", message);
}

fn make(context: Context<'_>, plan: &mut Plan, set: &Value, hash: &str) {
    let prefix = format!("{}-", object::name(set));
    let name = children::fresh_name(context, &prefix, set, 0);
    let template = set.pointer("/spec/template").unwrap_or(&Value::Null);
    let mut pod = children::pod(template, Kind::DaemonSet, set, &name);
    pod["metadata"]["generateName"] = prefix.into();
    pod["metadata"]["labels"][REVISION] = hash.into();
    let generation = object::annotation(set, "deprecated.daemonset.template.generation");
    pod["metadata"]["labels"]["pod-template-generation"] = generation.unwrap_or("1").into();
    object::set(
        &mut pod,
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
        json!({"nodeSelectorTerms": [{
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": [node::NAME]}],
        }]}),
    );
    let mut tolerations = items(&pod, "/spec/tolerations").to_vec();
    for (taint, effect) in [
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    ] {
        let key = format!("node.kubernetes.io/{taint}");
        let toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
    pod["spec"]["tolerations"] = tolerations.into();
    plan.create(Kind::Pod, pod);
    plan.tell(set, SOURCE, "SuccessfulCreate", format!("Created pod: {name}"));
}

fn status(
    context: Context<'_>,
    set: &Value,
    active: &[&Value],
    wished: usize,
    is_newest: impl Fn(&Value) -> bool,
) -> Value {
    let min_ready = number(set, "/spec/minReadySeconds");
    let available =
        active.iter().filter(|pod| is_available(pod, min_ready, context.now)).count().min(wished);
    Status::default()
        .always("currentNumberScheduled", active.len().min(wished))
        .always("numberMisscheduled", 0)
        .always("desiredNumberScheduled", wished)
        .always("numberReady", active.iter().filter(|pod| is_ready(pod)).count().min(wished))
        .always("observedGeneration", number(set, "/metadata/generation"))
        .unless_zero("updatedNumberScheduled", active.iter().filter(|pod| is_newest(pod)).count())
        .unless_zero("numberAvailable", available)
        .unless_zero("numberUnavailable", wished - available)
        .kept(set, "collisionCount")
        .kept(set, "conditions")
        .into_value()
}
