//! Requests and limits of a pod and of its containers.

use std::collections::BTreeMap;

use flumen_object::Quantity;
use serde_json::Value;

use crate::read::Read as _;

type Amounts = BTreeMap<String, Quantity>;

/// Who limits a resource requests as much of it.
pub(super) fn requests_from_limits(resources: &mut Value) {
    let limits = resources.map("limits").clone();
    add_missing(resources, "requests", limits);
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
    add_missing(&mut spec["resources"], "limits", of_containers.into_iter().map(printed));
}

/// Requests are those of the containers, or else the limits of the pod.
fn requests(spec: &mut Value) {
    let limits = spec.part("resources").map("limits").clone();
    if limits.is_empty() {
        return;
    }
    let is_shared = |name: &str| matches!(name, "cpu" | "memory");
    let of_containers = aggregate(spec, "requests").into_iter();
    let of_containers = of_containers.filter(|(name, _)| is_shared(name)).map(printed);
    let of_pod = limits.into_iter().filter(|(name, _)| is_shared(name) || is_huge_pages(name));
    add_missing(&mut spec["resources"], "requests", of_containers.chain(of_pod));
}

fn printed((name, amount): (String, Quantity)) -> (String, Value) {
    (name, amount.to_string().into())
}

/// Adds amounts that are not there yet.
fn add_missing(
    resources: &mut Value,
    kind: &str,
    amounts: impl IntoIterator<Item = (String, Value)>,
) {
    for (name, amount) in amounts {
        if resources.map(kind).get(&name).is_none() {
            resources[kind][name] = amount;
        }
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
