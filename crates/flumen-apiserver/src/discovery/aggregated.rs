//! Discovery in one document.

use serde_json::{Value, json};

use super::versions;
use crate::{Catalog, Resource, http::negotiate};

/// The versions of the document that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    V2,
    V2beta1,
}

impl Form {
    /// The form that a client prefers to the old documents.
    pub(super) fn wanted(accept: &str) -> Option<Self> {
        for clause in negotiate::clauses(accept) {
            if clause.kind != "application" || clause.subtype != "json" {
                continue;
            }
            let parameter = |name| clause.parameter(name).unwrap_or_default();
            match (parameter("g"), parameter("v"), parameter("as")) {
                ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") => return Some(Self::V2),
                ("apidiscovery.k8s.io", "v2beta1", "APIGroupDiscoveryList") => {
                    return Some(Self::V2beta1);
                }
                ("", "", "") => return None,
                _ => {}
            }
        }
        None
    }

    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::V2 => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            Self::V2beta1 => {
                "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
            }
        }
    }

    const fn api_version(self) -> &'static str {
        match self {
            Self::V2 => "apidiscovery.k8s.io/v2",
            Self::V2beta1 => "apidiscovery.k8s.io/v2beta1",
        }
    }
}

/// `/api` or `/apis`.
pub(super) fn document(catalog: &Catalog, form: Form, core: bool) -> Value {
    let items: Vec<Value> = if core {
        vec![json!({ "metadata": {}, "versions": [version(catalog, "", "v1")] })]
    } else {
        let group = |(group, versions): (&str, Vec<&str>)| {
            let versions: Vec<Value> =
                versions.iter().map(|name| version(catalog, group, name)).collect();
            json!({ "metadata": { "name": group }, "versions": versions })
        };
        versions::groups(catalog).into_iter().map(group).collect()
    };
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": form.api_version(),
        "metadata": {},
        "items": items,
    })
}

fn version(catalog: &Catalog, group: &str, version: &str) -> Value {
    let of = catalog.resources().iter().filter(|r| r.group == group && r.version == version);
    let resources: Vec<Value> = of.map(|resource| entry(resource)).collect();
    json!({ "version": version, "freshness": "Current", "resources": resources })
}

fn entry(resource: &Resource) -> Value {
    let mut entry = json!({
        "resource": resource.plural,
        "responseKind": response_kind(resource, &resource.group, &resource.version, &resource.kind),
        "scope": if resource.is_namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = resource.short_names.as_slice().into();
    }
    if !resource.categories.is_empty() {
        entry["categories"] = resource.categories.as_slice().into();
    }
    if !resource.subresources.is_empty() {
        let sub = |sub: &crate::Subresource| {
            json!({
                "subresource": sub.name,
                "responseKind": response_kind(resource, &sub.group, &sub.version, &sub.kind),
                "verbs": sub.verbs,
            })
        };
        entry["subresources"] = resource.subresources.iter().map(sub).collect();
    }
    entry
}

/// Group and version are named only where they are not those of the resource.
fn response_kind(resource: &Resource, group: &str, version: &str, kind: &str) -> Value {
    if group == resource.group && version == resource.version {
        return json!({ "group": "", "version": "", "kind": kind });
    }
    json!({ "group": group, "version": version, "kind": kind })
}
