//! Types as schemas. There are no descriptions: the facts have none.

use std::collections::BTreeSet;

use flumen_schema::api::{Api as Facts, Field, Form, Presence, Topology, TypeId};
use serde_json::{Map, Value, json};

/// Which of the two documents schemas are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V3,
}

impl Version {
    pub(super) fn reference(self, name: &str) -> Value {
        let place = match self {
            Self::V2 => "definitions",
            Self::V3 => "components/schemas",
        };
        json!({ "$ref": format!("#/{place}/{name}") })
    }
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
const EXTENSIONS: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

/// Schemas by name, with all that they refer to.
#[derive(Debug)]
pub(super) struct Schemas {
    version: Version,
    made: Map<String, Value>,
    known: BTreeSet<TypeId>,
}

impl Schemas {
    pub(super) fn new(version: Version) -> Self {
        Self { version, made: Map::new(), known: BTreeSet::new() }
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.made
    }

    pub(super) fn insert(&mut self, name: &str, schema: Value) {
        self.made.insert(name.to_owned(), schema);
    }

    /// Adds a type and what it refers to; returns its name.
    pub(super) fn add(&mut self, id: TypeId) -> String {
        let of = Facts::get().type_of(id);
        let name = format!("io.k8s.{}", of.name);
        if !self.known.insert(id) {
            return name;
        }
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        for field in &of.fields {
            if field.required {
                required.push(field.name);
            }
            properties.insert(field.name.to_owned(), self.field(field));
        }
        let mut schema = json!({ "type": "object" });
        if !properties.is_empty() {
            schema["properties"] = properties.into();
        }
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        if of.atomic {
            schema["x-kubernetes-map-type"] = "atomic".into();
        }
        self.made.insert(name.clone(), schema);
        name
    }

    /// Names the kinds that a schema is of.
    pub(super) fn mark(&mut self, name: &str, kinds: &[(&str, &str, &str)]) {
        let kinds = kinds.iter().map(
            |(group, version, kind)| json!({ "group": group, "kind": kind, "version": version }),
        );
        if let Some(schema) = self.made.get_mut(name) {
            schema["x-kubernetes-group-version-kind"] = kinds.collect();
        }
    }

    /// A list of a kind.
    pub(super) fn add_list(&mut self, name: &str, item: &str) {
        let metadata = Facts::get().type_named("apimachinery.pkg.apis.meta.v1.ListMeta");
        let metadata = metadata.map(|id| self.add(id)).unwrap_or_default();
        let schema = json!({
            "type": "object",
            "properties": {
                "apiVersion": { "type": "string" },
                "items": { "type": "array", "items": self.refer(item, true) },
                "kind": { "type": "string" },
                "metadata": self.refer(&metadata, true),
            },
            "required": ["items"],
        });
        self.insert(name, schema);
    }

    /// The types that schemas of custom resources refer to.
    pub(super) fn add_metadata(&mut self) {
        for name in ["ListMeta", "ObjectMeta"] {
            let id = Facts::get().type_named(&format!("apimachinery.pkg.apis.meta.v1.{name}"));
            if let Some(id) = id {
                self.add(id);
            }
        }
    }

    /// Schemas of every document that are of no kind that is served.
    pub(super) fn add_common(&mut self) {
        self.insert(&format!("{META}.Patch"), json!({ "type": "object" }));
        let raw = "io.k8s.apimachinery.pkg.runtime.RawExtension";
        self.insert(raw, json!({ "type": "object" }));
        let mut kind = json!({ "type": "string" });
        if self.version == Version::V3 {
            kind["default"] = "".into();
        }
        let event = json!({
            "type": "object",
            "properties": { "object": self.refer(raw, false), "type": kind },
            "required": ["type", "object"],
        });
        self.insert(&format!("{META}.WatchEvent"), event);
        for name in ["DeleteOptions", "Status"] {
            let id = Facts::get().type_named(&format!("apimachinery.pkg.apis.meta.v1.{name}"));
            if let Some(id) = id {
                self.add(id);
            }
        }
    }

