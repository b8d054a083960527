//! The documents as a whole.

use std::collections::BTreeSet;

use flumen_schema::api::Api as Facts;
use serde_json::{Map, Value, json};

use super::{
    paths::{Content, Operation, Parameter, Place, places},
    schemas::{Schemas, Version},
};
use crate::{Behaviour, Catalog, Resource};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TYPES: [&str; 3] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const STREAMS: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// The document of one group version.
pub(super) fn v3(catalog: &Catalog, group: &str, version: &str) -> Option<Value> {
    let of = |resource: &Resource| resource.group == group && resource.version == version;
    let writer = Writer::write(catalog, Version::V3, of);
    if writer.paths.is_empty() {
        return None;
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "1.35" },
        "paths": writer.paths,
        "components": {
            "schemas": writer.schemas.into_map(),
            "securitySchemes": security(),
        },
    }))
}

/// A document of a path that has no resources.
pub(super) fn v3_without_resources(path: &str) -> Value {
    let answer = json!({ "200": { "description": "OK" } });
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "1.35" },
        "paths": { format!("/{path}/"): { "get": { "responses": answer } } },
        "components": { "securitySchemes": security() },
    })
}

/// Everything in one document.
pub(super) fn v2(catalog: &Catalog) -> Value {
    let writer = Writer::write(catalog, Version::V2, |_| true);
    json!({
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "1.35" },
        "paths": writer.paths,
        "definitions": writer.schemas.into_map(),
        "securityDefinitions": security(),
        "security": [{ "BearerToken": [] }],
    })
}

fn security() -> Value {
    json!({ "BearerToken": { "type": "apiKey", "name": "authorization", "in": "header" } })
}

struct Writer {
    version: Version,
    schemas: Schemas,
    paths: Map<String, Value>,
}

impl Writer {
    fn write(catalog: &Catalog, version: Version, chosen: impl Fn(&Resource) -> bool) -> Self {
        let mut writer = Self { version, schemas: Schemas::new(version), paths: Map::new() };
        let mut groups = BTreeSet::new();
        for resource in catalog.resources().iter().filter(|resource| chosen(resource)) {
            groups.insert((resource.group.as_str(), resource.version.as_str()));
            let (kind, list) = writer.add_kind(resource);
            for place in places(resource) {
                let value = writer.place(&place, resource, &kind, &list);
                writer.paths.insert(place.path.clone(), value);
            }
        }
        writer.schemas.add_common();
        for name in ["DeleteOptions", "WatchEvent"] {
            let kinds: Vec<(&str, &str, &str)> =
                groups.iter().map(|(group, version)| (*group, *version, name)).collect();
            writer.schemas.mark(&format!("{META}.{name}"), &kinds);
        }
        writer.schemas.mark(&format!("{META}.Status"), &[("", "v1", "Status")]);
        writer
    }

    /// The names of the schemas of a kind and of its list.
    fn add_kind(&mut self, resource: &Resource) -> (String, String) {
        let Resource { group, version, kind, list_kind, .. } = resource;
        match &resource.behaviour {
            Behaviour::Builtin { kind: of, .. } => {
                let name = self.schemas.add(of.object);
                self.schemas.mark(&name, &[(group, version, kind)]);
                let list = format!("{name}List");
                if resource.verbs.iter().any(|verb| verb == "list") {
                    self.schemas.add_list(&list, &name);
                    self.schemas.mark(&list, &[(group, version, list_kind)]);
                }
                (name, list)
            }
            Behaviour::Custom { version, .. } => {
                let document = match self.version {
                    Version::V2 => flumen_crd::OpenApi::V2,
                    Version::V3 => flumen_crd::OpenApi::V3,
                };
                let [one, list] = version.published(document);
                for published in [one, list] {
                    self.schemas.insert(&published.name, published.schema.clone());
                }
                self.schemas.add_metadata();
                (one.name.clone(), list.name.clone())
            }
        }
    }

    /// The name of a kind that an operation is about and its resource is not.
    fn other_kind(&mut self, [group, version, kind]: &[String; 3]) -> Option<String> {
        let facts = Facts::get();
        let known = facts.kind(group, version, kind).map(|kind| kind.object);
        let id = known.or_else(|| facts.message(group, version, kind).map(|m| m.object))?;
        let name = self.schemas.add(id);
        self.schemas.mark(&name, &[(group, version, kind)]);
        Some(name)
    }

