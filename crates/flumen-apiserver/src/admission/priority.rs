//! Pods get the priority of their class.

use serde_json::Value;

use super::{Attempt, Operation, Result};

const GROUP: &str = "scheduling.k8s.io";
const CLASSES: &str = "priorityclasses";

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if let Some(old) = attempt.old.filter(|_| attempt.is_about("", "pods")) {
        keep(object, old);
    }
    if !attempt.creates("", "pods") {
        return Ok(());
    }
    let name = object["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let class = if name.is_empty() {
        attempt
            .all(GROUP, CLASSES, "")?
            .into_iter()
            .filter(|class| class["globalDefault"] == true)
            .min_by_key(|class| class["value"].as_i64())
    } else {
        let class = attempt.find(GROUP, CLASSES, "", &name)?;
        let why = format!("no PriorityClass with name {name} was found");
        Some(class.ok_or_else(|| attempt.forbid(object, &why))?)
    };
    let value = class.as_ref().map_or(0, |class| class["value"].as_i64().unwrap_or_default());
    let policy = class.as_ref().and_then(|class| class["preemptionPolicy"].as_str());
    let policy = policy.unwrap_or("PreemptLowerPriority").to_owned();
    let spec = &object["spec"];
    if spec["priority"].as_i64().is_some_and(|asked| asked != value) {
        let asked = &spec["priority"];
        let why = format!(
            "the integer value of priority ({asked}) must not be provided in pod spec; priority admission \
             controller computed {value} from the given PriorityClass name"
        );
        return Err(attempt.forbid(object, &why));
    }
    if spec["preemptionPolicy"].as_str().is_some_and(|asked| asked != policy) {
        let asked = spec["preemptionPolicy"].as_str().unwrap_or_default();
        let why = format!(
            "the string value of PreemptionPolicy ({asked}) must not be provided in pod spec; priority \
             admission controller computed {policy} from the given PriorityClass name"
        );
        return Err(attempt.forbid(object, &why));
    }
    if let Some(class) = class.filter(|_| name.is_empty()) {
        object["spec"]["priorityClassName"] = class["metadata"]["name"].clone();
    }
    object["spec"]["priority"] = value.into();
    object["spec"]["preemptionPolicy"] = policy.into();
    Ok(())
}

/// What was computed once stays, if an update does not say it.
fn keep(pod: &mut Value, old: &Value) {
    for field in ["priority", "preemptionPolicy"] {
        if pod["spec"][field].is_null() && !old["spec"][field].is_null() {
            pod["spec"][field] = old["spec"][field].clone();
        }
    }
}

/// There is one default class at most.
pub(super) fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    let is_class = attempt.is_about(GROUP, CLASSES) && attempt.operation != Operation::Delete;
    if !is_class || object["globalDefault"] != true {
        return Ok(());
    }
    let name = &object["metadata"]["name"];
    let others = attempt.all(GROUP, CLASSES, "")?;
    let other = others
        .iter()
        .find(|class| class["globalDefault"] == true && class["metadata"]["name"] != *name);
    let Some(other) = other else { return Ok(()) };
    let other = other["metadata"]["name"].as_str().unwrap_or_default();
    let why =
        format!("PriorityClass {other} is already marked as default. Only one default can exist");
    Err(attempt.forbid(object, &why))
}
