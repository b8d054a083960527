//! The life of a simulated pod: it comes to the node, its containers start, run, and perhaps end.

mod schedule;
mod script;
mod stage;
mod status;

use serde_json::Value;

use crate::{
    clock::later,
    engine::Context,
    kind::{Id, Kind},
    node,
    object::{self, annotation, items, number, text},
    plan::{Action, Plan, Writer},
};
use script::Script;
use stage::Stage;

/// Says that nothing runs behind an object.
pub(crate) const SIMULATED: &str = "sim.flumen.dev/simulated";

const KUBELET: &str = "kubelet";

pub(crate) fn decide(context: Context<'_>, pod: &Value) -> Plan {
    match text(pod, "/spec/nodeName") {
        "" if object::is_ending(pod) => Plan::none(),
        "" => schedule::decide(context, pod),
        node::NAME if object::is_ending(pod) => end(pod),
        node::NAME => go_on(context, pod),
        _ => Plan::none(),
    }
}

/// Stops the containers and lets the pod go.
fn end(pod: &Value) -> Plan {
    let mut plan = Plan::none();
    // Zero means that it only waits for finalizers of others.
    if number(pod, "/metadata/deletionGracePeriodSeconds") == 0 {
        return plan;
    }
    for container in items(pod, "/spec/containers") {
        let message = format!("Stopping container {}", text(container, "/name"));
        plan.tell(pod, KUBELET, "Killing", message);
    }
    let (id, uid) = (Id::of(Kind::Pod, pod), object::uid(pod).to_owned());
    plan.actions.push(Action::Delete { id, uid, grace: Some(0), propagation: None });
    plan
}

fn go_on(context: Context<'_>, pod: &Value) -> Plan {
    let mut plan = Plan::none();
    if matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
        return plan;
    }
    let placed = context.world.placed_at(pod, context.now);
    let elapsed = context.now.duration_since(placed).try_into().unwrap_or_default();
    let script = Script::of(pod);
    let (stage, next) = stage::at(&script, elapsed, context.settings.pace);
    if let Some(next) = next {
        plan.again_at(later(placed, next));
    }
    let status = status::of(pod, stage, context.now);
    if pod.get("status") == Some(&status) {
        return plan;
    }
    tell(&mut plan, pod, stage);
    let mut pod = pod.clone();
    if annotation(&pod, SIMULATED).is_none() {
        object::annotate(&mut pod, SIMULATED, "true");
    }
    pod["status"] = status;
    plan.actions.push(Action::ReplaceStatus {
        writer: Writer::Kubelet,
        kind: Kind::Pod,
        object: pod,
    });
    plan
}

/// Events of a stage that a pod comes to.
fn tell(plan: &mut Plan, pod: &Value, stage: Stage) {
    for container in items(pod, "/spec/containers") {
        let (name, image) = (text(container, "/name"), text(container, "/image"));
        let now = items(pod, "/status/containerStatuses").iter().find(|s| text(s, "/name") == name);
        let waiting = now.map_or("", |status| text(status, "/state/waiting/reason"));
        let runs = now.is_some_and(|status| status.pointer("/state/running").is_some());
        match stage {
            Stage::Running { .. } | Stage::Ended { .. } if !runs => {
                let present = format!(
                    "Container image {image:?} already present on machine and can be accessed by the pod"
                );
                plan.tell(pod, KUBELET, "Pulled", present);
                plan.tell(pod, KUBELET, "Created", "Container created".to_owned());
                plan.tell(pod, KUBELET, "Started", "Container started".to_owned());
            }
            Stage::PullFailed if waiting != stage::PULL_FAILED => {
                plan.tell(pod, KUBELET, "Pulling", format!("Pulling image {image:?}"));
                let message = format!("Failed to pull image {image:?}: {}", stage::PULL_MESSAGE);
                plan.warn(pod, KUBELET, "Failed", message);
                plan.warn(pod, KUBELET, "Failed", "Error: ErrImagePull".to_owned());
            }
            Stage::PullWaits if waiting != stage::PULL_WAITS => {
                plan.tell(pod, KUBELET, "BackOff", format!("Back-off pulling image {image:?}"));
                plan.warn(pod, KUBELET, "Failed", "Error: ImagePullBackOff".to_owned());
            }
            Stage::Crashed { .. } => {
                plan.tell(pod, KUBELET, "Created", "Container created".to_owned());
                plan.tell(pod, KUBELET, "Started", "Container started".to_owned());
                let (namespace, uid) = (object::namespace(pod), object::uid(pod));
                let of = format!("{}_{namespace}({uid})", object::name(pod));
                let message = format!("Back-off restarting failed container {name} in pod {of}");
                plan.warn(pod, KUBELET, "BackOff", message);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
