//! Cells of services, endpoints and ingresses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::object::Object;

/// How many addresses, ports or hosts are printed before they are only counted.
const SHOWN: usize = 3;

pub(super) fn cluster_ip(service: Object<'_>) -> Value {
    service.items("spec.clusterIPs").next().map_or("<none>", Object::as_str).into()
}

pub(super) fn external_ip(service: Object<'_>) -> Value {
    let own = service.joined("spec.externalIPs");
    match service.text("spec.type") {
        "ClusterIP" | "NodePort" if own.is_empty() => "<none>".into(),
        "ClusterIP" | "NodePort" => own.into(),
        "LoadBalancer" => match (load_balancer(service), own.as_str()) {
            (given, "") if given.is_empty() => "<pending>".into(),
            (given, "") => given.into(),
            (given, _) if given.is_empty() => own.into(),
            (given, own) => format!("{given},{own}").into(),
        },
        "ExternalName" => service.text("spec.externalName").into(),
        _ => "<unknown>".into(),
    }
}

pub(super) fn service_ports(service: Object<'_>) -> Value {
    let ports = service.items("spec.ports").map(|port| {
        let (number, protocol) = (port.number("port"), port.text("protocol"));
        match port.number("nodePort") {
            node_port if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    match ports.collect::<Vec<_>>().join(",") {
        none if none.is_empty() => "<none>".into(),
        ports => ports.into(),
    }
}

pub(super) fn hosts(ingress: Object<'_>) -> Value {
    let mut hosts: Vec<&str> = Vec::new();
    let mut more = false;
    for rule in ingress.items("spec.rules") {
        more |= hosts.len() == SHOWN;
        let host = rule.text("host");
        if !more && !host.is_empty() {
            hosts.push(host);
        }
    }
    match hosts.join(",") {
        none if none.is_empty() => "*".into(),
        hosts if more => and_more(&hosts, ingress.count("spec.rules") - SHOWN).into(),
        hosts => hosts.into(),
    }
}

pub(super) fn addresses(ingress: Object<'_>) -> Value {
    load_balancer(ingress).into()
}

pub(super) fn ingress_ports(ingress: Object<'_>) -> Value {
    if ingress.count("spec.tls") == 0 { "80".into() } else { "80, 443".into() }
}

/// What an ingress class points to, as `Parameters.example.com/one`.
pub(super) fn parameters(class: Object<'_>) -> Value {
    let Some(parameters) = class.part("spec.parameters") else {
        return "<none>".into();
    };
    let dot = if parameters.has("apiGroup") { "." } else { "" };
    let (kind, group) = (parameters.text("kind"), parameters.text("apiGroup"));
    format!("{kind}{dot}{group}/{}", parameters.text("name")).into()
}

/// Whose address it is, as `services/default/kubernetes`.
pub(super) fn parent(address: Object<'_>) -> Value {
    let Some(parent) = address.part("spec.parentRef") else {
        return "<none>".into();
    };
    let (resource, group) = (parent.text("resource"), parent.text("group"));
    let dot = if group.is_empty() { "" } else { "." };
    let mut name = format!("{resource}{dot}{group}").to_lowercase();
    for part in [parent.text("namespace"), parent.text("name")] {
        if !part.is_empty() {
            name.push('/');
            name.push_str(part);
        }
    }
    name.into()
}

pub(super) fn endpoints(endpoints: Object<'_>) -> Value {
    if endpoints.count("subsets") == 0 {
        return "<none>".into();
    }
    let mut list = Vec::new();
    let mut count = 0;
    for subset in endpoints.items("subsets") {
        let ips = subset.items("addresses").map(|address| address.text("ip"));
        if subset.count("ports") == 0 {
            count += subset.count("addresses");
            list.extend(ips.take(SHOWN.saturating_sub(list.len())).map(str::to_owned));
            continue;
        }
        for port in subset.items("ports") {
            count += subset.count("addresses");
            let ips = subset.items("addresses").map(|address| address.text("ip"));
            let room = SHOWN.saturating_sub(list.len());
            list.extend(ips.take(room).map(|ip| host_port(ip, port.number("port"))));
        }
    }
    shortened(&list, count).into()
}

pub(super) fn slice_ports(slice: Object<'_>) -> Value {
    let ports = slice.items("ports").take(SHOWN).map(|port| match port.at("port") {
        Some(number) => number.to_string(),
        None if port.has("name") => port.text("name").to_owned(),
        None => "*".to_owned(),
    });
    unset_if_empty(shortened(&ports.collect::<Vec<_>>(), slice.count("ports")))
}

pub(super) fn slice_endpoints(slice: Object<'_>) -> Value {
    let addresses = slice.items("endpoints").flat_map(|endpoint| endpoint.items("addresses"));
    let addresses: Vec<String> = addresses.map(|address| address.as_str().to_owned()).collect();
    let shown = &addresses[..addresses.len().min(SHOWN)];
    unset_if_empty(shortened(shown, addresses.len()))
}

/// The addresses that a load balancer has, each once and ordered.
fn load_balancer(object: Object<'_>) -> String {
    let given = object.items("status.loadBalancer.ingress").filter_map(|ingress| {
        let texts = [ingress.text("ip"), ingress.text("hostname")];
        texts.into_iter().find(|text| !text.is_empty())
    });
    given.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(",")
}

fn host_port(ip: &str, port: i64) -> String {
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}

fn shortened(list: &[String], count: usize) -> String {
    let text = list.join(",");
    if count > list.len() { and_more(&text, count - SHOWN) } else { text }
}

fn and_more(text: &str, count: usize) -> String {
    format!("{text} + {count} more...")
}

fn unset_if_empty(text: String) -> Value {
    if text.is_empty() { "<unset>".into() } else { text.into() }
}
