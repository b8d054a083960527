//! Where a service leads: to the pods that it selects.

use serde_json::{Map, Value, json};

use crate::{
    engine::Context,
    hash,
    kind::Kind,
    object::{self, items, map, number, text},
    plan::Plan,
    selector,
};

const SLICES: &str = "endpointslice-controller.k8s.io";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const OLD_MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const SERVICE: &str = "kubernetes.io/service-name";
const CHANGED: &str = "endpoints.kubernetes.io/last-change-trigger-time";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Endpoints of one slice.
const SLICE: usize = 100;

/// Keeps the endpoints of a service in both of their forms.
pub(crate) fn decide(context: Context<'_>, service: &Value) -> Plan {
    let mut plan = Plan::none();
    let wanted = map(service, "/spec/selector").filter(|selector| !selector.is_empty());
    let is_name = text(service, "/spec/type") == "ExternalName";
    if wanted.is_none() || is_name || object::is_ending(service) {
        return plan;
    }
    let pods: Vec<&Value> = context
        .world
        .list(Kind::Pod, object::namespace(service))
        .filter(|pod| selector::contains(map(pod, "/metadata/labels"), wanted))
        .filter(|pod| !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed"))
        .filter(|pod| !text(pod, "/status/podIP").is_empty())
        .collect();
    let ports = ports(service, &pods);
    keep_slices(context, &mut plan, service, &pods, &ports);
    keep_old(context, &mut plan, service, &pods, &ports);
    plan
}

/// Endpoints do not name their service as owner, so they are deleted by hand.
pub(crate) fn clean_up(context: Context<'_>, endpoints: &Value) -> Plan {
    let mut plan = Plan::none();
    let (namespace, name) = (object::namespace(endpoints), object::name(endpoints));
    let is_ours = object::label(endpoints, OLD_MANAGED_BY) == Some("endpoint-controller");
    let is_left = context.world.find(Kind::Service, namespace, name).is_none();
    if is_ours && is_left && !object::is_ending(endpoints) {
        plan.delete(Kind::Endpoints, endpoints);
    }
    plan
}

fn is_ready(service: &Value, pod: &Value) -> bool {
    let ready = object::is_true(pod, "Ready") && !object::is_ending(pod);
    ready || object::flag(service, "/spec/publishNotReadyAddresses")
}

/// The ports of a service as numbers of its pods. A name that no pod has is left out.
fn ports(service: &Value, pods: &[&Value]) -> Vec<Value> {
    let ports = items(service, "/spec/ports").iter().filter_map(|port| {
        let number = match port.get("targetPort") {
            Some(Value::String(name)) => pods.iter().find_map(|pod| named_port(pod, name))?,
            Some(number) if number != 0 => number.as_i64()?,
            _ => number(port, "/port"),
        };
        let mut found = json!({
            "name": text(port, "/name"),
            "port": number,
            "protocol": text(port, "/protocol"),
        });
        if let Some(protocol) = port.get("appProtocol") {
            found["appProtocol"] = protocol.clone();
        }
        Some(found)
    });
    ports.collect()
}

fn named_port(pod: &Value, name: &str) -> Option<i64> {
    let ports = items(pod, "/spec/containers").iter().flat_map(|c| items(c, "/ports"));
    ports.filter(|port| text(port, "/name") == name).find_map(|port| port["containerPort"].as_i64())
}

fn target(pod: &Value) -> Value {
    json!({
        "kind": "Pod",
        "name": object::name(pod),
        "namespace": object::namespace(pod),
        "uid": object::uid(pod),
    })
}

fn labels(service: &Value, own: &[(&str, &str)]) -> Map<String, Value> {
    let mut labels = map(service, "/metadata/labels").cloned().unwrap_or_default();
    labels.remove(HEADLESS);
    if text(service, "/spec/clusterIP") == "None" {
        labels.insert(HEADLESS.to_owned(), "".into());
    }
    labels.extend(own.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())));
    labels
}

fn keep_slices(
    context: Context<'_>,
    plan: &mut Plan,
    service: &Value,
    pods: &[&Value],
    ports: &[Value],
) {
    let (namespace, name) = (object::namespace(service), object::name(service));
    let labels = labels(service, &[(SERVICE, name), (MANAGED_BY, SLICES)]);
    // A service without pods has one slice without endpoints.
    let count = pods.len().div_ceil(SLICE).max(1);
    let mut names = Vec::new();
    for place in 0..count {
        let seed = format!("{}{place}", object::uid(service));
        let slice_name = format!("{name}-{}", hash::letters(&seed, 5));
        let endpoints: Vec<Value> =
            pods.iter().skip(place * SLICE).take(SLICE).map(|pod| endpoint(service, pod)).collect();
        let ports = if pods.is_empty() { &[] } else { ports };
        let mut slice = json!({
            "apiVersion": Kind::EndpointSlice.api_version(),
            "kind": Kind::EndpointSlice.name(),
            "metadata": {
                "name": slice_name,
                "generateName": format!("{name}-"),
                "annotations": {CHANGED: object::stamp(context.now)},
                "namespace": namespace,
                "labels": labels,
                "ownerReferences": [object::controlled_by(Kind::Service, service)],
            },
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": ports,
        });
        match context.world.find(Kind::EndpointSlice, namespace, &slice_name) {
            None => plan.create(Kind::EndpointSlice, slice),
            Some(known) => {
                let is_same =
                    ["endpoints", "ports"].iter().all(|part| known[*part] == slice[*part])
                        && known["metadata"]["labels"] == slice["metadata"]["labels"];
                if !is_same && !object::is_ending(known) {
                    slice["metadata"]["resourceVersion"] =
                        known["metadata"]["resourceVersion"].clone();
                    plan.replace(Kind::EndpointSlice, slice);
                }
            }
        }
        names.push(slice_name);
    }
    for slice in context.world.controlled(object::uid(service), Kind::EndpointSlice) {
        let is_old = !names.iter().any(|name| name == object::name(slice));
        if is_old && !object::is_ending(slice) {
            plan.delete(Kind::EndpointSlice, slice);
        }
    }
}

