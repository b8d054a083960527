//! Variables of a container.

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::report::Report;
use super::volumes;
use crate::read::{Read, quantity};

const ONE_FIELD: &str = "may not have more than one field specified at a time";
const ENVIRONMENT_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
pub(super) const VOLUME_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

pub(super) fn variables(e: &mut Report, at: &Path<'_>, variables: &[Value]) {
    for (n, variable) in variables.iter().enumerate() {
        let at = at.index(n);
        e.required_form(&at.child("name"), variable.text("name"), format::environment_name);
        if let Some(source) = variable.some("valueFrom") {
            value_from(e, &at.child("valueFrom"), source, variable.text("value"));
        }
    }
}

fn value_from(e: &mut Report, at: &Path<'_>, source: &Value, value: &str) {
    let mut sources = 0;
    if let Some(field) = source.some("fieldRef") {
        sources += 1;
        field_selector(e, &at.child("fieldRef"), field, &ENVIRONMENT_FIELDS);
    }
    if let Some(resource) = source.some("resourceFieldRef") {
        sources += 1;
        resource_selector(e, &at.child("resourceFieldRef"), resource, Place::Environment);
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        let Some(key) = source.some(kind) else { continue };
        sources += 1;
        let at = at.child(kind);
        e.form(&at.child("name"), key.text("name"), format::dns_subdomain);
        e.required_form(&at.child("key"), key.text("key"), format::data_key);
    }
    if let Some(file) = source.some("fileKeyRef") {
        sources += 1;
        let at = at.child("fileKeyRef");
        e.required_form(&at.child("key"), file.text("key"), format::environment_name);
        e.required_form(&at.child("volumeName"), file.text("volumeName"), format::dns_label);
        if file.text("path").is_empty() {
            e.required(&at.child("path"), "");
        } else {
            volumes::no_backsteps(e, &at.child("path"), file.text("path"));
        }
    }
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        e.invalid(at, "", detail);
    } else if !value.is_empty() {
        e.invalid(at, "", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        e.invalid(at, "", ONE_FIELD);
    }
}

/// A field of the pod by its path.
pub(super) fn field_selector(e: &mut Report, at: &Path<'_>, selector: &Value, known: &[&str]) {
    let (version, path) = (selector.text("apiVersion"), selector.text("fieldPath"));
    for (field, value) in [("apiVersion", version), ("fieldPath", path)] {
        if value.is_empty() {
            return e.required(&at.child(field), "");
        }
    }
    let subscript = path.strip_suffix("']").and_then(|path| path.split_once("['"));
    let subscript = subscript.filter(|(path, _)| !path.is_empty());
    let problem = match subscript {
        _ if version != "v1" => Some(format!("unsupported pod version: {version}")),
        Some(("metadata.annotations" | "metadata.labels", _)) => None,
        Some(_) => Some(format!("field label does not support subscript: {path}")),
        None if is_known_field(path) => None,
        None => Some(format!("field label not supported: {path}")),
    };
    if let Some(problem) = problem {
        let detail = format!("error converting fieldPath: {problem}");
        return e.invalid(&at.child("fieldPath"), path, detail);
    }
    match subscript {
        Some(("metadata.annotations", key)) => {
            e.form(at, &key.to_lowercase(), format::qualified_name);
        }
        Some((_, key)) => e.form(at, key, format::qualified_name),
        None => {
            let path = if path == "spec.host" { "spec.nodeName" } else { path };
            e.one_of(&at.child("fieldPath"), path, known);
        }
    }
}

fn is_known_field(path: &str) -> bool {
    let more = ["spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host"];
    ENVIRONMENT_FIELDS.contains(&path) || VOLUME_FIELDS.contains(&path) || more.contains(&path)
}

/// Where a resource is asked for: volumes have to name the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Environment,
    Volume,
}

pub(super) fn resource_selector(e: &mut Report, at: &Path<'_>, selector: &Value, place: Place) {
    let resource = selector.text("resource");
    let huge_pages =
        resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if place == Place::Volume && selector.text("containerName").is_empty() {
        e.required(&at.child("containerName"), "");
    } else if resource.is_empty() {
        e.required(&at.child("resource"), "");
    } else if !huge_pages {
        e.one_of(&at.child("resource"), resource, &RESOURCES);
    }
    let divisor = selector.part("divisor");
    if quantity(divisor).is_zero() {
        return;
    }
    let divisor = divisor.as_str().unwrap_or_default();
    let sizes = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the";
    let is_size = matches!(
        divisor,
        "1" | "1k"
            | "1M"
            | "1G"
            | "1T"
            | "1P"
            | "1E"
            | "1Ki"
            | "1Mi"
            | "1Gi"
            | "1Ti"
            | "1Pi"
            | "1Ei"
    );
    let detail = match resource {
        "limits.cpu" | "requests.cpu" if !matches!(divisor, "1m" | "1") => {
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned()
        }
        "limits.memory" | "requests.memory" if !is_size => format!("{sizes} memory resource"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" if !is_size => {
            format!("{sizes} local ephemeral storage resource")
        }
        _ if huge_pages && !is_size => format!("{sizes} hugepages resource"),
        _ => return,
    };
    e.invalid(&at.child("divisor"), resource, detail);
}

pub(super) fn sources(e: &mut Report, at: &Path<'_>, sources: &[Value]) {
    for (n, source) in sources.iter().enumerate() {
        let item = at.index(n);
        e.form_if_filled(&item.child("prefix"), source.text("prefix"), format::environment_name);
        let mut count = 0;
        for kind in ["configMapRef", "secretRef"] {
            let Some(reference) = source.some(kind) else { continue };
            count += 1;
            let form = |name: &str| format::before_suffix(format::dns_subdomain, name);
            e.required_form(&item.child(kind).child("name"), reference.text("name"), form);
        }
        if count == 0 {
            e.invalid(at, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if count > 1 {
            e.invalid(at, "", ONE_FIELD);
        }
    }
}
