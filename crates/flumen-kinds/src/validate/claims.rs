//! Persistent volumes and claims of them.

use flumen_fields::Path;
use serde_json::Value;

use super::difference::difference;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::sources::{self, ONE_TYPE, Owner};
use super::{format, resources, selector};
use crate::read::{Read, quantity};

const ACCESS_MODES: [&str; 4] =
    ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];
const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// The template of a claim inside a pod.
pub(super) fn template(e: &mut Report, at: &Path<'_>, template: &Value) {
    meta::template(e, &at.child("metadata"), template.part("metadata"));
    claim_spec(e, &at.child("spec"), template.part("spec"), Groups::Checked);
}

fn access_modes(e: &mut Report, at: &Path<'_>, spec: &Value) {
    let at = at.child("accessModes");
    let (mut single, mut others) = (false, false);
    for mode in spec.texts("accessModes") {
        e.one_of(&at, mode, &ACCESS_MODES);
        single |= mode == "ReadWriteOncePod";
        others |= mode != "ReadWriteOncePod" && ACCESS_MODES.contains(&mode);
    }
    if single && others {
        e.forbidden(&at, "may not use ReadWriteOncePod with other access modes");
    }
}

/// Whether the groups of data sources are checked; those of stored claims are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups {
    Checked,
    Trusted,
}

pub(super) fn claim_spec(e: &mut Report, at: &Path<'_>, spec: &Value, groups: Groups) {
    if spec.list("accessModes").is_empty() {
        e.required(&at.child("accessModes"), "at least 1 access mode is required");
    }
    selector::check(e, &at.child("selector"), spec.part("selector"));
    access_modes(e, at, spec);
    let storage_at = at.child("resources");
    let storage_at = storage_at.key("storage");
    match spec.part("resources").part("requests").some("storage") {
        None => e.required(&storage_at, ""),
        Some(size) => resources::positive(e, &storage_at, size),
    }
    let class = spec.text("storageClassName");
    e.form_if_filled(&at.child("storageClassName"), class, format::dns_subdomain);
    let mode = spec.text_given("volumeMode");
    e.one_of_if_given(&at.child("volumeMode"), mode, &VOLUME_MODES);
    let (source, reference) = (spec.some("dataSource"), spec.some("dataSourceRef"));
    if let Some(source) = source {
        data_source(e, &at.child("dataSource"), source, groups);
    }
    let namespace = reference.map_or("", |reference| reference.text("namespace"));
    if let Some(reference) = reference {
        let at = at.child("dataSourceRef");
        data_source(e, &at, reference, groups);
        e.form_if_filled(&at.child("namespace"), namespace, format::dns_label);
    }
    if let (Some(source), Some(reference)) = (source, reference) {
        let same = ["apiGroup", "kind", "name"]
            .iter()
            .all(|field| source.part(field) == reference.part(field));
        let detail = if !namespace.is_empty() {
            Some("may not be specified when dataSourceRef.namespace is specified")
        } else if same {
            None
        } else {
            Some("must match dataSourceRef")
        };
        if let Some(detail) = detail {
            e.invalid(at, serde_json::json!({}), detail);
        }
    }
    let class = spec.text("volumeAttributesClassName");
    e.form_if_filled(&at.child("volumeAttributesClassName"), class, format::dns_subdomain);
}

fn data_source(e: &mut Report, at: &Path<'_>, source: &Value, groups: Groups) {
    e.filled(&at.child("name"), source.text("name"));
    e.filled(&at.child("kind"), source.text("kind"));
    let (group, kind) = (source.text("apiGroup"), source.text("kind"));
    if group.is_empty() && kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        e.invalid(at, kind, detail);
    }
    if groups == Groups::Checked {
        e.form_if_filled(&at.child("apiGroup"), group, format::dns_subdomain);
    }
}

pub(super) fn claim(e: &mut Report, object: &Value) {
    checked_claim(e, object, Groups::Checked);
}

fn checked_claim(e: &mut Report, object: &Value, groups: Groups) {
    meta::check(e, object, Scope::Namespaced, Naming::SUBDOMAIN);
    claim_spec(e, &Path::new("spec"), object.part("spec"), groups);
}

