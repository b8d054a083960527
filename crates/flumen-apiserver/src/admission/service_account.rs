//! Pods run as a service account and carry its token.

use serde_json::{Value, json};

use super::{Attempt, Result};
use crate::{clock, meta};

const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const VOLUME_PREFIX: &str = "kube-api-access-";
const MIRROR: &str = "kubernetes.io/config.mirror";
/// An hour, and some seconds by which the real server tells its own tokens from asked ones.
const EXPIRATION: i64 = 3607;

pub(super) fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    if !attempt.creates("", "pods") {
        return Ok(());
    }
    if object["metadata"]["annotations"][MIRROR].is_string() {
        return Ok(());
    }
    let name = object["spec"]["serviceAccountName"].as_str().filter(|name| !name.is_empty());
    let name = name.unwrap_or("default").to_owned();
    object["spec"]["serviceAccountName"] = name.as_str().into();
    object["spec"]["serviceAccount"] = name.as_str().into();
    let namespace = attempt.namespace();
    let account = attempt.find("", "serviceaccounts", namespace, &name)?;
    let why = format!(
        "error looking up service account {namespace}/{name}: serviceaccount {name:?} not found"
    );
    let account = account.ok_or_else(|| attempt.forbid(object, &why))?;
    let automount = object["spec"]["automountServiceAccountToken"]
        .as_bool()
        .or_else(|| account["automountServiceAccountToken"].as_bool())
        .unwrap_or(true);
    if automount {
        mount_token(object);
    }
    let has_secrets =
        object["spec"]["imagePullSecrets"].as_array().is_some_and(|list| !list.is_empty());
    if !has_secrets && account["imagePullSecrets"].as_array().is_some_and(|list| !list.is_empty()) {
        object["spec"]["imagePullSecrets"] = account["imagePullSecrets"].clone();
    }
    Ok(())
}

/// Mounts the token in every container that has nothing in its place.
fn mount_token(pod: &mut Value) {
    let spec = &mut pod["spec"];
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let present = volumes
        .filter_map(|volume| volume["name"].as_str())
        .find(|name| name.starts_with(VOLUME_PREFIX))
        .map(str::to_owned);
    let is_new = present.is_none();
    let name = present.unwrap_or_else(|| format!("{VOLUME_PREFIX}{}", clock::random_suffix()));
    let mount = json!({ "name": name, "readOnly": true, "mountPath": MOUNT_PATH });
    let mut is_needed = false;
    for list in ["initContainers", "containers"] {
        for container in meta::items_mut(spec, list) {
            let mounts = &mut container["volumeMounts"];
            if !mounts.is_array() {
                *mounts = json!([]);
            }
            let Value::Array(mounts) = mounts else { continue };
            if !mounts.iter().any(|mount| mount["mountPath"] == MOUNT_PATH) {
                mounts.push(mount.clone());
                is_needed = true;
            }
        }
    }
    if is_needed && is_new {
        let volume = token_volume(&name);
        match &mut spec["volumes"] {
            Value::Array(volumes) => volumes.push(volume),
            missing => *missing = json!([volume]),
        }
    }
}

fn token_volume(name: &str) -> Value {
    json!({
        "name": name,
        "projected": {
            "sources": [
                { "serviceAccountToken": { "expirationSeconds": EXPIRATION, "path": "token" } },
                { "configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{ "key": "ca.crt", "path": "ca.crt" }],
                } },
                { "downwardAPI": { "items": [{
                    "path": "namespace",
                    "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" },
                }] } },
            ],
            "defaultMode": 420,
        },
    })
}
