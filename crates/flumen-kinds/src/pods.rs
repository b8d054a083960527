//! What a pod needs as a whole.

use std::collections::BTreeMap;

use flumen_object::Quantity;
use serde_json::Value;

type Amounts = BTreeMap<String, Quantity>;

/// What can be asked for by a pod as a whole, besides huge pages.
const OF_PODS: [&str; 2] = ["cpu", "memory"];

/// The `requests` or `limits` of a pod: those of its containers together or of an init container while
/// it runs, whichever is more. What the pod says itself counts instead.
pub fn total_resources(pod: &Value, field: &str) -> Amounts {
    let spec = &pod["spec"];
    let mut total = container_resources(spec, field);
    for (name, amount) in amounts(spec, field) {
        if OF_PODS.contains(&name.as_str()) || name.starts_with("hugepages-") {
            total.insert(name, amount);
        }
    }
    total
}

/// The same, of containers alone.
pub(crate) fn container_resources(spec: &Value, field: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in items(spec, "containers") {
        add(&mut total, &amounts(container, field));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in items(spec, "initContainers") {
        let mut needed = amounts(container, field);
        if container["restartPolicy"] == "Always" {
            add(&mut total, &needed);
            add(&mut sidecars, &needed);
            needed.clone_from(&sidecars);
        } else {
            add(&mut needed, &sidecars);
        }
        raise(&mut most, needed);
    }
    raise(&mut total, most);
    total
}

fn items<'a>(of: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    of[list].as_array().into_iter().flatten()
}

fn amounts(of: &Value, field: &str) -> Amounts {
    let map = of["resources"][field].as_object().into_iter().flatten();
    map.filter_map(|(name, value)| Some((name.clone(), quantity(value)?))).collect()
}

pub(crate) fn quantity(value: &Value) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

/// Adds amounts to others.
pub(crate) fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = match total.get(name) {
            Some(present) => present.plus(amount),
            None => amount.clone(),
        };
        total.insert(name.clone(), sum);
    }
}

fn raise(least: &mut Amounts, to: Amounts) {
    for (name, amount) in to {
        if least.get(&name).is_none_or(|present| *present < amount) {
            least.insert(name, amount);
        }
    }
}
