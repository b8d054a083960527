//! Volumes of a pod and where containers see them.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::containers::PULL_POLICIES;
use super::environment::{self, Place};
use super::report::Report;
use super::sources::{self, ONE_TYPE, Owner};
use super::{claims, format, projections};
use crate::read::{Read, quantity};

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// The kinds of volumes of a pod, in the order of the server. Some are called something else when
/// there is one too many.
const KINDS: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// What volumes know of their pod: its name, if it has one already, and whether it is a pod at all
/// or a template.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) name: &'a str,
    pub(super) is_pod: bool,
}

/// Checks volumes and answers those that are valid, by name.
pub(super) fn check<'a>(
    e: &mut Report,
    at: &Path<'_>,
    volumes: &'a [Value],
    of: Of<'_>,
) -> BTreeMap<&'a str, &'a Value> {
    let created = |volume: &Value| {
        let ephemeral = volume.some("ephemeral").is_some() && !of.name.is_empty();
        ephemeral.then(|| format!("{}-{}", of.name, volume.text("name")))
    };
    let created: BTreeSet<String> = volumes.iter().filter_map(created).collect();
    let mut valid = BTreeMap::new();
    for (n, volume) in volumes.iter().enumerate() {
        let at = at.index(n);
        let before = e.len();
        let name = volume.text("name");
        source(e, &at, volume, of);
        e.required_form(&at.child("name"), name, format::dns_label);
        if valid.contains_key(name) {
            e.duplicate(&at.child("name"), name);
        }
        if e.len() == before {
            valid.insert(name, volume);
        }
        let claim = volume.part("persistentVolumeClaim").text("claimName");
        if created.contains(claim) {
            let at = at.child("persistentVolumeClaim");
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            e.invalid(&at.child("claimName"), claim, detail);
        }
    }
    valid
}

fn source(e: &mut Report, at: &Path<'_>, volume: &Value, of: Of<'_>) {
    let mut found = false;
    for kind in KINDS {
        let Some(source) = volume.some(kind) else { continue };
        if found {
            let shown = match kind {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                kind => kind,
            };
            e.forbidden(&at.child(shown), ONE_TYPE);
        } else {
            found = true;
            one(e, at, kind, source, volume, of);
        }
        if kind == "iscsi" && source.some("initiatorName").is_some() {
            let length = volume.text("name").len() + 1 + source.text("targetPortal").len();
            if length > 64 {
                e.invalid(&at.child("name"), volume.text("name"), sources::ISCSI_TOO_LONG);
            }
        }
    }
    if !found {
        e.required(at, "must specify a volume type");
    }
}

fn one(e: &mut Report, parent: &Path<'_>, kind: &str, source: &Value, volume: &Value, of: Of<'_>) {
    let at = parent.child(kind);
    match kind {
        "emptyDir" => {
            if quantity(source.part("sizeLimit")).is_negative() {
                let detail = "SizeLimit field must be a valid resource quantity";
                e.forbidden(&at.child("sizeLimit"), detail);
            }
        }
        "gitRepo" => {
            e.filled(&at.child("repository"), source.text("repository"));
            descending(e, &at.child("directory"), source.text("directory"));
        }
        "secret" | "configMap" => {
            let field = if kind == "secret" { "secretName" } else { "name" };
            e.filled(&at.child(field), source.text(field));
            mode(e, &at.child("defaultMode"), source.int_given("defaultMode"));
            let items = at.child("items");
            for (n, item) in source.list("items").iter().enumerate() {
                key_to_path(e, &items.index(n), item);
            }
        }
        "persistentVolumeClaim" => e.filled(&at.child("claimName"), source.text("claimName")),
        "downwardAPI" => {
            mode(e, &at.child("defaultMode"), source.int_given("defaultMode"));
            for file in source.list("items") {
                downward_file(e, &at, file);
            }
        }
        "projected" => projections::check(e, &at, source),
        "csi" => {
            sources::csi_driver(e, &at.child("driver"), source.text("driver"));
            if let Some(secret) = source.some("nodePublishSecretRef") {
                if secret.text("name").is_empty() {
                    e.required(&at.child("nodePublishSecretRef").child("name"), "");
                } else {
                    e.form(&at.child("name"), secret.text("name"), format::dns_subdomain);
                }
            }
        }
        "ephemeral" => {
            match source.some("volumeClaimTemplate") {
                None => e.required(&at.child("volumeClaimTemplate"), ""),
                Some(template) => claims::template(e, &at.child("volumeClaimTemplate"), template),
            }
            let name = volume.text("name");
            if !of.name.is_empty() && !name.is_empty() {
                let claim = format!("{}-{name}", of.name);
                for message in format::dns_subdomain(&claim) {
                    let detail = format!("PVC name \"{claim}\": {message}");
                    e.invalid(&parent.child("name"), name, detail);
                }
            }
        }
        "image" => {
            if of.is_pod {
                e.filled(&at.child("reference"), source.text("reference"));
            }
            e.choice(&at.child("pullPolicy"), source.text("pullPolicy"), &PULL_POLICIES);
        }
        _ => sources::check(e, parent, kind, source, Owner::Pod),
    }
}

pub(super) fn mode(e: &mut Report, at: &Path<'_>, value: Option<i64>) {
    if let Some(value) = value.filter(|value| !(0..=0o777).contains(value)) {
        e.invalid(at, value, FILE_MODE);
    }
}

pub(super) fn key_to_path(e: &mut Report, at: &Path<'_>, item: &Value) {
    e.filled(&at.child("key"), item.text("key"));
    e.filled(&at.child("path"), item.text("path"));
    unreserved(e, &at.child("path"), item.text("path"));
    mode(e, &at.child("mode"), item.int_given("mode"));
}

