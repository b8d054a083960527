//! Containers of a pod.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::report::Report;
use super::{environment, format, probes, resources, security, volumes};
use crate::read::Read;

pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
pub(super) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// What containers know of their pod.
pub(super) struct Pod<'a> {
    pub(super) spec: &'a Value,
    /// Volumes that are valid, by name.
    pub(super) volumes: BTreeMap<&'a str, &'a Value>,
    pub(super) claims: BTreeSet<&'a str>,
    pub(super) grace: Option<i64>,
    /// Whether users of the host are users of the pod.
    pub(super) host_users: bool,
}

pub(super) fn all(e: &mut Report, at: &Path<'_>, pod: &Pod<'_>) {
    regular(e, &at.child("containers"), pod);
    initial(e, &at.child("initContainers"), pod);
    ephemeral(e, &at.child("ephemeralContainers"), pod);
}

/// All containers of a pod with the list that they are in, in the order in which the server visits
/// them.
pub(crate) fn visit(spec: &Value) -> impl Iterator<Item = (&'static str, usize, &Value)> {
    ["initContainers", "containers", "ephemeralContainers"].into_iter().flat_map(move |list| {
        let containers = spec.list(list).iter().enumerate();
        containers.map(move |(n, container)| (list, n, container))
    })
}

fn regular(e: &mut Report, at: &Path<'_>, pod: &Pod<'_>) {
    let containers = pod.spec.list("containers");
    if containers.is_empty() {
        return e.required(at, "");
    }
    let mut names = BTreeSet::new();
    for (n, container) in containers.iter().enumerate() {
        let at = at.index(n);
        common(e, &at, container, pod);
        if !names.insert(container.text("name")) {
            e.duplicate(&at.child("name"), container.text("name"));
        }
        hooks(e, &at, container, pod);
        restart_policy(e, &at, container);
    }
    let mut ports = BTreeSet::new();
    for (n, container) in containers.iter().enumerate() {
        host_ports(e, &at.index(n), container, &mut ports);
    }
}

fn hooks(e: &mut Report, at: &Path<'_>, container: &Value, pod: &Pod<'_>) {
    if let Some(lifecycle) = container.some("lifecycle") {
        probes::lifecycle(e, &at.child("lifecycle"), lifecycle, pod.grace);
    }
    probes::liveness(e, &at.child("livenessProbe"), container.some("livenessProbe"));
    probes::readiness(e, &at.child("readinessProbe"), container.some("readinessProbe"));
    probes::liveness(e, &at.child("startupProbe"), container.some("startupProbe"));
}

fn initial(e: &mut Report, at: &Path<'_>, pod: &Pod<'_>) {
    let mut names: BTreeSet<&str> =
        pod.spec.list("containers").iter().map(|container| container.text("name")).collect();
    for (n, container) in pod.spec.list("initContainers").iter().enumerate() {
        let list = at;
        let at = at.index(n);
        common(e, &at, container, pod);
        let policy = container.text_given("restartPolicy");
        let rules = container.list("restartPolicyRules");
        match policy {
            None if !rules.is_empty() => {
                let detail = "must specify restartPolicy when restart rules are used";
                e.required(&at.child("restartPolicy"), detail);
            }
            None => {}
            Some("Always") if !rules.is_empty() => {
                let detail = "restartPolicyRules are not allowed for init containers with restart policy Always";
                e.forbidden(&at.child("restartPolicyRules"), detail);
            }
            Some(_) => restart_policy(e, &at, container),
        }
        let name = container.text("name");
        if names.contains(name) {
            e.duplicate(&at.child("name"), name);
        } else if !name.is_empty() {
            names.insert(name);
        }
        // The server looks at each of these alone, so all of them are the first.
        host_ports(e, &list.index(0), container, &mut BTreeSet::new());
        if policy == Some("Always") {
            hooks(e, &at, container, pod);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.some(field).is_some() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                e.forbidden(&at.child(field), detail);
            }
        }
    }
}

fn ephemeral(e: &mut Report, at: &Path<'_>, pod: &Pod<'_>) {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for list in ["containers", "initContainers"] {
        names.extend(pod.spec.list(list).iter().map(|container| container.text("name")));
    }
    let others = names.clone();
    let forbidden = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
    ];
    for (n, container) in pod.spec.list("ephemeralContainers").iter().enumerate() {
        let at = at.index(n);
        common(e, &at, container, pod);
        image_without_space(e, &at, container);
        if !names.insert(container.text("name")) {
            e.duplicate(&at.child("name"), container.text("name"));
        }
        let target = container.text("targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            e.push(FieldError::not_found(&at.child("targetContainerName"), target));
        }
        for field in forbidden {
            let set = match container.some(field) {
                Some(Value::Object(fields)) if field == "resources" => !fields.is_empty(),
                found => found.is_some(),
            };
            if set {
                e.forbidden(&at.child(field), "cannot be set for an Ephemeral Container");
            }
        }
        let mounts = at.child("volumeMounts");
        for (n, mount) in container.list("volumeMounts").iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !mount.text(field).is_empty() {
                    let detail = "cannot be set for an Ephemeral Container";
                    e.forbidden(&mounts.index(n).child(field), detail);
                }
            }
        }
    }
}

