//! Schemas of the types, in the structural form that a definition asks for.

use std::borrow::Cow;

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema,
    transform::transform_subschemas,
};
use serde_json::{Map, Value, json};

/// The structural schema of a type.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(structural)
        .into_generator()
        .into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Leaves out what a structural schema may not say: absence is `null` nowhere, because optional fields are then absent.
fn structural(schema: &mut Schema) {
    transform_subschemas(&mut structural, schema);
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::Array(choices)) = fields.remove("anyOf") {
        for choice in choices {
            merge_unless_null(fields, choice);
        }
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|r#type| r#type != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

/// Takes over one of two choices of which the other is `null`. What the field says itself counts more.
fn merge_unless_null(fields: &mut Map<String, Value>, choice: Value) {
    let Value::Object(choice) = choice else { return };
    if choice.get("type").is_some_and(|r#type| r#type == "null") {
        return;
    }
    for (key, value) in choice {
        fields.entry(key).or_insert(value);
    }
}

/// A point in time.
pub(crate) struct DateTime;

/// A duration in Go's notation, with units up to hours.
pub(crate) struct Hours;

/// A duration in Go's notation, with units up to minutes.
pub(crate) struct Minutes;

macro_rules! text {
    ($type:ty, $key:literal: $value:literal) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", $key: $value})
            }
        }
    };
}

text!(DateTime, "format": "date-time");
text!(Hours, "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$");
text!(Minutes, "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$");

/// That a Kustomization names exactly one way to another cluster.
pub(crate) fn one_cluster() -> Value {
    let message = "exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified";
    json!([
        {"rule": "has(self.configMapRef) || has(self.secretRef)", "message": message},
        {"rule": "!has(self.configMapRef) || !has(self.secretRef)", "message": message},
    ])
}

/// That only providers with identities of their own are asked for one.
pub(crate) fn account_of_a_cloud() -> Value {
    json!([{
        "rule": "!has(self.serviceAccountName) || (has(self.provider) && (self.provider == 'azure' || self.provider == 'aws'))",
        "message": "serviceAccountName can only be set when provider is 'azure' or 'aws'",
    }])
}