pub(super) fn downward_file(e: &mut Report, at: &Path<'_>, file: &Value) {
    e.filled(&at.child("path"), file.text("path"));
    unreserved(e, &at.child("path"), file.text("path"));
    match (file.some("fieldRef"), file.some("resourceFieldRef")) {
        (Some(field), resource) => {
            let known = &environment::VOLUME_FIELDS;
            environment::field_selector(e, &at.child("fieldRef"), field, known);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                e.invalid(at, "resource", detail);
            }
        }
        (None, Some(resource)) => {
            let at = at.child("resourceFieldRef");
            environment::resource_selector(e, &at, resource, Place::Volume);
        }
        (None, None) => e.required(at, "one of fieldRef and resourceFieldRef is required"),
    }
    mode(e, &at.child("mode"), file.int_given("mode"));
}

/// A relative path that stays where it is.
pub(super) fn descending(e: &mut Report, at: &Path<'_>, path: &str) {
    if path.starts_with('/') {
        e.invalid(at, path, "must be a relative path");
    }
    no_backsteps(e, at, path);
}

pub(super) fn no_backsteps(e: &mut Report, at: &Path<'_>, path: &str) {
    if path.split('/').any(|part| part == "..") {
        e.invalid(at, path, "must not contain '..'");
    }
}

/// A relative path that does not start like those of the server.
pub(super) fn unreserved(e: &mut Report, at: &Path<'_>, path: &str) {
    descending(e, at, path);
    if path.starts_with("..") && !path.starts_with("../") {
        e.invalid(at, path, "must not start with '..'");
    }
}

pub(super) fn mounts(
    e: &mut Report,
    at: &Path<'_>,
    container: &Value,
    volumes: &BTreeMap<&str, &Value>,
) {
    let devices = container.list("volumeDevices");
    let privileged = container.part("securityContext").truth("privileged");
    let mut points = BTreeSet::new();
    for (n, mount) in container.list("volumeMounts").iter().enumerate() {
        let item = at.index(n);
        let (name, path) = (mount.text("name"), mount.text("mountPath"));
        e.filled(&item.child("name"), name);
        if !volumes.contains_key(name) {
            e.push(FieldError::not_found(&item.child("name"), name));
        }
        e.filled(&item.child("mountPath"), path);
        if !points.insert(path) {
            e.invalid(&item.child("mountPath"), path, "must be unique");
        }
        if devices.iter().any(|device| device.text("name") == name) {
            let detail = "must not already exist in volumeDevices";
            e.invalid(&item.child("name"), name, detail);
        }
        if devices.iter().any(|device| device.text("devicePath") == path) {
            let detail = "must not already exist as a path in volumeDevices";
            e.invalid(&item.child("mountPath"), path, detail);
        }
        let (sub, expression) = (mount.text("subPath"), mount.text("subPathExpr"));
        if !sub.is_empty() {
            descending(e, &at.child("subPath"), sub);
        }
        if !expression.is_empty() {
            if !sub.is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                e.invalid(&item.child("subPathExpr"), expression, detail);
            }
            descending(e, &at.child("subPathExpr"), expression);
        }
        propagation(e, at, mount, privileged);
    }
}

fn propagation(e: &mut Report, at: &Path<'_>, mount: &Value, privileged: bool) {
    let mode = mount.text_given("mountPropagation");
    if let Some(mode) = mode {
        let at = at.child("mountPropagation");
        e.one_of(&at, mode, &["Bidirectional", "HostToContainer", "None"]);
        if mode == "Bidirectional" && !privileged {
            let detail =
                "Bidirectional mount propagation is available only to privileged containers";
            e.forbidden(&at, detail);
        }
    }
    let at = at.child("recursiveReadOnly");
    match mount.text_given("recursiveReadOnly") {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.truth("readOnly") {
                e.forbidden(&at, "may only be specified when readOnly is true");
            }
            if !matches!(mode, None | Some("None")) {
                let detail = "may only be specified when mountPropagation is None or not specified";
                e.forbidden(&at, detail);
            }
        }
        Some(other) => e.not_supported(&at, other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

pub(super) fn devices(
    e: &mut Report,
    at: &Path<'_>,
    container: &Value,
    volumes: &BTreeMap<&str, &Value>,
) {
    let mounts = container.list("volumeMounts");
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (n, device) in container.list("volumeDevices").iter().enumerate() {
        let at = at.index(n);
        let (name, path) = (device.text("name"), device.text("devicePath"));
        let (name_at, path_at) = (at.child("name"), at.child("devicePath"));
        e.filled(&name_at, name);
        if names.contains(name) {
            e.invalid(&name_at, name, "must be unique");
        }
        match volumes.get(name) {
            Some(volume) => {
                let block = volume.some("persistentVolumeClaim").is_some()
                    || volume.some("ephemeral").is_some();
                if !block {
                    let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                    e.invalid(&name_at, name, detail);
                }
            }
            None => e.push(FieldError::not_found(&name_at, name)),
        }
        e.filled(&path_at, path);
        if paths.contains(path) {
            e.invalid(&path_at, path, "must be unique");
        }
        if path.split('/').any(|part| part == "..") {
            e.invalid(&path_at, path, "can not contain backsteps ('..')");
        } else {
            paths.insert(path);
        }
        if mounts.iter().any(|mount| mount.text("name") == name) {
            e.invalid(&name_at, name, "must not already exist in volumeMounts");
        }
        if mounts.iter().any(|mount| mount.text("mountPath") == path) {
            e.invalid(&path_at, path, "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name);
        }
    }
}
