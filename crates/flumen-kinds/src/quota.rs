//! What objects use of the quota of their namespace.

use std::collections::BTreeMap;

use flumen_object::Quantity;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::pods::{add, quantity, total_resources};

/// Amounts by the names that quotas have for them.
pub type Usage = BTreeMap<String, Quantity>;

const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// Resources that are counted by their plain names, too.
const COUNTED: [&str; 6] = [
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
];

/// Of pods, by their plain names or as requests and limits.
const COMPUTE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Resources that no quota counts.
pub fn is_ignored(group: &str, plural: &str) -> bool {
    matches!(group, "authentication.k8s.io" | "authorization.k8s.io")
        || (group.is_empty() && matches!(plural, "bindings" | "componentstatuses"))
        || (matches!(group, "" | "events.k8s.io") && plural == "events")
}

fn count_name(group: &str, plural: &str) -> String {
    if group.is_empty() { format!("count/{plural}") } else { format!("count/{plural}.{group}") }
}

/// Whether a name of a quota is about a resource.
pub fn is_about(group: &str, plural: &str, name: &str) -> bool {
    if name == count_name(group, plural) {
        return true;
    }
    match (group, plural) {
        ("", "pods") => is_of_pods(name),
        ("", "services") => {
            matches!(name, "services" | "services.nodeports" | "services.loadbalancers")
        }
        ("", "persistentvolumeclaims") => {
            let name = name.split_once(STORAGE_CLASS).map_or(name, |(_, name)| name);
            matches!(name, "persistentvolumeclaims" | "requests.storage")
        }
        ("", plural) => COUNTED.contains(&plural) && name == plural,
        _ => false,
    }
}

fn is_of_pods(name: &str) -> bool {
    let resource = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits."));
    let is_extended = name.strip_prefix("requests.").is_some_and(|resource| resource.contains('/'));
    name == "pods"
        || COMPUTE.contains(&resource.unwrap_or(name))
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
        || is_extended
}

/// What an object uses.
pub fn usage(group: &str, plural: &str, object: &Value, now: Timestamp) -> Usage {
    let one = || Quantity::from(1);
    let mut used = Usage::from([(count_name(group, plural), one())]);
    match (group, plural) {
        ("", "pods") if is_alive(object, now) => add(&mut used, &pod_usage(object)),
        ("", "services") => add(&mut used, &service_usage(object)),
        ("", "persistentvolumeclaims") => add(&mut used, &claim_usage(object)),
        ("", plural) if COUNTED.contains(&plural) => drop(used.insert(plural.to_owned(), one())),
        _ => {}
    }
    used
}

/// Pods that have ended use nothing, nor do those that should have ended.
fn is_alive(pod: &Value, now: Timestamp) -> bool {
    if matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed")) {
        return false;
    }
    let metadata = &pod["metadata"];
    let end = metadata["deletionTimestamp"].as_str().and_then(|time| time.parse().ok());
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().map(SignedDuration::from_secs);
    let end = end.zip(grace).and_then(|(end, grace): (Timestamp, _)| end.checked_add(grace).ok());
    end.is_none_or(|end| now <= end)
}

fn pod_usage(pod: &Value) -> Usage {
    let mut requests = total_resources(pod, "requests");
    let mut limits = total_resources(pod, "limits");
    for (name, amount) in pod["spec"]["overhead"].as_object().into_iter().flatten() {
        let Some(amount) = quantity(amount) else { continue };
        let overhead = Usage::from([(name.clone(), amount)]);
        add(&mut requests, &overhead);
        if limits.contains_key(name) {
            add(&mut limits, &overhead);
        }
    }
    let mut used = container_usage(&requests, &limits);
    used.insert("pods".to_owned(), Quantity::from(1));
    used
}

/// Requests and limits by the names of quotas.
fn container_usage(requests: &Usage, limits: &Usage) -> Usage {
    let mut used = Usage::new();
    for (name, amount) in requests {
        let is_compute = COMPUTE.contains(&name.as_str()) || name.starts_with("hugepages-");
        if is_compute {
            used.insert(name.clone(), amount.clone());
        }
        if is_compute || name.contains('/') {
            used.insert(format!("requests.{name}"), amount.clone());
        }
    }
    for (name, amount) in limits.iter().filter(|(name, _)| COMPUTE.contains(&name.as_str())) {
        used.insert(format!("limits.{name}"), amount.clone());
    }
    used
}

