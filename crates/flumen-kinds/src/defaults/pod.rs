//! Pods, and everything that is in a pod.

use serde_json::{Value, json};

use super::{image, pod_resources};
use crate::read::Read as _;

/// What a pod has and a template does not.
pub(super) fn pod(pod: &mut Value) {
    if let Some(spec) = pod.get_mut("spec").filter(|spec| spec.is_object()) {
        for containers in ["containers", "initContainers"] {
            for container in items(spec, containers) {
                if let Some(resources) = container.get_mut("resources") {
                    pod_resources::requests_from_limits(resources);
                }
            }
        }
        pod_resources::of_pod(spec);
        if spec.some("enableServiceLinks").is_none() {
            spec["enableServiceLinks"] = true.into();
        }
        if spec.truth("hostNetwork") {
            for containers in ["containers", "initContainers"] {
                items(spec, containers).for_each(host_ports);
            }
        }
        if spec.int("terminationGracePeriodSeconds") < 0 {
            spec["terminationGracePeriodSeconds"] = 1.into();
        }
    }
    pod_ips(pod);
    drop_init_container_annotations(pod);
}

fn host_ports(container: &mut Value) {
    for port in items(container, "ports") {
        if port.int("hostPort") == 0 {
            port["hostPort"] = port["containerPort"].clone();
        }
    }
}

/// The address alone is the first of all addresses.
fn pod_ips(pod: &mut Value) {
    let Some(status) = pod.get_mut("status").filter(|status| status.is_object()) else { return };
    let ip = status.text("podIP").to_owned();
    let first = status.list("podIPs").first().map(|first| first.text("ip").to_owned());
    match first {
        Some(first) if ip.is_empty() => status["podIP"] = first.into(),
        Some(first) if first != ip => status["podIPs"] = json!([{ "ip": ip }]),
        None if !ip.is_empty() => status["podIPs"] = json!([{ "ip": ip }]),
        _ => {}
    }
}

/// Init containers were annotations once.
pub(super) fn drop_init_container_annotations(object: &mut Value) {
    const OLD: [&str; 4] = [
        "pod.beta.kubernetes.io/init-containers",
        "pod.alpha.kubernetes.io/init-containers",
        "pod.beta.kubernetes.io/init-container-statuses",
        "pod.alpha.kubernetes.io/init-container-statuses",
    ];
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|key, _| !OLD.contains(&key.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// The service account has two names.
pub(super) fn pod_spec(spec: &mut Value) {
    let name = match spec.text("serviceAccountName") {
        "" => spec.text("serviceAccount").to_owned(),
        name => name.to_owned(),
    };
    if !name.is_empty() {
        spec["serviceAccount"] = name.clone().into();
        spec["serviceAccountName"] = name.into();
    } else if let Value::Object(spec) = spec {
        spec.remove("serviceAccount");
    }
}

pub(super) fn container(container: &mut Value) {
    if container.text("imagePullPolicy").is_empty() {
        container["imagePullPolicy"] = pull_policy(container.text("image")).into();
    }
}

pub(super) fn volume(volume: &mut Value) {
    let Value::Object(members) = volume else { return };
    if members.iter().all(|(name, value)| name == "name" || value.is_null()) {
        members.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(image) = members.get_mut("image").filter(|image| image.is_object())
        && image.text("pullPolicy").is_empty()
    {
        image["pullPolicy"] = pull_policy(image.text("reference")).into();
    }
}

fn pull_policy(image: &str) -> &'static str {
    if image::is_latest(image) { "Always" } else { "IfNotPresent" }
}

/// The items of a list, to be changed.
pub(super) fn items<'a>(of: &'a mut Value, name: &str) -> impl Iterator<Item = &'a mut Value> {
    of.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}
