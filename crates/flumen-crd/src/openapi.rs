//! Schemas as they are published.

use serde_json::{Map, Value, json};

use crate::schema::Schema;

/// Which of the two published documents a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenApi {
    V2,
    V3,
}

/// A published schema with its name.
#[derive(Clone, Debug)]
pub struct Published {
    pub name: String,
    pub schema: Value,
}

const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an \
object. Servers should convert recognized schemas to the latest internal value, and may reject \
unrecognized values. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. \
Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In \
CamelCase. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const EMBEDDED_API_VERSION: &str = "apiVersion defines the versioned schema of this representation of \
an object. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. \
More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Standard list metadata. More info: \
https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// What the published schemas of a kind are about.
pub(crate) struct Names<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
    pub list_kind: &'a str,
    pub plural: &'a str,
    pub selectable: &'a [String],
}

impl Names<'_> {
    fn model(&self, kind: &str) -> String {
        let mut parts: Vec<_> = self.group.split('.').collect();
        parts.reverse();
        format!("{}.{}.{kind}", parts.join("."), self.version)
    }

    fn extensions(&self, kind: &str, schema: &mut Map<String, Value>) {
        let of = json!([{"group": self.group, "version": self.version, "kind": kind}]);
        schema.insert("x-kubernetes-group-version-kind".to_owned(), of);
        if !self.selectable.is_empty() {
            let fields = self.selectable.iter().map(|path| json!({ "fieldPath": path }));
            schema.insert("x-kubernetes-selectable-fields".to_owned(), fields.collect());
        }
    }
}

/// The schemas of a kind and of its list.
pub(crate) fn publish(names: &Names<'_>, raw: &Value, document: OpenApi) -> [Published; 2] {
    let mut object = match Schema::read(raw) {
        None => Map::from_iter([("type".to_owned(), json!("object"))]),
        Some(schema) if document == OpenApi::V2 && schema.preserves_unknown() => {
            Map::from_iter([("type".to_owned(), json!("object"))])
        }
        Some(_) => {
            let mut schema = part(raw, document);
            embedded(&mut schema, document);
            let mut schema = schema.as_object().cloned().unwrap_or_default();
            let mut properties =
                schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            properties.insert("metadata".to_owned(), reference("ObjectMeta", METADATA, document));
            properties.extend(type_fields(API_VERSION, KIND));
            schema.insert("properties".to_owned(), properties.into());
            schema
        }
    };
    names.extensions(names.kind, &mut object);
    let model = names.model(names.kind);
    let of_items = match document {
        OpenApi::V2 => json!({ "$ref": format!("#/definitions/{model}") }),
        OpenApi::V3 => json!({"allOf": [{"$ref": format!("#/components/schemas/{model}")}]}),
    };
    let more =
        "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
    let mut properties = Map::from_iter([
        (
            "items".to_owned(),
            json!({
                "description": format!("List of {}. More info: {more}", names.plural),
                "type": "array",
                "items": of_items,
            }),
        ),
        ("metadata".to_owned(), reference("ListMeta", LIST_METADATA, document)),
    ]);
    properties.extend(type_fields(API_VERSION, KIND));
    let mut list = Map::from_iter([
        (
            "description".to_owned(),
            format!("{} is a list of {}", names.list_kind, names.kind).into(),
        ),
        ("type".to_owned(), "object".into()),
        ("required".to_owned(), json!(["items"])),
        ("properties".to_owned(), properties.into()),
    ]);
    names.extensions(names.list_kind, &mut list);
    [
        Published { name: model, schema: object.into() },
        Published { name: names.model(names.list_kind), schema: list.into() },
    ]
}

fn type_fields(api_version: &str, kind: &str) -> [(String, Value); 2] {
    let text = |description: &str| json!({"description": description, "type": "string"});
    [("apiVersion".to_owned(), text(api_version)), ("kind".to_owned(), text(kind))]
}

fn reference(name: &str, description: &str, document: OpenApi) -> Value {
    let name = format!("io.k8s.apimachinery.pkg.apis.meta.v1.{name}");
    match document {
        OpenApi::V2 => {
            json!({"description": description, "$ref": format!("#/definitions/{name}")})
        }
        OpenApi::V3 => json!({
            "description": description,
            "allOf": [{"$ref": format!("#/components/schemas/{name}")}],
        }),
    }
}

/// A schema without what the document has no words for.
fn part(raw: &Value, document: OpenApi) -> Value {
    let Some(map) = raw.as_object() else { return raw.clone() };
    let mut result = map.clone();
    for word in ["externalDocs", "example", "$schema", "id"] {
        result.remove(word);
    }
    each_part(&mut result, |value| *value = part(value, document));
    if map.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        unfold(&mut result);
    }
    if document == OpenApi::V3 {
        return result.into();
    }
    for word in ["allOf", "anyOf", "oneOf", "not"] {
        result.remove(word);
    }
    let is_set = |word: &str| map.get(word) == Some(&Value::Bool(true));
    let preserves = is_set("x-kubernetes-preserve-unknown-fields");
    if is_set("nullable") || preserves {
        result.remove("items");
        result.remove("properties");
    }
    if is_set("nullable") {
        result.remove("nullable");
        result.remove("type");
    }
    let is = |kind: &str| result.get("type").and_then(Value::as_str) == Some(kind);
    if is("array") && !result.contains_key("items") || preserves && is("object") {
        result.remove("type");
    }
    drop_nullable_from_required(map, &mut result);
    result.into()
}

/// Where a schema says that a value is a number or a text without saying how, the document does.
fn unfold(schema: &mut Map<String, Value>) {
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    if schema.get("anyOf") == Some(&either) || schema.contains_key("allOf") {
        return;
    }
    match schema.remove("anyOf") {
        None => {
            schema.insert("anyOf".to_owned(), either);
        }
        Some(own) => {
            schema.insert("allOf".to_owned(), json!([{"anyOf": either}, {"anyOf": own}]));
        }
    }
}

fn drop_nullable_from_required(map: &Map<String, Value>, result: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = result.get_mut("required") else { return };
    required.retain(|name| {
        let property = name.as_str().and_then(|name| map.get("properties")?.get(name));
        property.is_none_or(|property| property.get("nullable") != Some(&Value::Bool(true)))
    });
    if required.is_empty() {
        result.remove("required");
    }
}

/// Visits the schemas of which a schema is made.
fn each_part(schema: &mut Map<String, Value>, mut visit: impl FnMut(&mut Value)) {
    for (word, value) in schema.iter_mut() {
        match (word.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(&mut visit);
            }
            ("items" | "additionalProperties" | "not", value @ Value::Object(_)) => visit(value),
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                parts.iter_mut().for_each(&mut visit);
            }
            _ => {}
        }
    }
}

/// Adds what every object has to the objects within.
fn embedded(schema: &mut Value, document: OpenApi) {
    let Some(map) = schema.as_object_mut() else { return };
    each_part(map, |value| embedded(value, document));
    let is_set = |map: &Map<String, Value>, word: &str| map.get(word) == Some(&Value::Bool(true));
    if !is_set(map, "x-kubernetes-embedded-resource")
        || document == OpenApi::V2 && is_set(map, "x-kubernetes-preserve-unknown-fields")
    {
        return;
    }
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.extend(type_fields(EMBEDDED_API_VERSION, EMBEDDED_KIND));
        properties.insert("metadata".to_owned(), reference("ObjectMeta", METADATA, document));
    }
    let required = map.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        for name in ["kind", "apiVersion"] {
            if !required.iter().any(|it| it == name) {
                required.push(name.into());
            }
        }
    }
}
