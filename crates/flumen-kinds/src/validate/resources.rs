//! Resources that containers, quotas and limits speak of.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, FieldErrorKind, Path};
use flumen_object::Quantity;
use serde_json::Value;

use super::format;
use super::report::{NOT_NEGATIVE, Report};
use crate::read::{Read, is_integer, is_positive, quantity};

const HUGE_PAGES: &str = "hugepages-";
const REQUESTED_HUGE_PAGES: &str = "requests.hugepages-";

const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];
const INTEGER: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// A resource that Kubernetes itself knows.
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && format::qualified_name(&format!("requests.{name}")).is_empty()
}

/// Whether more may be promised than there is.
pub(super) fn allows_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

pub(super) fn is_standard_for_quota(name: &str) -> bool {
    (STANDARD.contains(&name) && name != "storage")
        || name.starts_with(HUGE_PAGES)
        || name.starts_with(REQUESTED_HUGE_PAGES)
}

/// The name of any resource.
pub(super) fn name(e: &mut Report, at: &Path<'_>, value: &str) {
    let before = e.len();
    e.form(at, value, format::qualified_name);
    let standard = STANDARD.contains(&value)
        || value.starts_with(HUGE_PAGES)
        || value.starts_with(REQUESTED_HUGE_PAGES);
    if e.len() == before && !value.contains('/') && !standard {
        e.invalid(at, value, "must be a standard resource type or fully qualified");
    }
}

/// The name of a resource that containers have.
pub(super) fn container_name(e: &mut Report, at: &Path<'_>, value: &str) {
    name(e, at, value);
    if !value.contains('/') {
        let standard = matches!(value, "cpu" | "memory" | "ephemeral-storage");
        if !standard && !is_huge_pages(value) {
            e.invalid(at, value, "must be a standard resource for containers");
        }
    } else if !is_native(value) && !is_extended(value) {
        e.invalid(at, value, "doesn't follow extended resource name standard");
    }
}

/// The name of a resource that a pod has as a whole.
pub(super) fn pod_name(e: &mut Report, at: &Path<'_>, value: &str) {
    let before = e.len();
    name(e, at, value);
    if e.len() == before && !matches!(value, "cpu" | "memory") && !is_huge_pages(value) {
        e.not_supported(at, value, &["cpu", HUGE_PAGES, "memory"]);
    }
}

/// The name of a resource that a quota limits.
pub(super) fn quota_name(e: &mut Report, at: &Path<'_>, value: &str) {
    name(e, at, value);
    if !value.contains('/') && !is_standard_for_quota(value) {
        e.invalid(at, value, "must be a standard resource for quota");
    }
}

/// How much there is of a resource.
pub(super) fn amount(e: &mut Report, at: &Path<'_>, name: &str, value: &Value) {
    not_negative(e, at, value);
    if (INTEGER.contains(&name) || is_extended(name)) && !is_integer(&quantity(value)) {
        e.invalid(at, value.clone(), "must be an integer");
    }
}

pub(super) fn not_negative(e: &mut Report, at: &Path<'_>, value: &Value) {
    if quantity(value).is_negative() {
        e.invalid(at, value.clone(), NOT_NEGATIVE);
    }
}

pub(super) fn positive(e: &mut Report, at: &Path<'_>, value: &Value) {
    if !is_positive(&quantity(value)) {
        e.invalid(at, value.clone(), "must be greater than zero");
    }
}

/// A quantity that is at least there to be had.
pub(super) fn basic(e: &mut Report, at: &Path<'_>, value: &Value) {
    let whole = quantity(value).units();
    if whole < 0 {
        e.invalid(at, whole, "must be a valid resource quantity");
    }
}

type Name = fn(&mut Report, &Path<'_>, &str);

/// Requests and limits. `claims` are the names of the pod's claims.
pub(super) fn requirements(
    e: &mut Report,
    at: &Path<'_>,
    resources: &Value,
    name: Name,
    claims: &BTreeSet<&str>,
) {
    let limits_at = at.child("limits");
    let requests_at = at.child("requests");
    let limits = resources.map("limits");
    let (mut compute, mut huge) = (false, false);
    for (resource, value) in limits {
        let at = limits_at.key(resource);
        name(e, &at, resource);
        amount(e, &at, resource, value);
        huge_pages(e, &at, resource, value);
        huge |= is_huge_pages(resource);
        compute |= matches!(resource.as_str(), "cpu" | "memory");
    }
    for (resource, value) in resources.map("requests") {
        let at = requests_at.key(resource);
        name(e, &at, resource);
        amount(e, &at, resource, value);
        match limits.get(resource) {
            Some(limit) => {
                let (asked, most) = (quantity(value), quantity(limit));
                let most_text = limit.as_str().unwrap_or_default();
                if asked != most && !allows_overcommit(resource) {
                    let detail = format!("must be equal to {resource} limit of {most_text}");
                    e.invalid(&requests_at, value.clone(), detail);
                } else if asked > most {
                    let detail =
                        format!("must be less than or equal to {resource} limit of {most_text}");
                    e.invalid(&requests_at, value.clone(), detail);
                }
            }
            None if !allows_overcommit(resource) => {
                e.required(&limits_at, "Limit must be set for non overcommitable resources");
            }
            None => {}
        }
        huge_pages(e, &at, resource, value);
        huge |= is_huge_pages(resource);
        compute |= matches!(resource.as_str(), "cpu" | "memory");
    }
    if huge && !compute {
        e.forbidden(at, "HugePages require cpu or memory");
    }
    claim_names(e, &at.child("claims"), resources.list("claims"), claims);
}

fn huge_pages(e: &mut Report, at: &Path<'_>, name: &str, value: &Value) {
    let Some(size) = name.strip_prefix(HUGE_PAGES) else { return };
    let size = Quantity::parse(size).ok().filter(|size| is_integer(size) && is_positive(size));
    if size.is_none_or(|size| quantity(value).units() % size.units() != 0) {
        let text = value.as_str().unwrap_or_default();
        let detail = format!("{text} is not positive integer multiple of {name}");
        e.invalid(at, value.clone(), detail);
    }
}

fn claim_names(e: &mut Report, at: &Path<'_>, claims: &[Value], known: &BTreeSet<&str>) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (n, claim) in claims.iter().enumerate() {
        let at = at.index(n);
        let name = claim.text("name");
        if name.is_empty() {
            e.required(&at, "");
            continue;
        }
        if seen.contains(name) {
            e.duplicate(&at, name);
        } else {
            let mut key = name.to_owned();
            let request = claim.text("request");
            if !request.is_empty() {
                e.form(&at.child("request"), request, format::dns_label);
                key = format!("{name}/{request}");
            }
            if seen.contains(&key) {
                e.duplicate(&at, key.as_str());
            } else if request.is_empty() {
                let prefix = format!("{name}/");
                for _ in seen.iter().filter(|key| key.starts_with(&prefix)) {
                    e.duplicate(&at, name);
                }
            }
            seen.insert(key);
        }
        if !known.contains(name) {
            let mut detail = "must be one of the names in pod.spec.resourceClaims".to_owned();
            if known.is_empty() {
                detail.push_str(" which is empty");
            } else {
                let names: Vec<&str> = known.iter().copied().collect();
                detail.push_str(": ");
                detail.push_str(&names.join(", "));
            }
            e.push(FieldError::new(FieldErrorKind::NotFound, &at, Some(name.into()), detail));
        }
    }
}
