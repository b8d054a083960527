//! Where volumes of pods and persistent volumes come from.

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::report::Report;
use super::volumes;
use crate::read::Read;

pub(super) const ONE_TYPE: &str = "may not specify more than 1 volume type";
pub(super) const ISCSI_TOO_LONG: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

/// Persistent volumes have to say in which namespace their secrets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner<'a> {
    Pod,
    Volume { name: &'a str },
}

/// Checks a source of this kind, which pods and persistent volumes share.
pub(super) fn check(
    e: &mut Report,
    parent: &Path<'_>,
    kind: &str,
    source: &Value,
    owner: Owner<'_>,
) {
    // The server has always called this one something else.
    let at = parent.child(if kind == "gcePersistentDisk" { "persistentDisk" } else { kind });
    match kind {
        "hostPath" | "local" => host_path(e, &at, source),
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let field = if kind == "gcePersistentDisk" { "pdName" } else { "volumeID" };
            e.filled(&at.child(field), source.text(field));
            let partition = source.int("partition");
            if !(0..=255).contains(&partition) {
                e.invalid(&at.child("partition"), partition, format::between(1, 255));
            }
        }
        "nfs" => {
            e.filled(&at.child("server"), source.text("server"));
            e.filled(&at.child("path"), source.text("path"));
            if !source.text("path").starts_with('/') {
                e.invalid(&at.child("path"), source.text("path"), "must be an absolute path");
            }
        }
        "iscsi" => iscsi(e, &at, source, owner),
        "glusterfs" => {
            e.filled(&at.child("endpoints"), source.text("endpoints"));
            e.filled(&at.child("path"), source.text("path"));
            if let (Owner::Volume { .. }, Some(namespace)) =
                (owner, source.text_given("endpointsNamespace"))
            {
                let at = at.child("endpointsNamespace");
                if namespace.is_empty() {
                    let detail =
                        "if the endpointnamespace is set, it must be a valid namespace name";
                    e.invalid(&at, namespace, detail);
                } else {
                    e.form(&at, namespace, format::dns_label);
                }
            }
        }
        "flocker" => flocker(e, &at, source),
        "rbd" => {
            list_filled(e, &at, source, "monitors");
            e.filled(&at.child("image"), source.text("image"));
        }
        "cephfs" => list_filled(e, &at, source, "monitors"),
        "cinder" => {
            e.filled(&at.child("volumeID"), source.text("volumeID"));
            secret_reference(e, &at, source, owner);
        }
        "quobyte" => quobyte(e, &at, source),
        "fc" => fibre_channel(e, &at, source),
        "flexVolume" => flex(e, &at, source),
        "azureFile" => {
            e.filled(&at.child("secretName"), source.text("secretName"));
            e.filled(&at.child("shareName"), source.text("shareName"));
            if matches!(owner, Owner::Volume { .. })
                && source.text_given("secretNamespace") == Some("")
            {
                e.required(&at.child("secretNamespace"), "");
            }
        }
        "azureDisk" => azure_disk(e, &at, source),
        "vsphereVolume" => e.filled(&at.child("volumePath"), source.text("volumePath")),
        "photonPersistentDisk" => e.filled(&at.child("pdID"), source.text("pdID")),
        "portworxVolume" => e.filled(&at.child("volumeID"), source.text("volumeID")),
        "scaleIO" => {
            for field in ["gateway", "system", "volumeName"] {
                e.filled(&at.child(field), source.text(field));
            }
        }
        "storageos" => {
            e.required_form(&at.child("volumeName"), source.text("volumeName"), format::dns_label);
            let namespace = source.text("volumeNamespace");
            e.form_if_filled(&at.child("volumeNamespace"), namespace, format::dns_label);
            secret_reference(e, &at, source, owner);
        }
        "csi" => csi_volume(e, &at, source),
        _ => {}
    }
}

fn list_filled(e: &mut Report, at: &Path<'_>, source: &Value, field: &str) {
    if source.list(field).is_empty() {
        e.required(&at.child(field), "");
    }
}

fn secret_reference(e: &mut Report, at: &Path<'_>, source: &Value, owner: Owner<'_>) {
    let Some(secret) = source.some("secretRef") else { return };
    let at = at.child("secretRef");
    e.filled(&at.child("name"), secret.text("name"));
    if matches!(owner, Owner::Volume { .. }) {
        e.filled(&at.child("namespace"), secret.text("namespace"));
    }
}

fn host_path(e: &mut Report, at: &Path<'_>, source: &Value) {
    let path = source.text("path");
    if path.is_empty() {
        return e.required(&at.child("path"), "");
    }
    volumes::no_backsteps(e, &at.child("path"), path);
    let types = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    e.one_of_if_given(&at.child("type"), source.text_given("type"), &types);
}

fn is_iscsi_name(name: &str) -> bool {
    let alphanumeric = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    match name.get(..3) {
        Some("eui") => name.get(4..).is_some_and(|rest| alphanumeric(rest, 16)),
        Some("naa") => name.get(4..).is_some_and(|rest| alphanumeric(rest, 32)),
        _ => {
            let Some((authority, target)) = name.split_once(':') else { return false };
            let Some(rest) = authority.strip_prefix("iqn.") else { return false };
            let date = rest.split('.').next().unwrap_or_default();
            let date_fits = date.len() == 7
                && date
                    .bytes()
                    .enumerate()
                    .all(|(n, b)| if n == 4 { b == b'-' } else { b.is_ascii_digit() });
            let host = rest.get(8..).unwrap_or_default();
            let host_fits = !host.is_empty()
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'));
            let forbidden = |c: char| ",;*&$|".contains(c) || c.is_whitespace();
            date_fits && host_fits && !target.is_empty() && !target.contains(forbidden)
        }
    }
}

