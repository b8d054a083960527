//! A pod comes to the node. It takes all pods whose claims are bound; selectors of nodes are not asked,
//! because there is only this one.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    concern::claims,
    engine::Context,
    kind::{Id, Kind},
    node,
    object::{self, items, text},
    plan::{Action, Plan, Writer},
};

const SCHEDULER: &str = "default-scheduler";

pub(super) fn decide(context: Context<'_>, pod: &Value) -> Plan {
    let mut plan = Plan::none();
    let phase = text(pod, "/status/phase");
    let is_gated = !items(pod, "/spec/schedulingGates").is_empty();
    if is_gated || matches!(phase, "Succeeded" | "Failed") {
        return plan;
    }
    if let Some(problem) = problem(context, pod) {
        let message = format!(
            "0/1 nodes are available: {problem}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        );
        let known = object::condition(pod, "PodScheduled");
        if known.is_none_or(|known| text(known, "/message") != message) {
            plan.warn(pod, SCHEDULER, "FailedScheduling", message.clone());
            let status = unschedulable(pod, &message, context.now);
            plan.status(Writer::Scheduler, Kind::Pod, pod, status);
        }
        return plan;
    }
    plan.actions.push(Action::Bind {
        pod: Id::of(Kind::Pod, pod),
        uid: object::uid(pod).to_owned(),
        node: node::NAME.to_owned(),
    });
    let (namespace, name) = (object::namespace(pod), object::name(pod));
    let message = format!("Successfully assigned {namespace}/{name} to {}", node::NAME);
    plan.tell(pod, SCHEDULER, "Scheduled", message);
    plan
}

/// Why no node can take a pod.
fn problem(context: Context<'_>, pod: &Value) -> Option<String> {
    let namespace = object::namespace(pod);
    let mut unbound = false;
    for name in claims(pod) {
        match context.world.find(Kind::PersistentVolumeClaim, namespace, name) {
            None => return Some(format!("persistentvolumeclaim {name:?} not found")),
            Some(claim) => unbound |= text(claim, "/status/phase") != "Bound",
        }
    }
    unbound.then(|| "pod has unbound immediate PersistentVolumeClaims".to_owned())
}

fn unschedulable(pod: &Value, message: &str, now: Timestamp) -> Value {
    let mut status = pod.get("status").cloned().unwrap_or_else(|| json!({}));
    status["conditions"] = json!([{
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastProbeTime": null,
        "lastTransitionTime": object::stamp(now),
        "observedGeneration": object::number(pod, "/metadata/generation"),
    }]);
    status
}