pub(super) fn image_without_space(e: &mut Report, at: &Path<'_>, container: &Value) {
    let image = container.text("image");
    if image.trim().len() != image.len() {
        e.invalid(&at.child("image"), image, "must not have leading or trailing whitespace");
    }
}

fn common(e: &mut Report, at: &Path<'_>, container: &Value, pod: &Pod<'_>) {
    e.required_form(&at.child("name"), container.text("name"), format::dns_label);
    e.filled(&at.child("image"), container.text("image"));
    let policies = ["File", "FallbackToLogsOnError"];
    let policy = container.text("terminationMessagePolicy");
    e.choice(&at.child("terminationMessagePolicy"), policy, &policies);
    ports(e, &at.child("ports"), container.list("ports"));
    environment::variables(e, &at.child("env"), container.list("env"));
    environment::sources(e, &at.child("envFrom"), container.list("envFrom"));
    volumes::mounts(e, &at.child("volumeMounts"), container, &pod.volumes);
    volumes::devices(e, &at.child("volumeDevices"), container, &pod.volumes);
    e.choice(&at.child("imagePullPolicy"), container.text("imagePullPolicy"), &PULL_POLICIES);
    let wanted = container.part("resources");
    let name = resources::container_name;
    resources::requirements(e, &at.child("resources"), wanted, name, &pod.claims);
    resize_policies(e, &at.child("resizePolicy"), container, pod.spec.text("restartPolicy"));
    if let Some(context) = container.some("securityContext") {
        security::of_container(e, &at.child("securityContext"), context, pod.host_users);
    }
}

fn ports(e: &mut Report, at: &Path<'_>, ports: &[Value]) {
    let mut names = BTreeSet::new();
    for (n, port) in ports.iter().enumerate() {
        let at = at.index(n);
        let name = port.text("name");
        if !name.is_empty() {
            let problems = format::port_name(name);
            if problems.is_empty() && !names.insert(name) {
                e.duplicate(&at.child("name"), name);
            }
            e.form(&at.child("name"), name, format::port_name);
        }
        match port.int("containerPort") {
            0 => e.required(&at.child("containerPort"), ""),
            number => e.port(&at.child("containerPort"), number),
        }
        if port.int("hostPort") != 0 {
            e.port(&at.child("hostPort"), port.int("hostPort"));
        }
        e.choice(&at.child("protocol"), port.text("protocol"), &PROTOCOLS);
    }
}

fn host_ports(e: &mut Report, at: &Path<'_>, container: &Value, seen: &mut BTreeSet<String>) {
    let at = at.child("ports");
    for (n, port) in container.list("ports").iter().enumerate() {
        let number = port.int("hostPort");
        if number == 0 {
            continue;
        }
        let key = format!("{}/{}/{number}", port.text("protocol"), port.text("hostIP"));
        if seen.contains(&key) {
            e.duplicate(&at.index(n).child("hostPort"), key.as_str());
        }
        seen.insert(key);
    }
}

fn resize_policies(e: &mut Report, at: &Path<'_>, container: &Value, restart: &str) {
    let mut seen = BTreeSet::new();
    for (n, policy) in container.list("resizePolicy").iter().enumerate() {
        let (name, then) = (policy.text("resourceName"), policy.text("restartPolicy"));
        if !seen.insert(name) {
            e.duplicate(&at.index(n), name);
        }
        e.choice(at, name, &["cpu", "memory"]);
        e.choice(at, then, &["NotRequired", "RestartContainer"]);
        if restart == "Never" && then != "NotRequired" {
            e.invalid(at, then, "must be 'NotRequired' when `restartPolicy` is 'Never'");
        }
    }
}

fn restart_policy(e: &mut Report, at: &Path<'_>, container: &Value) {
    let rules = container.list("restartPolicyRules");
    let policy_at = at.child("restartPolicy");
    match container.text_given("restartPolicy") {
        None if rules.is_empty() => return,
        None => {
            e.required(&policy_at, "must specify restartPolicy when restart rules are used");
        }
        Some(policy) => e.one_of(&policy_at, policy, &["Always", "Never", "OnFailure"]),
    }
    let at = at.child("restartPolicyRules");
    if rules.len() > 20 {
        e.too_long(&at, 20);
    }
    for (n, rule) in rules.iter().enumerate() {
        let at = at.index(n);
        e.one_of(&at.child("action"), rule.text("action"), &["Restart"]);
        let at = at.child("exitCodes");
        let Some(codes) = rule.some("exitCodes") else {
            e.required(&at, "must be specified");
            continue;
        };
        e.one_of(&at.child("operator"), codes.text("operator"), &["In", "NotIn"]);
        if codes.list("values").len() > 255 {
            e.too_long(&at.child("values"), 255);
        }
    }
}
