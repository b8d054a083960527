//! Pods and templates of pods.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::containers::{self, Pod};
use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{format, pod_annotations, resources, scheduling, security, volumes};
use crate::internal;
use crate::pods;
use crate::read::{Read, quantity};

pub(super) fn create(e: &mut Report, pod: &Value) {
    meta_and_spec(e, pod);
    let at = Path::new("spec");
    let spec = pod.part("spec");
    if !spec.list("ephemeralContainers").is_empty() {
        e.forbidden(&at.child("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.text("nodeName").is_empty() && !spec.list("schedulingGates").is_empty() {
        let detail = "cannot be set until all schedulingGates have been cleared";
        e.forbidden(&at.child("nodeName"), detail);
    }
    pod_annotations::profiles_match(e, &at, pod.part("metadata"), spec);
}

/// Metadata and spec of a pod that may be new or not.
pub(super) fn meta_and_spec(e: &mut Report, pod: &Value) {
    meta::check(e, pod, Scope::Namespaced, Naming::SUBDOMAIN);
    let (meta, spec) = (pod.part("metadata"), pod.part("spec"));
    let metadata = Path::new("metadata");
    pod_annotations::check(e, &metadata.child("annotations"), meta, spec);
    let at = Path::new("spec");
    self::spec(e, &at, spec, Some(meta));
    if spec.text("serviceAccountName").is_empty() {
        let at = at.child("volumes");
        for (n, volume) in spec.list("volumes").iter().enumerate() {
            let at = at.index(n);
            let at = at.child("projected");
            let at = at.child("sources");
            for (n, source) in volume.part("projected").list("sources").iter().enumerate() {
                if source.some("serviceAccountToken").is_some() {
                    let detail = "must not be specified when serviceAccountName is not set";
                    e.forbidden(&at.index(n).child("serviceAccountToken"), detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        let at = at.child(list);
        for (n, container) in spec.list(list).iter().enumerate() {
            containers::image_without_space(e, &at.index(n), container);
        }
    }
}

/// The template that a workload makes pods of.
pub(super) fn template(e: &mut Report, at: &Path<'_>, template: &Value) {
    let (meta, spec) = (template.part("metadata"), template.part("spec"));
    meta::labels(e, &at.child("labels"), meta, "labels");
    meta::annotations(e, &at.child("annotations"), meta);
    pod_annotations::check(e, &at.child("annotations"), meta, spec);
    self::spec(e, &at.child("spec"), spec, None);
    pod_annotations::profiles_match(e, &at.child("spec"), meta, spec);
    if !spec.list("ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        e.forbidden(&at.child("spec").child("ephemeralContainers"), detail);
    }
}

/// A `PodTemplate`.
pub(super) fn template_object(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    template(e, &Path::new("template"), object.part("template"));
}

pub(super) fn template_object_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    template(e, &Path::new("template"), new.part("template"));
}

/// The spec of a pod. Templates have no metadata of a pod.
pub(super) fn spec(e: &mut Report, at: &Path<'_>, spec: &Value, meta: Option<&Value>) {
    if spec.some("terminationGracePeriodSeconds").is_none() {
        e.required(&at.child("terminationGracePeriodSeconds"), "");
    }
    let name = meta.map_or("", |meta| meta.text("name"));
    let of = volumes::Of { name, is_pod: meta.is_some() };
    let pod = Pod {
        spec,
        volumes: volumes::check(e, &at.child("volumes"), spec.list("volumes"), of),
        claims: spec.list("resourceClaims").iter().map(|claim| claim.text("name")).collect(),
        grace: spec.int_given("terminationGracePeriodSeconds"),
        host_users: spec.truth_given("hostUsers") != Some(false),
    };
    resource_claims(e, &at.child("resourceClaims"), spec.list("resourceClaims"), meta);
    containers::all(e, at, &pod);
    pod_resources(e, &at.child("resources"), &pod);
    host_network_ports(e, &at.child("containers"), spec, meta.is_some());
    let policies = ["Always", "OnFailure", "Never"];
    e.choice(&at.child("restartPolicy"), spec.text("restartPolicy"), &policies);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    e.choice(&at.child("dnsPolicy"), spec.text("dnsPolicy"), &policies);
    meta::labels(e, &at.child("nodeSelector"), spec, "nodeSelector");
    security::of_pod(e, &at.child("securityContext"), spec);
    scheduling::affinity(e, &at.child("affinity"), spec.part("affinity"));
    dns_config(e, &at.child("dnsConfig"), spec);
    gates(e, at, spec);
    let constraints = spec.list("topologySpreadConstraints");
    scheduling::spread(e, &at.child("topologySpreadConstraints"), constraints);
    security::host_process(e, at, spec);
    security::user_namespace(e, at, spec);
    host_name(e, at, spec);
    let names = [
        ("serviceAccountName", format::dns_subdomain as format::Format),
        ("nodeName", format::dns_subdomain),
    ];
    for (field, form) in names {
        e.form_if_filled(&at.child(field), spec.text(field), form);
    }
    if let Some(seconds) = spec.int_given("activeDeadlineSeconds") {
        e.in_range(&at.child("activeDeadlineSeconds"), seconds, 1, i64::from(i32::MAX));
    }
    for field in ["hostname", "subdomain"] {
        e.form_if_filled(&at.child(field), spec.text(field), format::dns_label);
    }
    scheduling::tolerations(e, &at.child("tolerations"), spec.list("tolerations"));
    let aliases = at.child("hostAliases");
    for (n, alias) in spec.list("hostAliases").iter().enumerate() {
        let at = aliases.index(n);
        e.ip(&at.child("ip"), alias.text("ip"), &[]);
        let at = at.child("hostnames");
        for (n, name) in alias.texts("hostnames").enumerate() {
            e.form(&at.index(n), name, format::dns_subdomain);
        }
    }
    let class = spec.text("priorityClassName");
    e.form_if_filled(&at.child("priorityClassName"), class, format::dns_subdomain);
    if let Some(name) = spec.text_given("runtimeClassName") {
        e.form(&at.child("runtimeClassName"), name, format::dns_subdomain);
    }
    if let Some(policy) = spec.text_given("preemptionPolicy") {
        e.choice(&at.child("preemptionPolicy"), policy, &["PreemptLowerPriority", "Never"]);
    }
    if let Some(overhead) = spec.some("overhead") {
        let limits = serde_json::json!({"limits": overhead});
        let name = resources::container_name;
        resources::requirements(e, &at.child("overhead"), &limits, name, &BTreeSet::new());
    }
    security::operating_system(e, at, spec);
    file_keys(e, at, spec);
}

fn resource_claims(e: &mut Report, at: &Path<'_>, claims: &[Value], meta: Option<&Value>) {
    let mut names = BTreeSet::new();
    for (n, claim) in claims.iter().enumerate() {
        if meta.is_some_and(|meta| meta.part("annotations").some(pod_annotations::MIRROR).is_some())
        {
            e.forbidden(&Path::new("[]"), "static pods do not support resource claims");
            continue;
        }
        let at = at.index(n);
        let name = claim.text("name");
        if name.is_empty() {
            e.required(&at.child("name"), "");
        } else if names.insert(name) {
            e.form(&at.child("name"), name, format::dns_label);
        } else {
            e.duplicate(&at.child("name"), name);
        }
        let (direct, template) =
            (claim.text_given("resourceClaimName"), claim.text_given("resourceClaimTemplateName"));
        let detail = match (direct, template) {
            (Some(_), Some(_)) => Some(
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            (None, None) => {
                Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
            }
            _ => None,
        };
        if let Some(detail) = detail {
            e.invalid(&at, internal::shown("core.PodResourceClaim", claim), detail);
        }
        for field in ["resourceClaimName", "resourceClaimTemplateName"] {
            if let Some(name) = claim.text_given(field) {
                e.form(&at.child(field), name, format::dns_subdomain);
            }
        }
    }
}

/// Resources of the pod as a whole.
fn pod_resources(e: &mut Report, at: &Path<'_>, pod: &Pod<'_>) {
    let Some(wanted) = pod.spec.some("resources") else { return };
    if pod.spec.part("os").text("name") == "windows" {
        return e.forbidden(at, "may not be set for a windows pod");
    }
    if wanted.some("claims").is_some() {
        let detail = "claims may not be set for Resources at pod-level";
        e.forbidden(&at.child("claims"), detail);
    }
    resources::requirements(e, at, wanted, resources::pod_name, &pod.claims);
    for field in ["requests", "limits"] {
        let at = at.child(field);
        for (resource, sum) in pods::container_resources(pod.spec, field) {
            let Some(value) = wanted.part(field).some(&resource) else { continue };
            // Huge pages cannot be promised twice, so that limits of them count like requests.
            let counts = field == "requests" || resource.starts_with("hugepages-");
            if counts && sum > quantity(value) {
                let detail = format!(
                    "must be greater than or equal to aggregate container {field} of {sum}"
                );
                e.invalid(&at.key(&resource), value.clone(), detail);
            }
        }
    }
    let containers = at.child("containers");
    for (n, container) in pod.spec.list("containers").iter().enumerate() {
        for (resource, value) in container.part("resources").map("limits") {
            let Some(limit) = wanted.map("limits").get(resource) else { continue };
            if quantity(value) > quantity(limit) {
                let most = limit.as_str().unwrap_or_default();
                let detail = format!("must be less than or equal to pod limits of {most}");
                let at = containers.index(n);
                e.invalid(&at.key(resource).child("limits"), value.clone(), detail);
            }
        }
    }
}

fn host_network_ports(e: &mut Report, at: &Path<'_>, spec: &Value, is_pod: bool) {
    if !spec.truth("hostNetwork") {
        return;
    }
    for (n, container) in spec.list("containers").iter().enumerate() {
        let at = at.index(n);
        let at = at.child("ports");
        for (n, port) in container.list("ports").iter().enumerate() {
            let (host, own) = (port.int("hostPort"), port.int("containerPort"));
            if (is_pod || host != 0) && host != own {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                e.invalid(&at.index(n).child("hostPort"), host, detail);
            }
        }
    }
}

fn dns_config(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let config = spec.some("dnsConfig");
    if spec.text("dnsPolicy") == "None" {
        let Some(config) = config else {
            return e.required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
        };
        if config.list("nameservers").is_empty() {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return e.required(&at.child("nameservers"), detail);
        }
    }
    let Some(config) = config else { return };
    let servers = at.child("nameservers");
    if config.list("nameservers").len() > 3 {
        let shown = config.part("nameservers").clone();
        e.invalid(&servers, shown, "must not have more than 3 nameservers");
    }
    for (n, server) in config.texts("nameservers").enumerate() {
        e.ip(&servers.index(n), server, &[]);
    }
    let searches = at.child("searches");
    let shown = || config.part("searches").clone();
    if config.list("searches").len() > 32 {
        e.invalid(&searches, shown(), "must not have more than 32 search paths");
    }
    let length: usize = config.texts("searches").map(|search| search.len() + 1).sum();
    if length > 2049 {
        let detail =
            "must not have more than 2048 characters (including spaces) in the search list";
        e.invalid(&searches, shown(), detail);
    }
    for (n, search) in config.texts("searches").enumerate() {
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            e.form(&searches.index(n), search, format::dns_subdomain_with_underscore);
        }
    }
    let options = at.child("options");
    for (n, option) in config.list("options").iter().enumerate() {
        if option.text("name").is_empty() {
            e.required(&options.index(n), "must not be empty");
        }
    }
}

fn gates(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let readiness = at.child("readinessGates");
    for (n, gate) in spec.list("readinessGates").iter().enumerate() {
        let at = readiness.index(n);
        e.form(&at.child("conditionType"), gate.text("conditionType"), format::qualified_name);
    }
    let mut seen = BTreeSet::new();
    let scheduling = at.child("schedulingGates");
    for (n, gate) in spec.list("schedulingGates").iter().enumerate() {
        let at = scheduling.index(n);
        e.form(&at, gate.text("name"), format::qualified_name);
        if !seen.insert(gate.text("name")) {
            e.duplicate(&at, gate.text("name"));
        }
    }
}

fn host_name(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let Some(name) = spec.text_given("hostnameOverride") else { return };
    let at = at.child("hostnameOverride");
    for field in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.truth(field) {
            e.forbidden(&at, format!("may not be specified when {field} is true"));
        }
    }
    if name.len() > 64 {
        e.too_long(&at, 64);
    }
    e.form(&at, name, format::dns_subdomain);
}

/// Files with variables are in volumes that containers of the pod write.
fn file_keys(e: &mut Report, at: &Path<'_>, spec: &Value) {
    for (list, n, container) in containers::visit(spec) {
        for (place, variable) in container.list("env").iter().enumerate() {
            let Some(file) = variable.part("valueFrom").some("fileKeyRef") else { continue };
            let name = file.text("volumeName");
            let list = at.child(list);
            let container = list.index(n);
            let variables = container.child("env");
            let variable = variables.index(place);
            let source = variable.child("valueFrom");
            let at = source.child("fileKeyRef");
            let at = at.child("volumeName");
            match spec.list("volumes").iter().rfind(|volume| volume.text("name") == name) {
                None => e.push(FieldError::not_found(&at, name)),
                Some(volume) if volume.some("emptyDir").is_none() => {
                    e.invalid(&at, name, "referenced volume must be of type emptyDir");
                }
                Some(_) => {}
            }
        }
    }
}
