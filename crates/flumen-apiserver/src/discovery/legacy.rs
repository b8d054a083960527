//! Discovery as it was first: a document for every group and every version.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::header::HOST;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::versions;
use crate::{Behaviour, Catalog, Resource, http::Asked};

/// Kinds that the real server still stores in a version that nobody serves.
const STORED_IN_OLDER: [(&str, &str); 2] =
    [("CustomResourceDefinition", "v1beta1"), ("VolumeAttributesClass", "v1beta1")];

/// `/api`.
pub(super) fn versions(asked: &Asked) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            { "clientCIDR": "0.0.0.0/0", "serverAddress": asked.header(HOST) },
        ],
    })
}

/// `/apis`.
pub(super) fn groups(catalog: &Catalog) -> Value {
    let groups = versions::groups(catalog);
    let groups: Vec<Value> = groups.iter().map(|(group, of)| entry(group, of).into()).collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// `/apis/GROUP`.
pub(super) fn group(catalog: &Catalog, name: &str) -> Option<Value> {
    let groups = versions::groups(catalog);
    let (group, of) = groups.iter().find(|(group, _)| *group == name)?;
    let mut document = entry(group, of);
    document.insert("kind".to_owned(), "APIGroup".into());
    document.insert("apiVersion".to_owned(), "v1".into());
    Some(document.into())
}

fn entry(group: &str, versions: &[&str]) -> Map<String, Value> {
    let version = |v: &&str| json!({ "groupVersion": format!("{group}/{v}"), "version": v });
    let mut entry = Map::new();
    entry.insert("name".to_owned(), group.into());
    entry.insert("versions".to_owned(), versions.iter().map(version).collect());
    entry.insert("preferredVersion".to_owned(), versions.first().map(version).into());
    entry
}

/// `/apis/GROUP/VERSION`, if there is anything.
pub(super) fn resources(catalog: &Catalog, group: &str, version: &str) -> Option<Value> {
    let mut entries = Vec::new();
    for resource in catalog.resources() {
        if resource.group != group || resource.version != version {
            continue;
        }
        entries.push(resource_entry(resource));
        for sub in &resource.subresources {
            let mut entry = json!({
                "name": format!("{}/{}", resource.plural, sub.name),
                "singularName": "",
                "namespaced": resource.is_namespaced(),
                "kind": sub.kind,
                "verbs": sub.verbs,
            });
            if sub.group != resource.group || sub.version != resource.version {
                entry["group"] = sub.group.as_str().into();
                entry["version"] = sub.version.as_str().into();
            }
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return None;
    }
    let mut document = json!({ "kind": "APIResourceList", "resources": entries });
    document["groupVersion"] = if group.is_empty() {
        version.into()
    } else {
        document["apiVersion"] = "v1".into();
        format!("{group}/{version}").into()
    };
    Some(document)
}

fn resource_entry(resource: &Resource) -> Value {
    let mut entry = json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.is_namespaced(),
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = resource.short_names.as_slice().into();
    }
    if !resource.categories.is_empty() {
        entry["categories"] = resource.categories.as_slice().into();
    }
    if resource.verbs.iter().any(|verb| verb == "watch") {
        entry["storageVersionHash"] = storage_hash(resource).into();
    }
    entry
}

/// Tells clients which version is stored without telling which.
fn storage_hash(resource: &Resource) -> String {
    let kind = &resource.kind;
    let (group, version) = match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => {
            let older = STORED_IN_OLDER.iter().find(|(kind, _)| *kind == hub.kind);
            (hub.group, older.map_or(hub.version, |(_, version)| *version))
        }
        Behaviour::Custom { storage, .. } => (&*storage.group, &*storage.name),
    };
    let digest = Sha256::digest(format!("{group}/{version}/{kind}").as_bytes());
    STANDARD.encode(&digest[..8])
}