    fn field(&mut self, field: &Field) -> Value {
        let always = field.presence == Presence::Always;
        let mut schema = self.form(&field.form, always);
        if let Some(default) = field.default.and_then(|text| serde_json::from_str(text).ok())
            && self.version == Version::V3
        {
            schema["default"] = default;
        }
        if !field.values.is_empty() {
            let values = match schema.get_mut("items") {
                Some(items) => items,
                None => &mut schema,
            };
            values["enum"] = field.values.as_slice().into();
        }
        let is_list = matches!(field.form, Form::List(_) | Form::Bytes);
        match &field.topology {
            Topology::Natural => {}
            Topology::Granular => schema["x-kubernetes-map-type"] = "granular".into(),
            Topology::Atomic if is_list => schema["x-kubernetes-list-type"] = "atomic".into(),
            Topology::Atomic => schema["x-kubernetes-map-type"] = "atomic".into(),
            Topology::Set => schema["x-kubernetes-list-type"] = "set".into(),
            Topology::Map(keys) => {
                schema["x-kubernetes-list-type"] = "map".into();
                schema["x-kubernetes-list-map-keys"] = keys.as_slice().into();
            }
        }
        let patch = &field.patch;
        let strategy = match (patch.merge, patch.retain_keys) {
            (true, true) => "merge,retainKeys",
            (true, false) => "merge",
            (false, true) => "retainKeys",
            (false, false) => "",
        };
        if !strategy.is_empty() {
            schema["x-kubernetes-patch-strategy"] = strategy.into();
        }
        if let Some(key) = patch.key {
            schema["x-kubernetes-patch-merge-key"] = key.into();
        }
        schema
    }

    /// The schema of a value. One that Go always prints has its zero value as default.
    fn form(&mut self, form: &Form, always: bool) -> Value {
        let (mut schema, zero) = match form {
            Form::String(_) => (json!({ "type": "string" }), json!("")),
            Form::Bool => (json!({ "type": "boolean" }), json!(false)),
            Form::Int32(_) => (json!({ "type": "integer", "format": "int32" }), json!(0)),
            Form::Int64(_) => (json!({ "type": "integer", "format": "int64" }), json!(0)),
            Form::Uint8 => (json!({ "type": "integer", "format": "byte" }), json!(0)),
            Form::Float64 => (json!({ "type": "number", "format": "double" }), json!(0)),
            Form::Bytes => (json!({ "type": "string", "format": "byte" }), Value::Null),
            Form::List(item) => (json!({ "type": "array", "items": self.item(item) }), Value::Null),
            Form::Map(item) => {
                let values = self.item(item);
                (json!({ "type": "object", "additionalProperties": values }), Value::Null)
            }
            Form::Struct(id) => {
                let name = self.add(*id);
                return self.refer(&name, always);
            }
            special => {
                let (name, schema) = special_schema(special, self.version);
                self.insert(&name, schema);
                return self.refer(&name, false);
            }
        };
        if always && !zero.is_null() && self.version == Version::V3 {
            schema["default"] = zero;
        }
        schema
    }

    /// The schema of what a list or a map holds. Nothing is ever said beside a type of one value.
    fn item(&mut self, form: &Form) -> Value {
        let mut schema = self.form(form, true);
        match schema.get_mut("allOf").and_then(|all| all.get_mut(0)).map(Value::take) {
            Some(reference) if !matches!(form, Form::Struct(_)) => reference,
            Some(reference) => {
                schema["allOf"] = json!([reference]);
                schema
            }
            None => schema,
        }
    }

    /// A reference. The newer document keeps it apart from what is said beside it.
    pub(super) fn refer(&self, name: &str, always: bool) -> Value {
        let reference = self.version.reference(name);
        if self.version == Version::V2 {
            return reference;
        }
        let mut schema = json!({ "allOf": [reference] });
        if always {
            schema["default"] = json!({});
        }
        schema
    }
}

/// Types that are one value in JSON.
fn special_schema(form: &Form, version: Version) -> (String, Value) {
    let either = |format: Option<&str>, kinds: [&str; 2]| {
        let mut schema = match version {
            Version::V2 => json!({ "type": "string" }),
            Version::V3 => json!({ "oneOf": [{ "type": kinds[0] }, { "type": kinds[1] }] }),
        };
        if let Some(format) = format {
            schema["format"] = format.into();
        }
        schema
    };
    let time = json!({ "type": "string", "format": "date-time" });
    let object = json!({ "type": "object" });
    match form {
        Form::Time => (format!("{META}.Time"), time),
        Form::MicroTime => (format!("{META}.MicroTime"), time),
        Form::Duration => (format!("{META}.Duration"), json!({ "type": "string" })),
        Form::Quantity => (
            "io.k8s.apimachinery.pkg.api.resource.Quantity".to_owned(),
            either(None, ["string", "number"]),
        ),
        Form::IntOrString => (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString".to_owned(),
            either(Some("int-or-string"), ["integer", "string"]),
        ),
        Form::Raw => ("io.k8s.apimachinery.pkg.runtime.RawExtension".to_owned(), object),
        Form::Fields => (format!("{META}.FieldsV1"), object),
        Form::SchemaOrBool => (format!("{EXTENSIONS}.JSONSchemaPropsOrBool"), json!({})),
        Form::SchemaOrArray => (format!("{EXTENSIONS}.JSONSchemaPropsOrArray"), json!({})),
        Form::SchemaOrStrings => (format!("{EXTENSIONS}.JSONSchemaPropsOrStringArray"), json!({})),
        _ => (format!("{EXTENSIONS}.JSON"), json!({})),
    }
}
