//! Limit ranges of a namespace: defaults of containers, and what is too much or too little.

use std::collections::BTreeMap;

use flumen_kinds::{Quantity, total_resources};
use serde_json::{Map, Value};

use super::{Attempt, Operation, Result, joined};
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
    if (!is_pod && !is_claim) || attempt.old.is_some_and(meta::is_deleting) {
        return Ok(());
    }
    for range in attempt.all("", "limitranges", attempt.namespace())? {
        let mut errors = Vec::new();
        for limit in range["spec"]["limits"].as_array().into_iter().flatten() {
            match limit["type"].as_str() {
                Some("Container") if is_pod => {
                    for container in containers(object) {
                        let of = |field: &str| amounts(&container["resources"][field]);
                        check(limit, &of("requests"), &of("limits"), &mut errors);
                    }
                }
                Some("Pod") if is_pod => {
                    let of = |field: &str| total_resources(object, field);
                    check(limit, &of("requests"), &of("limits"), &mut errors);
                }
                Some("PersistentVolumeClaim") if is_claim => {
                    let asked = amounts(&object["spec"]["resources"]["requests"]);
                    check_claim(limit, &asked, &mut errors);
                }
                _ => {}
            }
        }
        if !errors.is_empty() {
            return Err(attempt.forbid(object, &joined(&errors)));
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

type Amounts = BTreeMap<String, Quantity>;

fn amounts(map: &Value) -> Amounts {
    let map = map.as_object().into_iter().flatten();
    map.filter_map(|(name, value)| Some((name.clone(), Quantity::parse(value.as_str()?).ok()?)))
        .collect()
}

/// Compares what is asked for with the bounds of a limit.
fn check(limit: &Value, requests: &Amounts, limits: &Amounts, errors: &mut Vec<String>) {
    let kind = limit["type"].as_str().unwrap_or_default();
    for (name, least) in amounts(&limit["min"]) {
        let what = format!("minimum {name} usage per {kind} is {least}");
        errors.extend(match (requests.get(&name), limits.get(&name)) {
            (None, _) => Some(format!("{what}.  No request is specified")),
            (Some(asked), _) if *asked < least => Some(format!("{what}, but request is {asked}")),
            (_, Some(most)) if *most < least => Some(format!("{what}, but limit is {most}")),
            _ => None,
        });
    }
    for (name, bound) in amounts(&limit["max"]) {
        let what = format!("maximum {name} usage per {kind} is {bound}");
        errors.extend(match (requests.get(&name), limits.get(&name)) {
            (_, None) => Some(format!("{what}.  No limit is specified")),
            (_, Some(most)) if *most > bound => Some(format!("{what}, but limit is {most}")),
            (Some(asked), _) if *asked > bound => Some(format!("{what}, but request is {asked}")),
            _ => None,
        });
    }
    for (name, bound) in amounts(&limit["maxLimitRequestRatio"]) {
        let what = format!("{name} max limit to request ratio per {kind} is {bound}");
        let some = |of: &Amounts| of.get(&name).filter(|amount| !amount.is_zero()).cloned();
        errors.extend(match (some(requests), some(limits)) {
            (None, _) => Some(format!("{what}, but no request is specified or request is 0")),
            (_, None) => Some(format!("{what}, but no limit is specified or limit is 0")),
            (Some(asked), Some(most)) => {
                let ratio = thousandths(&most) / thousandths(&asked);
                let exceeds = ratio * 1000.0 > thousandths(&bound);
                exceeds.then(|| format!("{what}, but provided ratio is {ratio:.6}"))
            }
        });
    }
}

#[expect(clippy::cast_precision_loss, reason = "the real server compares floating point numbers")]
fn thousandths(amount: &Quantity) -> f64 {
    amount.milli() as f64
}

/// Claims have no limits, so what they ask for is compared with both bounds.
fn check_claim(limit: &Value, asked: &Amounts, errors: &mut Vec<String>) {
    let kind = "PersistentVolumeClaim";
    for (field, word) in [("min", "minimum"), ("max", "maximum")] {
        for (name, bound) in amounts(&limit[field]) {
            let what = format!("{word} {name} usage per {kind} is {bound}");
            errors.extend(match asked.get(&name) {
                None => Some(format!("{what}.  No request is specified")),
                Some(asked)
                    if (field == "min" && *asked < bound) || (field == "max" && *asked > bound) =>
                {
                    Some(format!("{what}, but request is {asked}"))
                }
                _ => None,
            });
        }
    }
}
