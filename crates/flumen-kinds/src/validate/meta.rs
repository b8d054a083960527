//! Metadata of any object.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::format::{self, Format};
use super::report::Report;
use crate::internal;
use crate::read::Read;

const ANNOTATIONS_LIMIT: usize = 256 * 1024;
const MANAGER_LIMIT: usize = 128;
const SUBRESOURCE_LIMIT: usize = 256;
const OWNER: &str = "apimachinery.pkg.apis.meta.v1.OwnerReference";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Cluster,
    Namespaced,
}

/// What a kind accepts as names of its objects.
#[derive(Clone, Copy)]
pub(super) struct Naming {
    name: Format,
    /// What may stand before the part that the server adds, if it has a rule of its own.
    start: fn(&str) -> Vec<String>,
}

impl Naming {
    pub(super) const SUBDOMAIN: Self = Self {
        name: format::dns_subdomain,
        start: |value| format::before_suffix(format::dns_subdomain, value),
    };
    pub(super) const LABEL: Self = Self {
        name: format::dns_label,
        start: |value| format::before_suffix(format::dns_label, value),
    };
    pub(super) const LABEL_1035: Self = Self {
        name: format::dns_1035_label,
        start: |value| format::before_suffix(format::dns_1035_label, value),
    };
    pub(super) const PATH_SEGMENT: Self =
        Self { name: format::path_segment, start: format::path_segment_start };

    pub(super) const fn new(name: Format, start: Format) -> Self {
        Self { name, start }
    }
}

/// Metadata of an object of a kind that is part of Kubernetes.
pub(super) fn check(e: &mut Report, object: &Value, scope: Scope, naming: Naming) {
    check_any(e, object, scope, naming);
    kube_finalizers(e, object);
}

/// Metadata of an object as the server checks it for every kind.
pub(super) fn check_any(e: &mut Report, object: &Value, scope: Scope, naming: Naming) {
    check_named(e, object, scope, naming.name, naming.start);
}

/// The same, where more than its form is asked of a name.
pub(super) fn check_named(
    e: &mut Report,
    object: &Value,
    scope: Scope,
    name: impl Fn(&str) -> Vec<String>,
    start: impl Fn(&str) -> Vec<String>,
) {
    let meta = object.part("metadata");
    let at = Path::new("metadata");
    let prefix = meta.text("generateName");
    if !prefix.is_empty() {
        e.form(&at.child("generateName"), prefix, start);
    }
    if meta.text("name").is_empty() {
        e.required(&at.child("name"), "name or generateName is required");
    } else {
        e.form(&at.child("name"), meta.text("name"), name);
    }
    let namespace = meta.text("namespace");
    match scope {
        Scope::Namespaced => {
            e.required_form(&at.child("namespace"), namespace, format::dns_label);
        }
        Scope::Cluster if !namespace.is_empty() => {
            e.forbidden(&at.child("namespace"), "not allowed on this type");
        }
        Scope::Cluster => {}
    }
    e.not_negative(&at.child("generation"), meta.int("generation"));
    labels(e, &at.child("labels"), meta, "labels");
    annotations(e, &at.child("annotations"), meta);
    owners(e, &at.child("ownerReferences"), meta.list("ownerReferences"));
    finalizers(e, &at.child("finalizers"), meta);
    managed_fields(e, &at.child("managedFields"), meta.list("managedFields"));
}

/// What may not change in the metadata of an object of a kind that is part of Kubernetes.
pub(super) fn check_update(e: &mut Report, new: &Value, old: &Value) {
    check_any_update(e, new, old);
    kube_finalizers(e, new);
}

/// What may not change in the metadata of any object.
pub(super) fn check_any_update(e: &mut Report, new: &Value, old: &Value) {
    let (meta, was) = (new.part("metadata"), old.part("metadata"));
    let at = Path::new("metadata");
    if was.some("deletionTimestamp").is_some() {
        let known: BTreeSet<&str> = was.texts("finalizers").collect();
        let added: BTreeSet<&str> =
            meta.texts("finalizers").filter(|name| !known.contains(name)).collect();
        if !added.is_empty() {
            let names: Vec<String> = added.iter().map(|name| format!("{name:?}")).collect();
            let names = names.join(", ");
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{names}}}"
            );
            e.forbidden(&at.child("finalizers"), detail);
        }
    }
    if meta.int("generation") < was.int("generation") {
        let at = at.child("generation");
        e.invalid(&at, meta.int("generation"), "must not be decremented");
    }
    for name in ["name", "namespace", "uid"] {
        if meta.text(name) != was.text(name) {
            e.invalid(&at.child(name), meta.text(name), super::report::IMMUTABLE);
        }
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        e.immutable(&at.child(name), meta.part(name), was.part(name));
    }
    labels(e, &at.child("labels"), meta, "labels");
    annotations(e, &at.child("annotations"), meta);
    owners(e, &at.child("ownerReferences"), meta.list("ownerReferences"));
    managed_fields(e, &at.child("managedFields"), meta.list("managedFields"));
}

