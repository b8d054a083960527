//! Requests and limits of a pod and of its containers.

use std::collections::BTreeMap;

use flumen_object::Quantity;
use serde_json::{Map, Value};

use crate::read::Read as _;

type Amounts = BTreeMap<String, Quantity>;

/// Who limits a resource requests as much of it.
pub(super) fn requests_from_limits(resources: &mut Value) {
    let limits = resources.map("limits").clone();
    if limits.is_empty() {
        return;
    }
    let requests = amounts_mut(resources, "requests");
    for (name, amount) in limits {
        requests.entry(name).or_insert(amount);
    }
}

/// What a pod as a whole requests and is limited to, where it says so of something.
pub(super) fn of_pod(spec: &mut Value) {
    if spec.some("resources").is_none() {
        return;
    }
    huge_pages(spec);
    requests(spec);
}

/// Limits of huge pages are those of the containers.
fn huge_pages(spec: &mut Value) {
    let resources = spec.part("resources");
    if resources.map("limits").is_empty() && resources.map("requests").is_empty() {
        return;
    }
    let mut of_containers = aggregate(spec, "limits");
    of_containers
        .retain(|name, _| is_huge_pages(name) && !resources.map("requests").contains_key(name));
    add_missing(spec, "limits", of_containers);
}

/// Requests are those of the containers, or else the limits of the pod.
fn requests(spec: &mut Value) {
    let limits = spec.part("resources").map("limits").clone();
    if limits.is_empty() {
        return;
    }
    let mut of_containers = aggregate(spec, "requests");
    of_containers.retain(|name, _| matches!(name.as_str(), "cpu" | "memory"));
    add_missing(spec, "requests", of_containers);
    let requests = amounts_mut(&mut spec["resources"], "requests");
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory") || is_huge_pages(&name) {
            requests.entry(name).or_insert(amount);
        }
    }
    if requests.is_empty()
        && let Value::Object(resources) = &mut spec["resources"]
    {
        resources.remove("requests");
    }
}

fn add_missing(spec: &mut Value, kind: &str, amounts: Amounts) {
    if amounts.is_empty() {
        return;
    }
    let known = amounts_mut(&mut spec["resources"], kind);
    for (name, amount) in amounts {
        known.entry(name).or_insert_with(|| amount.to_string().into());
    }
}

fn amounts_mut<'a>(resources: &'a mut Value, kind: &str) -> &'a mut Map<String, Value> {
    if !resources[kind].is_object() {
        resources[kind] = Value::Object(Map::new());
    }
    match &mut resources[kind] {
        Value::Object(amounts) => amounts,
        _ => unreachable!("it is an object"),
    }
}

fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// What the containers of a pod need at most at the same time. Those that start before the others
/// run one by one, except for those that keep running.
fn aggregate(spec: &Value, kind: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in spec.list("containers") {
        add(&mut total, &of_container(container, kind));
    }
    let mut running = Amounts::new();
    let mut before = Amounts::new();
    for container in spec.list("initContainers") {
        let mut own = of_container(container, kind);
        if container.text("restartPolicy") == "Always" {
            add(&mut total, &own);
            add(&mut running, &own);
            own.clone_from(&running);
        } else {
            add(&mut own, &running);
        }
        raise(&mut before, own);
    }
    raise(&mut total, before);
    total
}

fn of_container(container: &Value, kind: &str) -> Amounts {
    let amounts = container.part("resources").pairs(kind);
    amounts
        .filter_map(|(name, amount)| Some((name.to_owned(), Quantity::parse(amount).ok()?)))
        .collect()
}

fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = total.get(name).map_or_else(|| amount.clone(), |known| known.plus(amount));
        total.insert(name.clone(), sum);
    }
}

fn raise(total: &mut Amounts, other: Amounts) {
    for (name, amount) in other {
        if total.get(&name).is_none_or(|known| *known < amount) {
            total.insert(name, amount);
        }
    }
}