pub(super) fn claim_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    let was = old.part("spec");
    let has_group = |field: &str| was.part(field).some("apiGroup").is_some();
    let trusted = has_group("dataSource") || has_group("dataSourceRef");
    checked_claim(e, new, if trusted { Groups::Trusted } else { Groups::Checked });
    let (mut spec, mut before) = (new.part("spec").clone(), was.clone());
    if was.text("volumeName").is_empty() {
        take(&mut before, &spec, "volumeName");
    }
    let annotation = |object: &Value| {
        let annotations = object.part("metadata").part("annotations");
        annotations.text_given(BETA_CLASS).map(str::to_owned)
    };
    let (beta, old_beta) = (annotation(new), annotation(old));
    let (class, old_class) = (
        spec.text_given("storageClassName").map(str::to_owned),
        was.text_given("storageClassName"),
    );
    let from_annotation = old_beta.is_some()
        && old_class.is_none()
        && class == old_beta
        && (beta.is_none() || beta == old_beta);
    if from_annotation {
        drop_field(&mut spec, "storageClassName");
    } else {
        if beta != old_beta {
            let at = Path::new("metadata");
            let at = at.child("annotations");
            let value = beta.unwrap_or_default();
            e.invalid(&at.child(BETA_CLASS), value, super::report::IMMUTABLE);
        }
        let fits = old_beta.is_none() || old_beta == class;
        if class.is_some() && old_class.is_none() && fits {
            drop_field(&mut spec, "storageClassName");
        }
    }
    if new.part("status").text("phase") == "Bound" {
        let size = was.part("resources").part("requests").some("storage").cloned();
        let requests = spec.get_mut("resources").and_then(|r| r.get_mut("requests"));
        if let (Some(Value::Object(requests)), Some(size)) = (requests, size) {
            requests.insert("storage".to_owned(), size);
        }
        take(&mut spec, was, "volumeAttributesClassName");
    }
    let at = Path::new("spec");
    if spec != before {
        let shown = difference("core.PersistentVolumeClaimSpec", &before, &spec);
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{shown}"
        );
        e.forbidden(&at, detail);
    }
    let size = |spec: &Value| quantity(spec.part("resources").part("requests").part("storage"));
    let (new_size, old_size) = (size(new.part("spec")), size(was));
    let capacity = quantity(old.part("status").part("capacity").part("storage"));
    if new_size < old_size && new_size <= capacity {
        let at = at.child("resources");
        let at = at.child("requests");
        e.forbidden(&at.child("storage"), "field can not be less than status.capacity");
    }
    let mode = "volumeMode";
    e.immutable(&Path::new(mode), new.part("spec").part(mode), was.part(mode));
    let class = "volumeAttributesClassName";
    let current = old.part("status").some("currentVolumeAttributesClassName");
    if new.part("spec").part(class) != was.part(class) && current.is_some() {
        let detail = match new.part("spec").text_given(class) {
            None => {
                "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"
            }
            Some("") => {
                "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"
            }
            Some(_) => return,
        };
        e.forbidden(&at.child(class), detail);
    }
}

fn take(into: &mut Value, from: &Value, field: &str) {
    match from.get(field) {
        Some(value) => {
            if let Value::Object(fields) = into {
                fields.insert(field.to_owned(), value.clone());
            }
        }
        None => drop_field(into, field),
    }
}

fn drop_field(from: &mut Value, field: &str) {
    if let Value::Object(fields) = from {
        fields.remove(field);
    }
}

pub(super) fn claim_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    if new.part("spec").list("accessModes").is_empty() {
        let at = Path::new("Spec");
        e.required(&at.child("accessModes"), "");
    }
    let at = Path::new("status");
    let capacity = at.child("capacity");
    for (name, value) in new.part("status").map("capacity") {
        resources::basic(e, &capacity.key(name), value);
    }
    let known = [
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    let statuses = at.child("allocatedResourceStatuses");
    for (name, status) in new.part("status").pairs("allocatedResourceStatuses") {
        claim_resource(e, &statuses, name);
        if !known.contains(&status) {
            e.not_supported(&statuses, name, &known);
        }
    }
    let allocated = at.child("allocatedResources");
    for (name, value) in new.part("status").map("allocatedResources") {
        let before = e.len();
        claim_resource(e, &allocated, name);
        if e.len() == before {
            resources::basic(e, &allocated.key(name), value);
        }
    }
}

fn claim_resource(e: &mut Report, at: &Path<'_>, name: &str) {
    let before = e.len();
    e.form(at, name, format::qualified_name);
    if e.len() == before && resources::is_native(name) {
        e.one_of(at, name, &["storage"]);
    }
}

const VOLUME_KINDS: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub(super) fn new_volume(e: &mut Report, object: &Value) {
    volume(e, object);
    mount_options(e, object);
}

fn volume(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let name = object.part("metadata").text("name");
    volume_spec(e, &Path::new("spec"), object.part("spec"), name);
}

/// Volumes that are mounted with options; of others none may be asked for.
const MOUNTED: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// Mount options in an annotation, which only old kinds of volumes know.
fn mount_options(e: &mut Report, object: &Value) {
    let key = "volume.beta.kubernetes.io/mount-options";
    let spec = object.part("spec");
    if object.part("metadata").part("annotations").some(key).is_some()
        && !MOUNTED.iter().any(|source| spec.some(source).is_some())
    {
        let at = Path::new("metadata");
        let at = at.child("annotations");
        e.forbidden(&at.child(key), "may not specify mount options for this volume type");
    }
}