/// The labels in a field of this name.
pub(super) fn labels(e: &mut Report, at: &Path<'_>, parent: &Value, field: &str) {
    for (key, value) in parent.pairs(field) {
        e.form(at, key, format::qualified_name);
        e.form(at, value, format::label_value);
    }
}

pub(super) fn annotations(e: &mut Report, at: &Path<'_>, meta: &Value) {
    let mut size = 0;
    for (key, value) in meta.pairs("annotations") {
        for message in format::qualified_name(&key.to_lowercase()) {
            e.invalid(at, key, message);
        }
        size += key.len() + value.len();
    }
    if size > ANNOTATIONS_LIMIT {
        e.too_long(at, ANNOTATIONS_LIMIT);
    }
}

fn owners(e: &mut Report, at: &Path<'_>, owners: &[Value]) {
    let mut controller: Option<String> = None;
    for owner in owners {
        let api_version = owner.text("apiVersion");
        let version = api_version.rsplit('/').next().unwrap_or_default();
        if version.is_empty() || api_version.matches('/').count() > 1 {
            e.invalid(&at.child("apiVersion"), api_version, "version must not be empty");
        }
        for field in ["kind", "name", "uid"] {
            if owner.text(field).is_empty() {
                e.invalid(&at.child(field), "", "must not be empty");
            }
        }
        if api_version == "v1" && owner.text("kind") == "Event" {
            let shown = internal::shown_served(OWNER, owner);
            e.invalid(at, shown, "/v1, Kind=Event is disallowed from being an owner");
        }
        if owner.truth("controller") {
            let name = format!("{}/{}", owner.text("kind"), owner.text("name"));
            match &controller {
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    );
                    e.invalid(at, internal::shown_served_list(OWNER, owners), detail);
                }
                None => controller = Some(name),
            }
        }
    }
}

fn finalizers(e: &mut Report, at: &Path<'_>, meta: &Value) {
    let (mut orphan, mut foreground) = (false, false);
    for name in meta.texts("finalizers") {
        e.form(at, name, format::qualified_name);
        orphan |= name == "orphan";
        foreground |= name == "foregroundDeletion";
    }
    if orphan && foreground {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        e.invalid(at, meta.part("finalizers").clone(), detail);
    }
}

fn kube_finalizers(e: &mut Report, object: &Value) {
    let at = Path::new("metadata");
    let at = at.child("finalizers");
    for (n, name) in object.part("metadata").texts("finalizers").enumerate() {
        kube_finalizer(e, &at.index(n), name);
    }
}

pub(super) fn kube_finalizer(e: &mut Report, at: &Path<'_>, name: &str) {
    if !name.contains('/') && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        e.invalid(at, name, detail);
    }
}

fn managed_fields(e: &mut Report, at: &Path<'_>, entries: &[Value]) {
    for (n, entry) in entries.iter().enumerate() {
        let at = at.index(n);
        if !matches!(entry.text("operation"), "Apply" | "Update") {
            let detail = "must be `Apply` or `Update`";
            e.invalid(&at.child("operation"), entry.text("operation"), detail);
        }
        if !matches!(entry.text("fieldsType"), "" | "FieldsV1") {
            e.invalid(&at.child("fieldsType"), entry.text("fieldsType"), "must be `FieldsV1`");
        }
        manager(e, &at.child("manager"), entry.text("manager"));
        if entry.text("subresource").len() > SUBRESOURCE_LIMIT {
            e.too_long(&at.child("subresource"), SUBRESOURCE_LIMIT);
        }
    }
}

/// The name of a field manager.
pub(super) fn manager(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.len() > MANAGER_LIMIT {
        e.too_long(at, MANAGER_LIMIT);
    }
    for (place, character) in name.char_indices() {
        if character.is_control() || (character.is_whitespace() && character != ' ') {
            let code = u32::from(character);
            let detail = format!("invalid character U+{code:04X} (at position {place})");
            e.invalid(at, name, detail);
        }
    }
}

/// Metadata of a template, which has labels and annotations only.
pub(super) fn template(e: &mut Report, at: &Path<'_>, meta: &Value) {
    annotations(e, &at.child("annotations"), meta);
    labels(e, &at.child("labels"), meta, "labels");
    let order = [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ];
    for field in order {
        if meta.some(field).is_some() {
            let shown = if field == "uid" { "uID" } else { field };
            e.forbidden(&at.child(shown), "cannot be set");
        }
    }
}
