//! The cells of a pod: what its containers are doing, in a word.

use jiff::Timestamp;
use serde_json::Value;

use super::{duration, object::Object};

/// Ready, status and restarts.
pub(super) fn summary(pod: Object<'_>) -> Vec<Value> {
    let mut seen = Seen::default();
    let mut reason = pod_reason(pod);
    let initializing = init_containers(pod, &mut seen, &mut reason);
    if !initializing || is_true(pod, "Initialized") {
        seen.restarts = seen.sidecar_restarts;
        seen.last_restart = seen.last_sidecar_restart;
        containers(pod, &mut seen, &mut reason);
    }
    if pod.has("metadata.deletionTimestamp") {
        let over = matches!(pod.text("status.phase"), "Succeeded" | "Failed");
        if pod.text("status.reason") == "NodeLost" {
            "Unknown".clone_into(&mut reason);
        } else if !over {
            "Terminating".clone_into(&mut reason);
        }
    }
    let sidecars = pod.items("spec.initContainers").filter(|c| is_sidecar(*c)).count();
    let total = pod.count("spec.containers") + sidecars;
    let restarts = match seen.last_restart {
        Some(last) if seen.restarts != 0 => {
            format!("{} ({} ago)", seen.restarts, duration::age(Some(last), pod.now))
        }
        _ => seen.restarts.to_string(),
    };
    vec![format!("{}/{total}", seen.ready).into(), reason.into(), restarts.into()]
}

pub(super) fn ip(pod: Object<'_>) -> Value {
    match pod.items("status.podIPs").next().map(|ip| ip.text("ip")) {
        Some(ip) if !ip.is_empty() => ip.into(),
        _ => "<none>".into(),
    }
}

pub(super) fn readiness_gates(pod: Object<'_>) -> Value {
    let total = pod.count("spec.readinessGates");
    if total == 0 {
        return "<none>".into();
    }
    let gates = pod.items("spec.readinessGates");
    let open = gates.filter(|gate| is_true(pod, gate.text("conditionType"))).count();
    format!("{open}/{total}").into()
}

/// What was counted over the containers.
#[derive(Default)]
struct Seen {
    ready: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
    sidecar_restarts: i64,
    last_sidecar_restart: Option<Timestamp>,
}

fn pod_reason(pod: Object<'_>) -> String {
    const GATED: &str = "SchedulingGated";
    let mut conditions = pod.items("status.conditions");
    if conditions.any(|c| c.text("type") == "PodScheduled" && c.text("reason") == GATED) {
        return GATED.to_owned();
    }
    match pod.text("status.reason") {
        "" => pod.text("status.phase").to_owned(),
        reason => reason.to_owned(),
    }
}

/// Whether the pod is still busy with its init containers.
fn init_containers(pod: Object<'_>, seen: &mut Seen, reason: &mut String) -> bool {
    for (place, status) in pod.items("status.initContainerStatuses").enumerate() {
        let name = status.text("name");
        let sidecar =
            pod.items("spec.initContainers").any(|c| c.text("name") == name && is_sidecar(c));
        let last = status.time("lastState.terminated.finishedAt");
        seen.restarts += status.number("restartCount");
        seen.last_restart = seen.last_restart.max(last);
        if sidecar {
            seen.sidecar_restarts += status.number("restartCount");
            seen.last_sidecar_restart = seen.last_sidecar_restart.max(last);
        }
        let terminated = status.has("state.terminated");
        if terminated && status.number("state.terminated.exitCode") == 0 {
            continue;
        }
        if sidecar && status.flag("started") {
            seen.ready += usize::from(status.flag("ready"));
            continue;
        }
        let waiting = status.text("state.waiting.reason");
        *reason = if terminated {
            format!("Init:{}", ended(status))
        } else if !waiting.is_empty() && waiting != "PodInitializing" {
            format!("Init:{waiting}")
        } else {
            format!("Init:{place}/{}", pod.count("spec.initContainers"))
        };
        return true;
    }
    false
}

fn containers(pod: Object<'_>, seen: &mut Seen, reason: &mut String) {
    let mut running = false;
    let mut error = None;
    for status in pod.items("status.containerStatuses").rev() {
        seen.restarts += status.number("restartCount");
        let last = status.time("lastState.terminated.finishedAt");
        seen.last_restart = seen.last_restart.max(last);
        let waiting = status.text("state.waiting.reason");
        if !waiting.is_empty() {
            waiting.clone_into(reason);
        } else if status.has("state.terminated") {
            *reason = ended(status);
            if status.number("state.terminated.exitCode") != 0 {
                error = Some(reason.clone());
            }
        } else if status.flag("ready") && status.has("state.running") {
            running = true;
            seen.ready += 1;
        }
    }
    if reason == "Completed" {
        if running && is_true(pod, "Ready") {
            "Running".clone_into(reason);
        } else if let Some(error) = error {
            *reason = error;
        } else if running {
            "NotReady".clone_into(reason);
        }
    }
}

/// How a container ended.
fn ended(status: Object<'_>) -> String {
    let signal = status.number("state.terminated.signal");
    match status.text("state.terminated.reason") {
        "" if signal != 0 => format!("Signal:{signal}"),
        "" => format!("ExitCode:{}", status.number("state.terminated.exitCode")),
        reason => reason.to_owned(),
    }
}

/// Whether a container of the start stays.
fn is_sidecar(container: Object<'_>) -> bool {
    container.text("restartPolicy") == "Always"
}

fn is_true(pod: Object<'_>, condition: &str) -> bool {
    let found = pod.condition("status.conditions", condition);
    found.is_some_and(|condition| condition.text("status") == "True")
}