fn service_usage(service: &Value) -> Usage {
    let spec = &service["spec"];
    let ports = spec["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
    let given = ports.iter().filter(|port| port["nodePort"].as_i64().unwrap_or_default() != 0);
    let (nodes, balancers) = match spec["type"].as_str() {
        Some("NodePort") => (ports.len(), 0),
        Some("LoadBalancer") if spec["allocateLoadBalancerNodePorts"] == false => {
            (given.count(), 1)
        }
        Some("LoadBalancer") => (ports.len(), 1),
        _ => (0, 0),
    };
    let count = |number: usize| Quantity::from(i64::try_from(number).unwrap_or(i64::MAX));
    Usage::from([
        ("services".to_owned(), count(1)),
        ("services.nodeports".to_owned(), count(nodes)),
        ("services.loadbalancers".to_owned(), count(balancers)),
    ])
}

fn claim_usage(claim: &Value) -> Usage {
    let (spec, metadata) = (&claim["spec"], &claim["metadata"]);
    let mut amounts = vec![("persistentvolumeclaims", Quantity::from(1))];
    let asked = quantity(&spec["resources"]["requests"]["storage"]);
    if let Some(asked) = asked {
        let allocated = quantity(&claim["status"]["allocatedResources"]["storage"]);
        amounts.push(("requests.storage", allocated.filter(|it| *it > asked).unwrap_or(asked)));
    }
    let class = metadata["annotations"]["volume.beta.kubernetes.io/storage-class"]
        .as_str()
        .or_else(|| spec["storageClassName"].as_str())
        .filter(|class| !class.is_empty());
    let mut used = Usage::new();
    for (name, amount) in amounts {
        if let Some(class) = class {
            used.insert(format!("{class}{STORAGE_CLASS}{name}"), amount.clone());
        }
        used.insert(name.to_owned(), amount);
    }
    used
}

/// What the containers of a pod must say because a quota is about it, and do not. A message.
pub fn missing_constraints<'a>(
    pod: &Value,
    names: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let of_pod = &pod["spec"]["resources"];
    let says = |field: &str| of_pod[field].as_object().is_some_and(|map| !map.is_empty());
    if says("requests") || says("limits") {
        return None;
    }
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let (field, resource) = match name.split_once('.') {
            Some(("limits", resource)) => ("limits", resource),
            Some((_, resource)) => ("requests", resource),
            None => ("requests", name),
        };
        if !matches!(resource, "cpu" | "memory") {
            continue;
        }
        for container in ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
        {
            if container["resources"][field].get(resource).is_none() {
                missing
                    .entry(name)
                    .or_default()
                    .push(container["name"].as_str().unwrap_or_default());
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let texts: Vec<String> = missing
        .into_iter()
        .map(|(name, mut containers)| {
            containers.sort_unstable();
            containers.dedup();
            format!("{name} for: {}", containers.join(","))
        })
        .collect();
    Some(format!("must specify {}", texts.join("; ")))
}

/// Whether an object is one of those that the scopes of a quota select.
pub fn is_in_scope(quota: &Value, plural: &str, object: &Value) -> bool {
    let spec = &quota["spec"];
    let plain = spec["scopes"].as_array().into_iter().flatten();
    let mut plain = plain.filter_map(Value::as_str).map(|scope| (scope, "Exists", &Value::Null));
    let expressions = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let mut expressions = expressions.map(|expression| {
        let text = |field: &str| expression[field].as_str().unwrap_or_default();
        (text("scopeName"), text("operator"), &expression["values"])
    });
    let mut meets = |(scope, operator, values): (&str, &str, &Value)| match plural {
        "pods" => pod_meets(object, scope, operator, values),
        "persistentvolumeclaims" => claim_meets(object, scope, operator, values),
        _ => false,
    };
    plain.all(&mut meets) && expressions.all(meets)
}

fn pod_meets(pod: &Value, scope: &str, operator: &str, values: &Value) -> bool {
    let is_terminating =
        pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0);
    match scope {
        "Terminating" => is_terminating,
        "NotTerminating" => !is_terminating,
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "CrossNamespacePodAffinity" => names_other_namespaces(pod),
        "PriorityClass" => {
            let class = pod["spec"]["priorityClassName"].as_str().filter(|name| !name.is_empty());
            selects(operator, values, class)
        }
        _ => false,
    }
}

fn claim_meets(claim: &Value, scope: &str, operator: &str, values: &Value) -> bool {
    if scope != "VolumeAttributesClass" {
        return false;
    }
    let names = [
        &claim["spec"]["volumeAttributesClassName"],
        &claim["status"]["currentVolumeAttributesClassName"],
        &claim["status"]["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
    ];
    let mut names =
        names.into_iter().filter_map(Value::as_str).filter(|n| !n.is_empty()).peekable();
    if names.peek().is_none() {
        return selects(operator, values, None);
    }
    names.any(|name| selects(operator, values, Some(name)))
}

fn selects(operator: &str, values: &Value, name: Option<&str>) -> bool {
    let is_listed = |name: &str| values.as_array().is_some_and(|all| all.iter().any(|v| v == name));
    match operator {
        "Exists" => name.is_some(),
        "DoesNotExist" => name.is_none(),
        "In" => name.is_some_and(is_listed),
        _ => !name.is_some_and(is_listed),
    }
}

/// Whether no container asks for anything.
fn is_best_effort(pod: &Value) -> bool {
    let asks = |of: &Value| {
        ["requests", "limits"].into_iter().any(|field| {
            ["cpu", "memory"].into_iter().any(|resource| {
                quantity(&of["resources"][field][resource]).is_some_and(|it| !it.is_zero())
            })
        })
    };
    let spec = &pod["spec"];
    let mut containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| spec[list].as_array().into_iter().flatten());
    !asks(spec) && !containers.any(asks)
}

fn names_other_namespaces(pod: &Value) -> bool {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let names = |term: &Value| {
        term["namespaces"].as_array().is_some_and(|names| !names.is_empty())
            || term["namespaceSelector"].is_object()
    };
    ["podAffinity", "podAntiAffinity"].into_iter().any(|affinity| {
        let affinity = &pod["spec"]["affinity"][affinity];
        let list = |field: &str| affinity[field].as_array().into_iter().flatten();
        list(REQUIRED).any(names)
            || list(PREFERRED).any(|weighted| names(&weighted["podAffinityTerm"]))
    })
}
