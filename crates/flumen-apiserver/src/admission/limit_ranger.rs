//! Limit ranges of a namespace: defaults of containers, and what is too much or too little.

use flumen_kinds::Quantity;
use serde_json::{Map, Value};

use super::{Attempt, Operation, Result};
use crate::meta;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if !attempt.creates("", "pods") {
        return Ok(());
    }
    for range in attempt.all("", "limitranges", attempt.namespace())? {
        fill_in(object, &range);
    }
    Ok(())
}

pub(super) fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    let is_pod = attempt.creates("", "pods");
    let is_claim =
        attempt.is_about("", "persistentvolumeclaims") && attempt.operation != Operation::Delete;
    if !is_pod && !is_claim {
        return Ok(());
    }
    for range in attempt.all("", "limitranges", attempt.namespace())? {
        let mut errors = Vec::new();
        for limit in range["spec"]["limits"].as_array().into_iter().flatten() {
            match limit["type"].as_str() {
                Some("Container") if is_pod => {
                    containers(object).for_each(|container| check(limit, container, &mut errors));
                }
                Some("Pod") if is_pod => check(limit, &pod_resources(object), &mut errors),
                Some("PersistentVolumeClaim") if is_claim => {
                    check_claim(limit, object, &mut errors);
                }
                _ => {}
            }
        }
        match errors.as_slice() {
            [] => {}
            [one] => return Err(attempt.forbid(object, one)),
            several => {
                let why = format!("[{}]", several.join(", "));
                return Err(attempt.forbid(object, &why));
            }
        }
    }
    Ok(())
}

/// Gives containers the defaults of a range.
fn fill_in(pod: &mut Value, range: &Value) {
    let (mut requests, mut limits) = (Map::new(), Map::new());
    for limit in range["spec"]["limits"].as_array().into_iter().flatten() {
        if limit["type"] == "Container" {
            requests.extend(limit["defaultRequest"].as_object().cloned().unwrap_or_default());
            limits.extend(limit["default"].as_object().cloned().unwrap_or_default());
        }
    }
    let mut notes = Vec::new();
    for (list, what) in [("containers", "container"), ("initContainers", "init container")] {
        for container in meta::items_mut(&mut pod["spec"], list) {
            let name = container["name"].as_str().unwrap_or_default().to_owned();
            for (field, word, values) in
                [("requests", "request", &requests), ("limits", "limit", &limits)]
            {
                let set = add_missing(&mut container["resources"], field, values);
                if !set.is_empty() {
                    notes.push(format!("{} {word} for {what} {name}", set.join(", ")));
                }
            }
        }
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        pod["metadata"]["annotations"][ANNOTATION] = note.into();
    }
}

/// The names of what was added.
fn add_missing(resources: &mut Value, field: &str, values: &Map<String, Value>) -> Vec<String> {
    let mut added = Vec::new();
    for (name, value) in values {
        if resources[field].get(name).is_none() {
            resources[field][name] = value.clone();
            added.push(name.clone());
        }
    }
    added
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
}

/// The sums over all containers, as a container has them.
fn pod_resources(pod: &Value) -> Value {
    let mut sum = Value::Object(Map::new());
    for field in ["requests", "limits"] {
        let mut totals: Map<String, Value> = Map::new();
        for container in pod["spec"]["containers"].as_array().into_iter().flatten() {
            let amounts = container["resources"][field].as_object();
            for (name, amount) in amounts.into_iter().flatten() {
                let total = totals.remove(name).unwrap_or_else(|| "0".into());
                let total = quantity(&total).zip(quantity(amount)).map(|(a, b)| a.plus(&b));
                totals
                    .insert(name.clone(), total.map_or(Value::Null, |sum| sum.to_string().into()));
            }
        }
        sum["resources"][field] = Value::Object(totals);
    }
    sum
}

fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

fn check(limit: &Value, container: &Value, errors: &mut Vec<String>) {
    let kind = limit["type"].as_str().unwrap_or_default();
    let resources = &container["resources"];
    let entries = |field: &str| limit[field].as_object().cloned().unwrap_or_default();
    let amount = |field: &str, name: &str| quantity(&resources[field][name]);
    for (name, enforced) in entries("min") {
        let Some(least) = quantity(&enforced) else { continue };
        let (request, ceiling) = (amount("requests", &name), amount("limits", &name));
        let what = format!("minimum {name} usage per {kind} is {least}");
        match (request, ceiling) {
            (None, _) => errors.push(format!("{what}.  No request is specified")),
            (Some(request), _) if request < least => {
                errors.push(format!("{what}, but request is {request}"));
            }
            (_, Some(ceiling)) if ceiling < least => {
                errors.push(format!("{what}, but limit is {ceiling}"));
            }
            _ => {}
        }
    }
    for (name, enforced) in entries("max") {
        let Some(most) = quantity(&enforced) else { continue };
        let (request, ceiling) = (amount("requests", &name), amount("limits", &name));
        let what = format!("maximum {name} usage per {kind} is {most}");
        match (request, ceiling) {
            (_, None) => errors.push(format!("{what}.  No limit is specified")),
            (_, Some(ceiling)) if ceiling > most => {
                errors.push(format!("{what}, but limit is {ceiling}"));
            }
            (Some(request), _) if request > most => {
                errors.push(format!("{what}, but request is {request}"));
            }
            _ => {}
        }
    }
}

fn check_claim(limit: &Value, claim: &Value, errors: &mut Vec<String>) {
    let Some(asked) = quantity(&claim["spec"]["resources"]["requests"]["storage"]) else { return };
    let kind = "PersistentVolumeClaim";
    if let Some(least) = quantity(&limit["min"]["storage"]).filter(|least| asked < *least) {
        errors.push(format!("minimum storage usage per {kind} is {least}, but request is {asked}"));
    }
    if let Some(most) = quantity(&limit["max"]["storage"]).filter(|most| asked > *most) {
        errors.push(format!("maximum storage usage per {kind} is {most}, but request is {asked}"));
    }
}
