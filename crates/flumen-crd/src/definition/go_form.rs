//! Parts of a definition in the form in which the server keeps them, which some messages show whole.

use flumen_fields::{FieldError, Path, Shown};
use serde_json::Value;

use super::spec::{Spec, VersionSpec};
use crate::schema::{Rule, Schema};

/// A field of that form: its name there, its name in a definition, and how it is written when it is
/// not said.
struct Field {
    go: &'static str,
    json: &'static str,
    form: Form,
}

enum Form {
    Text,
    Flag,
    /// As it is, or null.
    Plain,
    Schema,
    Schemas,
    SchemaMap,
    Items,
    Additional,
    Rules,
    Docs,
}

const fn field(go: &'static str, json: &'static str, form: Form) -> Field {
    Field { go, json, form }
}

const FIELDS: [Field; 44] = [
    field("ID", "id", Form::Text),
    field("Schema", "$schema", Form::Text),
    field("Ref", "$ref", Form::Plain),
    field("Description", "description", Form::Text),
    field("Type", "type", Form::Text),
    field("Nullable", "nullable", Form::Flag),
    field("Format", "format", Form::Text),
    field("Title", "title", Form::Text),
    field("Default", "default", Form::Plain),
    field("Maximum", "maximum", Form::Plain),
    field("ExclusiveMaximum", "exclusiveMaximum", Form::Flag),
    field("Minimum", "minimum", Form::Plain),
    field("ExclusiveMinimum", "exclusiveMinimum", Form::Flag),
    field("MaxLength", "maxLength", Form::Plain),
    field("MinLength", "minLength", Form::Plain),
    field("Pattern", "pattern", Form::Text),
    field("MaxItems", "maxItems", Form::Plain),
    field("MinItems", "minItems", Form::Plain),
    field("UniqueItems", "uniqueItems", Form::Flag),
    field("MultipleOf", "multipleOf", Form::Plain),
    field("Enum", "enum", Form::Plain),
    field("MaxProperties", "maxProperties", Form::Plain),
    field("MinProperties", "minProperties", Form::Plain),
    field("Required", "required", Form::Plain),
    field("Items", "items", Form::Items),
    field("AllOf", "allOf", Form::Schemas),
    field("OneOf", "oneOf", Form::Schemas),
    field("AnyOf", "anyOf", Form::Schemas),
    field("Not", "not", Form::Schema),
    field("Properties", "properties", Form::SchemaMap),
    field("AdditionalProperties", "additionalProperties", Form::Additional),
    field("PatternProperties", "patternProperties", Form::SchemaMap),
    field("Dependencies", "dependencies", Form::Plain),
    field("AdditionalItems", "additionalItems", Form::Additional),
    field("Definitions", "definitions", Form::SchemaMap),
    field("ExternalDocs", "externalDocs", Form::Docs),
    field("Example", "example", Form::Plain),
    field("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Form::Plain),
    field("XEmbeddedResource", "x-kubernetes-embedded-resource", Form::Flag),
    field("XIntOrString", "x-kubernetes-int-or-string", Form::Flag),
    field("XListMapKeys", "x-kubernetes-list-map-keys", Form::Plain),
    field("XListType", "x-kubernetes-list-type", Form::Plain),
    field("XMapType", "x-kubernetes-map-type", Form::Plain),
    field("XValidations", "x-kubernetes-validations", Form::Rules),
];

/// What a schema may say at its root when the status is written apart from the rest.
const AT_ROOT: [&str; 22] = [
    "Description",
    "Type",
    "Format",
    "Title",
    "Maximum",
    "ExclusiveMaximum",
    "Minimum",
    "ExclusiveMinimum",
    "MaxLength",
    "MinLength",
    "Pattern",
    "MaxItems",
    "MinItems",
    "UniqueItems",
    "MultipleOf",
    "Required",
    "Items",
    "Properties",
    "ExternalDocs",
    "Example",
    "XPreserveUnknownFields",
    "XValidations",
];

/// The first thing in a schema that the validation of a status could not follow.
pub(super) fn root_problem(schema: &Schema, raw: &Value, at: &Path<'_>) -> Option<FieldError> {
    let is_said = |field: &Field| match &raw[field.json] {
        Value::Null | Value::Bool(false) => {
            matches!(field.form, Form::Plain) && raw[field.json] == false
        }
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    for field in FIELDS.iter().filter(|field| is_said(field)) {
        if field.go == "Type" {
            if schema.kind != "object" {
                let detail = "only \"object\" is allowed as the type at the root of the schema if \
                              the status subresource is enabled";
                let kind = schema.kind.as_str();
                return Some(FieldError::invalid(&at.child("type"), kind, detail));
            }
        } else if !AT_ROOT.contains(&field.go) {
            let detail = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource \
                 is enabled",
                AT_ROOT.join(" ")
            );
            let shown = Shown::Text(self::schema(raw));
            return Some(FieldError::invalid(at, shown, detail));
        }
    }
    None
}

fn schema(raw: &Value) -> String {
    if !raw.is_object() {
        return "null".to_owned();
    }
    let fields = FIELDS.iter().map(|field| (field.go, value(&raw[field.json], &field.form)));
    object(fields)
}

fn object(fields: impl Iterator<Item = (&'static str, String)>) -> String {
    let fields: Vec<_> = fields.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

fn list(items: &Value, each: impl Fn(&Value) -> String) -> String {
    match items.as_array() {
        Some(items) if !items.is_empty() => {
            format!("[{}]", items.iter().map(each).collect::<Vec<_>>().join(","))
        }
        _ => "null".to_owned(),
    }
}

/// JSON as Go prints it, which is safe within HTML.
fn escaped(value: &Value) -> String {
    let text = value.to_string();
    text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn value(value: &Value, form: &Form) -> String {
    let or = |default: &str| if value.is_null() { default.to_owned() } else { escaped(value) };
    match form {
        Form::Text => or("\"\""),
        Form::Flag => or("false"),
        Form::Plain => or("null"),
        Form::Schema => schema(value),
        Form::Schemas => list(value, schema),
        Form::SchemaMap => match value.as_object() {
            None => "null".to_owned(),
            Some(map) => {
                let entry = |(name, it): (&String, &Value)| {
                    format!("{}:{}", Value::from(name.as_str()), schema(it))
                };
                format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(","))
            }
        },
        Form::Items | Form::Additional | Form::Docs if value.is_null() => "null".to_owned(),
        Form::Items => {
            let one = if value.is_array() { "null".to_owned() } else { schema(value) };
            object([("Schema", one), ("JSONSchemas", list(value, schema))].into_iter())
        }
        Form::Additional => {
            let allows = (*value != Value::Bool(false)).to_string();
            object([("Allows", allows), ("Schema", schema(value))].into_iter())
        }
        Form::Rules => list(value, |rule| {
            let text = |key: &str| self::value(&rule[key], &Form::Text);
            let plain = |key: &str| self::value(&rule[key], &Form::Plain);
            rule_fields(
                [text("rule"), text("message"), text("messageExpression")],
                [plain("reason"), text("fieldPath"), plain("optionalOldSelf")],
            )
        }),
        Form::Docs => {
            let text = |key: &str| self::value(&value[key], &Form::Text);
            object([("Description", text("description")), ("URL", text("url"))].into_iter())
        }
    }
}

fn rule_fields(first: [String; 3], second: [String; 3]) -> String {
    let names = ["Rule", "Message", "MessageExpression", "Reason", "FieldPath", "OptionalOldSelf"];
    object(names.into_iter().zip(first.into_iter().chain(second)))
}

pub(super) fn rule(rule: &Rule) -> String {
    let text = |text: &str| escaped(&Value::from(text));
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    rule_fields(
        [text(&rule.rule), text(&rule.message), text(&rule.message_expression)],
        [
            or_null(rule.reason.as_deref().map(text)),
            text(&rule.field_path),
            or_null(rule.optional_old_self.map(|it| it.to_string())),
        ],
    )
}

pub(super) fn versions(spec: &Spec<'_>) -> String {
    let versions: Vec<_> = spec.versions.iter().map(|it| version(spec, it)).collect();
    format!("[{}]", versions.join(","))
}

fn version(spec: &Spec<'_>, version: &VersionSpec<'_>) -> String {
    let raw = version.raw;
    let unless = |is_shared: bool, text: &dyn Fn() -> String| {
        if is_shared { "null".to_owned() } else { text() }
    };
    let of_schema = || match &raw["schema"] {
        Value::Null => "null".to_owned(),
        it => object([("OpenAPIV3Schema", schema(&it["openAPIV3Schema"]))].into_iter()),
    };
    let fields = [
        ("Name", value(&raw["name"], &Form::Text)),
        ("Served", version.served.to_string()),
        ("Storage", version.storage.to_string()),
        ("Deprecated", version.deprecated.to_string()),
        ("DeprecationWarning", value(&raw["deprecationWarning"], &Form::Plain)),
        ("Schema", unless(spec.shares.schema, &of_schema)),
        ("Subresources", unless(spec.shares.subresources, &|| subresources(&raw["subresources"]))),
        (
            "AdditionalPrinterColumns",
            unless(spec.shares.columns, &|| list(&raw["additionalPrinterColumns"], column)),
        ),
        (
            "SelectableFields",
            unless(spec.shares.selectable, &|| {
                list(&raw["selectableFields"], |it| {
                    object([("JSONPath", value(&it["jsonPath"], &Form::Text))].into_iter())
                })
            }),
        ),
    ];
    object(fields.into_iter())
}

fn subresources(raw: &Value) -> String {
    if raw.is_null() {
        return "null".to_owned();
    }
    let status = if raw["status"].is_null() { "null" } else { "{}" }.to_owned();
    let scale = &raw["scale"];
    let scale = if scale.is_null() {
        "null".to_owned()
    } else {
        let fields = [
            ("SpecReplicasPath", value(&scale["specReplicasPath"], &Form::Text)),
            ("StatusReplicasPath", value(&scale["statusReplicasPath"], &Form::Text)),
            ("LabelSelectorPath", value(&scale["labelSelectorPath"], &Form::Plain)),
        ];
        object(fields.into_iter())
    };
    object([("Status", status), ("Scale", scale)].into_iter())
}

fn column(raw: &Value) -> String {
    let text = |key: &str| value(&raw[key], &Form::Text);
    let priority = raw["priority"].as_i64().unwrap_or(0).to_string();
    let fields = [
        ("Name", text("name")),
        ("Type", text("type")),
        ("Format", text("format")),
        ("Description", text("description")),
        ("Priority", priority),
        ("JSONPath", text("jsonPath")),
    ];
    object(fields.into_iter())
}