    fn place(&mut self, place: &Place, resource: &Resource, kind: &str, list: &str) -> Value {
        let mut value = Map::new();
        for operation in &place.operations {
            let is_own = operation.kind == [&*resource.group, &*resource.version, &*resource.kind];
            let other = if is_own { None } else { self.other_kind(&operation.kind) };
            let kind = other.as_deref().unwrap_or(kind);
            let written = self.operation(operation, place, kind, list);
            value.insert(operation.method.to_owned(), written);
        }
        if !place.parameters.is_empty() {
            value.insert("parameters".to_owned(), self.parameters(&place.parameters));
        }
        value.into()
    }

    fn operation(&self, of: &Operation, place: &Place, kind: &str, list: &str) -> Value {
        let schema = |content: Content| match content {
            Content::Kind => self.version.reference(kind),
            Content::List => self.version.reference(list),
            Content::Status => self.version.reference(&format!("{META}.Status")),
            Content::DeleteOptions => self.version.reference(&format!("{META}.DeleteOptions")),
            Content::Patch => self.version.reference(&format!("{META}.Patch")),
            Content::Text => json!({ "type": "string" }),
        };
        let [group, version, named] = &of.kind;
        let mut written = json!({
            "operationId": of.id,
            "tags": [place.tag],
            "x-kubernetes-action": of.action,
            "x-kubernetes-group-version-kind": { "group": group, "version": version, "kind": named },
        });
        let mut parameters = self.parameters(&of.parameters);
        let consumed: Vec<&str> = match of.body {
            Some(Content::Patch) if place.is_custom => {
                PATCHES.into_iter().filter(|name| !name.contains("strategic")).collect()
            }
            Some(Content::Patch) => PATCHES.to_vec(),
            _ => vec!["*/*"],
        };
        let mut produced: Vec<&str> = match (of.action, of.answer) {
            ("connect", _) => vec!["*/*"],
            (_, Content::Text) => vec!["text/plain", TYPES[0], TYPES[1], TYPES[2]],
            _ => TYPES.to_vec(),
        };
        if of.answer == Content::List {
            produced.extend(STREAMS);
        }
        let answer = schema(of.answer);
        let mut responses = Map::new();
        let required = of.body != Some(Content::DeleteOptions);
        match self.version {
            Version::V3 => {
                let content = |types: &[&str], schema: &Value| -> Map<String, Value> {
                    let entry = |name: &&str| ((*name).to_owned(), json!({ "schema": schema }));
                    types.iter().map(entry).collect()
                };
                for code in of.codes {
                    let said =
                        json!({ "description": "OK", "content": content(&produced, &answer) });
                    responses.insert((*code).to_owned(), said);
                }
                if let Some(body) = of.body {
                    written["requestBody"] =
                        json!({ "content": content(&consumed, &schema(body)) });
                    if required {
                        written["requestBody"]["required"] = true.into();
                    }
                }
            }
            Version::V2 => {
                for code in of.codes {
                    let said = json!({ "description": "OK", "schema": answer });
                    responses.insert((*code).to_owned(), said);
                }
                written["consumes"] = consumed.into();
                written["produces"] = produced.into();
                written["schemes"] = json!(["https"]);
                if let (Some(body), Some(list)) = (of.body, parameters.as_array_mut()) {
                    let mut said = json!({ "in": "body", "name": "body", "schema": schema(body) });
                    if required {
                        said["required"] = true.into();
                    }
                    list.insert(0, said);
                }
            }
        }
        responses.insert("401".to_owned(), json!({ "description": "Unauthorized" }));
        written["responses"] = responses.into();
        if parameters.as_array().is_some_and(|list| !list.is_empty()) {
            written["parameters"] = parameters;
        }
        written
    }

    fn parameters(&self, parameters: &[Parameter]) -> Value {
        let write = |parameter: &Parameter| {
            let place = if parameter.in_path { "path" } else { "query" };
            let kind = json!({ "type": parameter.kind, "uniqueItems": true });
            let mut written = json!({ "name": parameter.name, "in": place });
            match (self.version, kind) {
                (Version::V3, kind) => written["schema"] = kind,
                (Version::V2, _) => {
                    written["type"] = parameter.kind.into();
                    written["uniqueItems"] = true.into();
                }
            }
            if parameter.in_path {
                written["required"] = true.into();
            }
            written
        };
        parameters.iter().map(write).collect()
    }
}
