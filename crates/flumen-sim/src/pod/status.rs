//! The status of a pod at a stage, as a kubelet writes it. Times of what does not change are kept.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::stage::{self, Stage};
use crate::{
    hash, node,
    object::{self, flag, items, number, stamp, text},
};

pub(super) fn of(pod: &Value, stage: Stage, now: Timestamp) -> Value {
    let mut status = pod.get("status").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut put = |name: &str, value: Value| status.insert(name.to_owned(), value);
    put("phase", phase(stage).into());
    put("observedGeneration", number(pod, "/metadata/generation").into());
    put("hostIP", node::ADDRESS.into());
    put("hostIPs", json!([{"ip": node::ADDRESS}]));
    if text(pod, "/status/startTime").is_empty() {
        put("startTime", stamp(now).into());
    }
    if stage != Stage::Creating {
        let ip = ip(pod);
        put("podIP", ip.as_str().into());
        put("podIPs", json!([{"ip": ip}]));
    }
    let init = containers(pod, "initContainer", stage, now);
    let main = containers(pod, "container", stage, now);
    put("conditions", conditions(pod, stage, &init, &main, now));
    put("containerStatuses", main.into());
    if !init.is_empty() {
        put("initContainerStatuses", init.into());
    }
    Value::Object(status)
}

fn phase(stage: Stage) -> &'static str {
    match stage {
        Stage::Creating | Stage::PullFailed | Stage::PullWaits => "Pending",
        Stage::Running { .. } | Stage::Crashed { .. } => "Running",
        Stage::Ended { failed: false } => "Succeeded",
        Stage::Ended { failed: true } => "Failed",
    }
}

/// An address that is the same whenever it is asked for.
fn ip(pod: &Value) -> String {
    if flag(pod, "/spec/hostNetwork") {
        return node::ADDRESS.to_owned();
    }
    let [_, a, b, c] = hash::fnv(object::uid(pod).as_bytes()).to_be_bytes();
    format!("10.{}.{b}.{c}", 128 | a)
}