fn has_iscsi_prefix(name: &str) -> bool {
    ["iqn", "eui", "naa"].iter().any(|prefix| name.starts_with(prefix))
}

fn iscsi(e: &mut Report, at: &Path<'_>, source: &Value, owner: Owner<'_>) {
    let unprefixed = match owner {
        Owner::Pod => "must be valid format starting with iqn, eui, or naa",
        Owner::Volume { .. } => "must be valid format",
    };
    let portal = source.text("targetPortal");
    e.filled(&at.child("targetPortal"), portal);
    if let (Owner::Volume { name }, true) = (owner, source.some("initiatorName").is_some())
        && name.len() + 1 + portal.len() > 64
    {
        e.invalid(&at.child("targetportal"), portal, ISCSI_TOO_LONG);
    }
    let name = |e: &mut Report, at: &Path<'_>, value: &str| {
        if !has_iscsi_prefix(value) {
            e.invalid(at, value, unprefixed);
        } else if !is_iscsi_name(value) {
            e.invalid(at, value, "must be valid format");
        }
    };
    match source.text("iqn") {
        "" => e.required(&at.child("iqn"), ""),
        value => name(e, &at.child("iqn"), value),
    }
    e.in_range(&at.child("lun"), source.int("lun"), 0, 255);
    let authenticates = source.truth("chapAuthDiscovery") || source.truth("chapAuthSession");
    match (source.some("secretRef"), owner) {
        (None, _) if authenticates => e.required(&at.child("secretRef"), ""),
        (Some(secret), Owner::Volume { .. }) => {
            e.filled(&at.child("secretRef").child("name"), secret.text("name"));
        }
        _ => {}
    }
    if let Some(initiator) = source.text_given("initiatorName") {
        name(e, &at.child("initiatorname"), initiator);
    }
}

fn flocker(e: &mut Report, at: &Path<'_>, source: &Value) {
    let (name, uuid) = (source.text("datasetName"), source.text("datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        e.required(at, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        let detail = "datasetName and datasetUUID can not be specified simultaneously";
        e.invalid(at, "resource", detail);
    }
    if name.contains('/') {
        e.invalid(&at.child("datasetName"), name, "must not contain '/'");
    }
}

fn quobyte(e: &mut Report, at: &Path<'_>, source: &Value) {
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    let registry = source.text("registry");
    if registry.is_empty() {
        e.required(&at.child("registry"), detail);
    } else if source.text("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        e.required(&at.child("tenant"), detail);
    } else {
        for pair in registry.split(',') {
            if pair.matches(':').count() != 1 {
                e.invalid(&at.child("registry"), registry, detail);
            }
        }
    }
    e.filled(&at.child("volume"), source.text("volume"));
}

fn fibre_channel(e: &mut Report, at: &Path<'_>, source: &Value) {
    let (names, ids) = (source.list("targetWWNs"), source.list("wwids"));
    let names_at = at.child("targetWWNs");
    if names.is_empty() && ids.is_empty() {
        e.required(&names_at, "must specify either targetWWNs or wwids, but not both");
    }
    if !names.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        e.invalid(&names_at, names.to_vec(), detail);
    }
    if !names.is_empty() {
        match source.int_given("lun") {
            None => e.required(&at.child("lun"), "lun is required if targetWWNs is specified"),
            Some(lun) => e.in_range(&at.child("lun"), lun, 0, 255),
        }
    }
}

fn flex(e: &mut Report, at: &Path<'_>, source: &Value) {
    e.filled(&at.child("driver"), source.text("driver"));
    let at = at.child("options");
    for key in source.map("options").keys() {
        let namespace = key.split_once('/').map_or(key.as_str(), |(namespace, _)| namespace);
        let domain = format!(".{}", namespace.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            e.invalid(&at.key(key), key.as_str(), detail);
        }
    }
}

fn azure_disk(e: &mut Report, at: &Path<'_>, source: &Value) {
    let uri = source.text("diskURI");
    e.filled(&at.child("diskName"), source.text("diskName"));
    e.filled(&at.child("diskURI"), uri);
    let caching = source.text_given("cachingMode");
    e.one_of_if_given(&at.child("cachingMode"), caching, &["None", "ReadOnly", "ReadWrite"]);
    let Some(kind) = source.text_given("kind") else { return };
    e.one_of(&at.child("kind"), kind, &["Dedicated", "Managed", "Shared"]);
    let managed = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    let blob = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    if kind == "Managed" && !uri.starts_with("/subscriptions/") {
        e.not_supported(&at.child("diskURI"), uri, &[managed]);
    }
    if kind != "Managed" && !uri.starts_with("https://") {
        e.not_supported(&at.child("diskURI"), uri, &[blob]);
    }
}

pub(super) fn csi_driver(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.required(at, "");
    }
    if name.len() > 63 {
        e.too_long(at, 63);
    }
    e.form(at, name, format::dns_subdomain_any_case);
}

fn csi_volume(e: &mut Report, at: &Path<'_>, source: &Value) {
    csi_driver(e, &at.child("driver"), source.text("driver"));
    e.filled(&at.child("volumeHandle"), source.text("volumeHandle"));
    let secrets = [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ];
    for field in secrets {
        let Some(secret) = source.some(field) else { continue };
        let at = at.child(field);
        e.required_form(&at.child("name"), secret.text("name"), format::dns_subdomain);
        e.required_form(&at.child("namespace"), secret.text("namespace"), format::dns_label);
    }
}