fn volume_spec(e: &mut Report, at: &Path<'_>, spec: &Value, name: &str) {
    if spec.list("accessModes").is_empty() {
        e.required(&at.child("accessModes"), "");
    }
    access_modes(e, at, spec);
    let capacity = spec.map("capacity");
    let capacity_at = at.child("capacity");
    if capacity.is_empty() {
        e.required(&capacity_at, "");
    }
    if !capacity.contains_key("storage") || capacity.len() > 1 {
        e.not_supported(&capacity_at, spec.part("capacity").clone(), &["storage"]);
    }
    for (resource, value) in capacity {
        resources::basic(e, &capacity_at.key(resource), value);
        resources::positive(e, &capacity_at.key(resource), value);
    }
    let policy = spec.text("persistentVolumeReclaimPolicy");
    let policy_at = at.child("persistentVolumeReclaimPolicy");
    if !policy.is_empty() {
        e.one_of(&policy_at, policy, &["Delete", "Recycle", "Retain"]);
    }
    if let Some(affinity) = spec.some("nodeAffinity") {
        let at = at.child("nodeAffinity");
        match affinity.some("required") {
            Some(required) => selector::nodes(e, &at.child("required"), required),
            None => e.required(&at.child("required"), "must specify required node constraints"),
        }
    }
    volume_source(e, at, spec, name);
    let host_path = spec.part("hostPath").text("path");
    let is_root =
        !host_path.is_empty() && host_path.split('/').all(|part| matches!(part, "" | "."));
    if is_root && host_path.starts_with('/') && policy == "Recycle" {
        e.forbidden(&policy_at, "may not be 'recycle' for a hostPath mount of '/'");
    }
    let class = spec.text("storageClassName");
    e.form_if_filled(&at.child("storageClassName"), class, format::dns_subdomain);
    let mode = spec.text_given("volumeMode");
    e.one_of_if_given(&at.child("volumeMode"), mode, &VOLUME_MODES);
    if let Some(class) = spec.text_given("volumeAttributesClassName") {
        let class_at = at.child("volumeAttributesClassName");
        if class.is_empty() {
            e.required(&class_at, "an empty string is disallowed");
        } else {
            e.form(&class_at, class, format::dns_subdomain);
        }
        if spec.some("csi").is_none() {
            let detail = "has to be specified when using volumeAttributesClassName";
            e.required(&at.child("csi"), detail);
        }
    }
}

fn volume_source(e: &mut Report, at: &Path<'_>, spec: &Value, name: &str) {
    let mut found = false;
    for kind in VOLUME_KINDS {
        let Some(source) = spec.some(kind) else { continue };
        if found && kind != "flexVolume" {
            e.forbidden(&at.child(if kind == "cephfs" { "cephFS" } else { kind }), ONE_TYPE);
            continue;
        }
        found = true;
        sources::check(e, at, kind, source, Owner::Volume { name });
        if kind == "local" && spec.some("nodeAffinity").is_none() {
            e.required(&at.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if !found {
        e.required(at, "must specify a volume type");
    }
}

pub(super) fn volume_update(e: &mut Report, new: &Value, old: &Value) {
    new_volume(e, new);
    volume(e, new);
    let (spec, was) = (new.part("spec"), old.part("spec"));
    let mut source = source_of(spec);
    let before = source_of(was);
    let secret = "controllerExpandSecretRef";
    if was.some("csi").is_some()
        && was.part("csi").some(secret).is_none()
        && let Some(csi) = source.get_mut("csi")
    {
        drop_field(csi, secret);
    }
    if source != before {
        let at = Path::new("spec");
        let shown = difference("core.PersistentVolumeSource", &before, &source);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{shown}");
        e.forbidden(&at.child("persistentvolumesource"), detail);
    }
    let mode = "volumeMode";
    e.immutable(&Path::new(mode), spec.part(mode), was.part(mode));
    let affinity = "nodeAffinity";
    if was.some(affinity).is_some() && spec.part(affinity) != was.part(affinity) {
        let shown = crate::internal::shown_pointer("core.VolumeNodeAffinity", spec.some(affinity));
        let detail = "field is immutable, except for updating from beta label to GA";
        e.invalid(&Path::new(affinity), shown, detail);
    }
    let class = "volumeAttributesClassName";
    if was.some(class).is_some() && spec.some(class).is_none() {
        let at = Path::new("spec");
        e.forbidden(&at.child(class), "update from non-nil value to nil is forbidden");
    }
}

fn source_of(spec: &Value) -> Value {
    let fields = VOLUME_KINDS
        .iter()
        .filter_map(|kind| spec.some(kind).map(|source| ((*kind).to_owned(), source.clone())));
    Value::Object(fields.collect())
}

pub(super) fn volume_status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
}