/// What a container does at a stage.
enum Doing {
    Waiting(&'static str, String),
    Running { ready: bool },
    Exited(i64),
}

fn containers(pod: &Value, sort: &str, stage: Stage, now: Timestamp) -> Vec<Value> {
    let specs = items(pod, &format!("/spec/{sort}s"));
    let known = items(pod, &format!("/status/{sort}Statuses"));
    let is_init = sort == "initContainer";
    specs
        .iter()
        .map(|spec| {
            let name = text(spec, "/name");
            let known = known.iter().find(|status| text(status, "/name") == name);
            let stays = is_init && text(spec, "/restartPolicy") == "Always";
            let doing = match stage {
                Stage::Creating | Stage::PullFailed | Stage::PullWaits if is_init => {
                    Doing::Waiting("PodInitializing", String::new())
                }
                _ if is_init && !stays => Doing::Exited(0),
                Stage::Creating => Doing::Waiting("ContainerCreating", String::new()),
                Stage::PullFailed => {
                    Doing::Waiting(stage::PULL_FAILED, stage::PULL_MESSAGE.to_owned())
                }
                Stage::PullWaits => {
                    let image = text(spec, "/image");
                    Doing::Waiting(stage::PULL_WAITS, format!("Back-off pulling image {image:?}"))
                }
                Stage::Crashed { .. } if stays => Doing::Running { ready: true },
                Stage::Crashed { wait, .. } => {
                    let (namespace, uid) = (object::namespace(pod), object::uid(pod));
                    let of = format!("{}_{namespace}({uid})", object::name(pod));
                    let wait = jiff::SignedDuration::try_from(wait).unwrap_or_default();
                    let message =
                        format!("back-off {wait:#} restarting failed container={name} pod={of}");
                    Doing::Waiting("CrashLoopBackOff", message)
                }
                Stage::Running { ready } => Doing::Running { ready: ready || stays },
                Stage::Ended { failed } => Doing::Exited(i64::from(failed && !is_init)),
            };
            let restarts = match stage {
                Stage::Crashed { restarts, .. } if !is_init => i64::from(restarts),
                _ => known.map_or(0, |known| number(known, "/restartCount")),
            };
            container(pod, spec, known, &doing, restarts, now)
        })
        .collect()
}

fn container(
    pod: &Value,
    spec: &Value,
    known: Option<&Value>,
    doing: &Doing,
    restarts: i64,
    now: Timestamp,
) -> Value {
    let (name, image) = (text(spec, "/name"), text(spec, "/image"));
    let kept = |pointer: &str| match known.map_or("", |known| text(known, pointer)) {
        "" => stamp(now),
        time => time.to_owned(),
    };
    let id = format!(
        "simulated://{:08x}",
        hash::fnv(format!("{}{name}{restarts}", object::uid(pod)).as_bytes())
    );
    let (state, ready, started) = match doing {
        Doing::Waiting(reason, message) if message.is_empty() => {
            (json!({"waiting": {"reason": reason}}), false, false)
        }
        Doing::Waiting(reason, message) => {
            (json!({"waiting": {"reason": reason, "message": message}}), false, false)
        }
        Doing::Running { ready } => {
            (json!({"running": {"startedAt": kept("/state/running/startedAt")}}), *ready, true)
        }
        Doing::Exited(code) => {
            let started = match known.map_or("", |k| text(k, "/state/terminated/startedAt")) {
                "" => kept("/state/running/startedAt"),
                time => time.to_owned(),
            };
            let terminated = json!({
                "exitCode": code,
                "reason": if *code == 0 { "Completed" } else { "Error" },
                "startedAt": started,
                "finishedAt": kept("/state/terminated/finishedAt"),
                "containerID": id,
            });
            (json!({"terminated": terminated}), false, false)
        }
    };
    let mut status = Map::new();
    let mut put = |name: &str, value: Value| status.insert(name.to_owned(), value);
    // A container of the start that is done counts as ready.
    let done = matches!(doing, Doing::Exited(0)) && text(spec, "/restartPolicy").is_empty();
    let is_init = items(pod, "/spec/initContainers").iter().any(|c| text(c, "/name") == name);
    put("name", name.into());
    put("image", image.into());
    let never_began = matches!(doing, Doing::Waiting(..)) && restarts == 0;
    put("imageID", if never_began { String::new() } else { format!("simulated://{image}") }.into());
    if !never_began {
        put("containerID", id.as_str().into());
    }
    put("ready", (ready || (done && is_init)).into());
    put("started", started.into());
    put("restartCount", restarts.into());
    put("state", state);
    let crashed = matches!(doing, Doing::Waiting(..)) && restarts > 0;
    let again = known.is_some_and(|known| number(known, "/restartCount") != restarts);
    let last = known.and_then(|known| known.get("lastState")).cloned();
    put(
        "lastState",
        if crashed && again {
            json!({"terminated": {
                "exitCode": 1,
                "reason": "Error",
                "startedAt": stamp(now),
                "finishedAt": stamp(now),
                "containerID": id,
            }})
        } else {
            last.unwrap_or_else(|| json!({}))
        },
    );
    Value::Object(status)
}

/// Status, reason and message of a condition.
type Said = (&'static str, &'static str, String);

fn conditions(pod: &Value, stage: Stage, init: &[Value], main: &[Value], now: Timestamp) -> Value {
    let yes = || ("True", "", String::new());
    let over = match stage {
        Stage::Ended { failed: false } => Some("PodCompleted"),
        Stage::Ended { failed: true } => Some("PodFailed"),
        _ => None,
    };
    let unready: Vec<&str> = init
        .iter()
        .chain(main)
        .filter(|status| !flag(status, "/ready"))
        .map(|status| text(status, "/name"))
        .collect();
    let containers: Said = match over {
        Some(reason) => ("False", reason, String::new()),
        None if unready.is_empty() => yes(),
        None => {
            let message = format!("containers with unready status: [{}]", unready.join(" "));
            ("False", "ContainersNotReady", message)
        }
    };
    let ready =
        if containers.0 == "True" { gates(pod).unwrap_or_else(yes) } else { containers.clone() };
    let incomplete: Vec<&str> = init
        .iter()
        .filter(|status| !flag(status, "/ready"))
        .map(|status| text(status, "/name"))
        .collect();
    let initialized: Said = match over {
        Some("PodCompleted") => ("True", "PodCompleted", String::new()),
        _ if incomplete.is_empty() => yes(),
        _ => {
            let message = format!("containers with incomplete status: [{}]", incomplete.join(" "));
            ("False", "ContainersNotInitialized", message)
        }
    };
    let sandbox = if stage == Stage::Creating || over.is_some() {
        ("False", "", String::new())
    } else {
        yes()
    };
    let own = [
        ("PodReadyToStartContainers", sandbox),
        ("Initialized", initialized),
        ("Ready", ready),
        ("ContainersReady", containers),
        ("PodScheduled", yes()),
    ];
    let others = items(pod, "/status/conditions").iter();
    let others = others.filter(|c| own.iter().all(|(type_name, _)| text(c, "/type") != *type_name));
    let written = own.iter().map(|(type_name, said)| condition(pod, type_name, said, now));
    written.chain(others.cloned()).collect()
}

fn condition(
    pod: &Value,
    type_name: &str,
    (status, reason, message): &Said,
    now: Timestamp,
) -> Value {
    let known = object::condition(pod, type_name).filter(|known| text(known, "/status") == *status);
    let turned = match known.map_or("", |known| text(known, "/lastTransitionTime")) {
        "" => stamp(now),
        time => time.to_owned(),
    };
    let mut condition = json!({
        "type": type_name,
        "status": status,
        "lastProbeTime": null,
        "lastTransitionTime": turned,
        "observedGeneration": number(pod, "/metadata/generation"),
    });
    if !reason.is_empty() {
        condition["reason"] = (*reason).into();
    }
    if !message.is_empty() {
        condition["message"] = message.as_str().into();
    }
    condition
}

/// What readiness gates say against a pod whose containers are ready.
fn gates(pod: &Value) -> Option<Said> {
    let problems: Vec<String> = items(pod, "/spec/readinessGates")
        .iter()
        .filter_map(|gate| {
            let name = text(gate, "/conditionType");
            match object::condition(pod, name).map(|condition| text(condition, "/status")) {
                Some("True") => None,
                Some(status) => Some(format!(
                    "the status of pod readiness gate {name:?} is not \"True\", but {status}"
                )),
                None => Some(format!(
                    "corresponding condition of pod readiness gate {name:?} does not exist."
                )),
            }
        })
        .collect();
    (!problems.is_empty()).then(|| ("False", "ReadinessGatesNotReady", problems.join(", ")))
}