fn endpoint(service: &Value, pod: &Value) -> Value {
    let ending = object::is_ending(pod);
    let mut endpoint = json!({
        "addresses": [text(pod, "/status/podIP")],
        "conditions": {
            "ready": is_ready(service, pod),
            "serving": object::is_true(pod, "Ready"),
            "terminating": ending,
        },
        "nodeName": text(pod, "/spec/nodeName"),
        "targetRef": target(pod),
    });
    let hostname = text(pod, "/spec/hostname");
    if !hostname.is_empty() && text(pod, "/spec/subdomain") == object::name(service) {
        endpoint["hostname"] = hostname.into();
    }
    endpoint
}

fn keep_old(
    context: Context<'_>,
    plan: &mut Plan,
    service: &Value,
    pods: &[&Value],
    ports: &[Value],
) {
    let (namespace, name) = (object::namespace(service), object::name(service));
    let address = |pod: &&&Value| {
        json!({
            "ip": text(pod, "/status/podIP"),
            "nodeName": text(pod, "/spec/nodeName"),
            "targetRef": target(pod),
        })
    };
    let living = || pods.iter().filter(|pod| !object::is_ending(pod));
    let ready: Vec<Value> =
        living().filter(|pod| is_ready(service, pod)).map(|p| address(&p)).collect();
    let unready: Vec<Value> =
        living().filter(|pod| !is_ready(service, pod)).map(|p| address(&p)).collect();
    let mut subsets = Vec::new();
    if !ready.is_empty() || !unready.is_empty() {
        let mut subset = json!({"ports": ports.iter().map(old_port).collect::<Vec<_>>()});
        if !ready.is_empty() {
            subset["addresses"] = ready.into();
        }
        if !unready.is_empty() {
            subset["notReadyAddresses"] = unready.into();
        }
        subsets.push(subset);
    }
    let mut endpoints = json!({
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {CHANGED: object::stamp(context.now)},
            "labels": labels(service, &[(OLD_MANAGED_BY, "endpoint-controller")]),
        },
    });
    if !subsets.is_empty() {
        endpoints["subsets"] = subsets.into();
    }
    match context.world.find(Kind::Endpoints, namespace, name) {
        None => plan.create(Kind::Endpoints, endpoints),
        Some(known) => {
            let is_same = known.get("subsets") == endpoints.get("subsets")
                && known["metadata"]["labels"] == endpoints["metadata"]["labels"];
            if !is_same && !object::is_ending(known) {
                endpoints["metadata"]["resourceVersion"] =
                    known["metadata"]["resourceVersion"].clone();
                plan.replace(Kind::Endpoints, endpoints);
            }
        }
    }
}

/// In the older form a port without a name has none.
fn old_port(port: &Value) -> Value {
    let mut port = port.clone();
    if text(&port, "/name").is_empty()
        && let Some(port) = port.as_object_mut()
    {
        port.remove("name");
    }
    port
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{Settings, plan::Action, world::World};

    fn service() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "namespace": "n", "uid": "s", "labels": {"team": "a"}},
            "spec": {
                "type": "ClusterIP", "clusterIP": "10.0.0.1", "selector": {"app": "web"},
                "ports": [{"port": 80, "protocol": "TCP", "targetPort": "http"}],
            },
        })
    }

    fn pod(name: &str, ready: bool) -> Value {
        json!({
            "metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": "1", "labels": {"app": "web"}},
            "spec": {
                "nodeName": "flumen",
                "containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 8080}]}],
            },
            "status": {
                "podIP": "10.1.0.1", "phase": "Running",
                "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
            },
        })
    }

    fn made(world: &World, kind: Kind) -> Value {
        let settings = Settings::default();
        let context = Context { world, now: Timestamp::UNIX_EPOCH, settings: &settings };
        let plan = decide(context, &service());
        let made = plan.actions.into_iter().find_map(|action| match action {
            Action::Create { kind: made, object, .. } if made == kind => Some(object),
            _ => None,
        });
        made.unwrap_or_default()
    }

    #[test]
    fn ready_pods_are_endpoints_with_their_ports() {
        let mut world = World::default();
        world.put(Kind::Pod, pod("a", true));
        world.put(Kind::Pod, pod("b", false));
        let slice = made(&world, Kind::EndpointSlice);
        assert_eq!(slice["ports"], json!([{"name": "", "port": 8080, "protocol": "TCP"}]));
        let ready: Vec<&Value> =
            items(&slice, "/endpoints").iter().map(|e| &e["conditions"]["ready"]).collect();
        assert_eq!(ready, [true, false]);
        assert_eq!(slice["metadata"]["labels"][SERVICE], "web");
        let old = made(&world, Kind::Endpoints);
        assert_eq!(old["subsets"][0]["addresses"][0]["targetRef"]["name"], "a");
        assert_eq!(old["subsets"][0]["notReadyAddresses"][0]["targetRef"]["name"], "b");
        assert_eq!(old["subsets"][0]["ports"], json!([{"port": 8080, "protocol": "TCP"}]));
    }

    #[test]
    fn a_service_without_pods_has_empty_endpoints() {
        let world = World::default();
        assert_eq!(made(&world, Kind::EndpointSlice)["endpoints"], json!([]));
        assert_eq!(made(&world, Kind::Endpoints).get("subsets"), None);
    }
}
