//! Whether an object of a built-in kind is valid, in the words and the order of the API server.
//!
//! Objects come decoded, with defaults and prepared. A kind has an entry in [`rules`]; what it does
//! not say is checked for every kind alike.

mod access_reviews;
mod address;
mod admission;
mod admission_policies;
mod api_services;
mod autoscaling;
mod batch;
mod certificates;
mod claims;
mod cluster;
mod containers;
mod core;
mod cron;
mod cron_jobs;
mod daemon_sets;
mod devices;
mod difference;
mod discovery;
mod endpoints;
mod environment;
mod events;
mod flowcontrol;
mod format;
mod job_indexes;
mod job_policies;
mod job_status;
mod meta;
mod networking;
mod pod;
mod pod_annotations;
mod pod_update;
mod policy_types;
mod probes;
mod projections;
mod quotas;
mod rbac;
mod report;
mod resources;
mod rules;
mod scheduling;
mod security;
mod selector;
mod service_addresses;
mod services;
mod signers;
mod sources;
mod stateful_sets;
mod storage;
mod volumes;
mod workloads;

use flumen_fields::FieldError;
use flumen_schema::api::{ApiKind, Scope as ApiScope};
use serde_json::Value;

pub use access_reviews::AccessReview;
pub(crate) use address::{Range, parse_ip};
pub(crate) use containers::visit as visit_containers;
pub(crate) use format::{dns_label, label_value};
use meta::{Naming, Scope};
use report::Report;

fn scope_of(kind: &ApiKind) -> Scope {
    match kind.scope {
        ApiScope::Cluster => Scope::Cluster,
        ApiScope::Namespaced => Scope::Namespaced,
    }
}

/// What is wrong with a new object. It is in the version that is stored; the kind is that of the
/// request, because events that are sent to their own group have to say more than those of the core.
pub fn validate_create(kind: &ApiKind, object: &Value) -> Vec<FieldError> {
    let mut e = Report::default();
    if let Some(rules) = rules::of(kind) {
        (rules.create)(&mut e, object);
    }
    if e.is_empty() {
        meta::check_any(&mut e, object, scope_of(kind), Naming::PATH_SEGMENT);
    }
    e.into_errors()
}

/// What is wrong with an object that replaces another.
pub fn validate_update(kind: &ApiKind, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut e = common_update(kind, new, old);
    match rules::of(kind) {
        Some(rules) => (rules.update)(&mut e, new, old),
        None => meta::check_update(&mut e, new, old),
    }
    e.into_errors()
}

/// What is wrong with an object that was sent to a subresource of its kind, such as `status`,
/// `finalize`, `approval`, `ephemeralcontainers` or `resize`.
pub fn validate_subresource_update(
    kind: &ApiKind,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<FieldError> {
    let mut e = common_update(kind, new, old);
    match rules::of(kind).and_then(|rules| rules.subresource(subresource)) {
        Some(check) => check(&mut e, new, old),
        // Definitions have a server of their own, which knows nothing of standard finalizers.
        None if kind.group == "apiextensions.k8s.io" => meta::check_any_update(&mut e, new, old),
        None => meta::check_update(&mut e, new, old),
    }
    e.into_errors()
}

/// What is wrong with a question about access.
pub fn validate_access_review(review: AccessReview, object: &Value) -> Vec<FieldError> {
    let mut e = Report::default();
    access_reviews::check(&mut e, review, object);
    e.into_errors()
}

/// What objects without a kind of their own may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    Subdomain,
    PathSegment,
}

/// What is wrong with the metadata of an object of any kind, such as a custom resource.
pub fn validate_metadata(object: &Value, is_namespaced: bool, names: NameRule) -> Vec<FieldError> {
    let mut e = Report::default();
    let scope = if is_namespaced { Scope::Namespaced } else { Scope::Cluster };
    let naming = match names {
        NameRule::Subdomain => Naming::SUBDOMAIN,
        NameRule::PathSegment => Naming::PATH_SEGMENT,
    };
    meta::check_any(&mut e, object, scope, naming);
    e.into_errors()
}

/// What is wrong with an object of any kind that replaces another, before its own rules are asked.
pub fn validate_any_update(new: &Value, old: &Value, is_namespaced: bool) -> Vec<FieldError> {
    let mut errors = validate_metadata(new, is_namespaced, NameRule::PathSegment);
    errors.extend(validate_metadata_update(new, old));
    errors
}

/// What is wrong with the metadata of an object of any kind that replaces another.
pub fn validate_metadata_update(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut e = Report::default();
    meta::check_any_update(&mut e, new, old);
    e.into_errors()
}

fn common_update(kind: &ApiKind, new: &Value, old: &Value) -> Report {
    let mut e = Report::default();
    meta::check_any(&mut e, new, scope_of(kind), Naming::PATH_SEGMENT);
    meta::check_any_update(&mut e, new, old);
    e
}
