//! Whether a schema says for every value what it is, before it says what the value must be like.

use std::{collections::BTreeMap, sync::LazyLock};

use flumen_fields::{FieldError, Path};

use crate::schema::{Additional, Items, Schema};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Why a schema cannot be looked at at all.
pub(super) fn unreadable(schema: &Schema) -> Option<&'static str> {
    let mut found = None;
    schema.any(&mut |schema| {
        let unsupported = &schema.unsupported;
        found = if unsupported.id {
            Some("OpenAPIV3Schema 'id' is not supported")
        } else if unsupported.schema {
            Some("OpenAPIV3Schema 'schema' is not supported")
        } else if unsupported.reference.as_ref().is_some_and(|it| !it.is_empty()) {
            Some("OpenAPIV3Schema '$ref' is not supported")
        } else if unsupported.pattern_properties {
            Some("OpenAPIV3Schema 'patternProperties' is not supported")
        } else if unsupported.dependencies.is_some_and(|count| count > 0) {
            Some("OpenAPIV3Schema 'dependencies' is not supported")
        } else if unsupported.additional_items {
            Some("OpenAPIV3Schema 'additionalItems' is not supported")
        } else if !unsupported.definitions.is_empty() {
            Some("OpenAPIV3Schema 'definitions' is not supported")
        } else if matches!(&schema.items, Some(Items::Schemas(items)) if !items.is_empty()) {
            Some("OpenAPIV3Schema 'items' must be a schema, but is an array")
        } else if schema.preserve_unknown == Some(false) {
            Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")
        } else {
            None
        };
        found.is_some()
    });
    found
}

/// What keeps a schema from being structural, sorted by its words.
pub(super) fn check(schema: &Schema, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(schema, Level::Root, at, &mut errors);
    complete(schema, Some(schema), at, at, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn invariants(schema: &Schema, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if schema.kind == "array" && schema.item().is_none() {
        errors.push(FieldError::required(&at.child("items"), "must be specified"));
    }
    if let Some(item) = schema.item() {
        invariants(item, Level::Item, &at.child("items"), errors);
    }
    let properties = at.child("properties");
    for (name, property) in &schema.properties {
        invariants(property, Level::Field, &properties.key(name), errors);
    }
    let additional = at.child("additionalProperties");
    if schema.additional.is_some() && level == Level::Root {
        errors.push(FieldError::forbidden(&additional, "must not be used at the root"));
    }
    if let Some(values) = schema.additional_schema() {
        invariants(values, Level::Field, &additional, errors);
    }
    extensions(schema, at, errors);
    values(schema, is_int_or_string(&schema.any_of), int_or_string_first(schema), at, errors);
    kind(schema, level, at, errors);
    metadata(schema, level, at, errors);
}

fn extensions(schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    if !schema.int_or_string {
        return;
    }
    let excluded = [
        (schema.preserves_unknown(), "x-kubernetes-preserve-unknown-fields"),
        (schema.embedded, "x-kubernetes-embedded-resource"),
    ];
    for (_, name) in excluded.into_iter().filter(|(is_set, _)| *is_set) {
        let detail = "must be false if x-kubernetes-int-or-string is true";
        errors.push(FieldError::invalid(&at.child(name), true, detail));
    }
}

fn kind(schema: &Schema, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let place = at.child("type");
    let kind = schema.kind.as_str();
    if schema.embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() {
            FieldError::required(&place, detail)
        } else {
            FieldError::invalid(&place, kind, detail)
        });
    } else if kind.is_empty() && !schema.int_or_string && !schema.preserves_unknown() {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&place, detail));
    }
    if schema.embedded && schema.additional.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&at.child("additionalProperties"), detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(FieldError::invalid(&place, kind, "must be object at the root"));
    }
}

fn metadata(schema: &Schema, level: Level, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    let is_resource = level == Level::Root || schema.embedded;
    let properties = at.child("properties");
    for name in ["kind", "apiVersion"] {
        if let Some(property) = schema.properties.get(name)
            && is_resource
            && property.kind != "string"
        {
            let place = properties.key(name);
            let kind = property.kind.as_str();
            errors.push(FieldError::invalid(&place.child("type"), kind, "must be string"));
        }
    }
    if let Some(metadata) = schema.properties.get("metadata") {
        let place = properties.key("metadata");
        if is_resource && metadata.kind != "object" {
            let kind = metadata.kind.as_str();
            errors.push(FieldError::invalid(&place.child("type"), kind, "must be object"));
        }
        if level == Level::Root && !restricts_names_only(metadata) {
            let detail = "must not specify anything other than name and generateName, but \
                          metadata is implicitly specified";
            errors.push(FieldError::forbidden(&place, detail));
        }
    }
    if schema.embedded && !schema.preserves_unknown() && schema.properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&properties, detail));
    }
}

fn restricts_names_only(metadata: &Schema) -> bool {
    let named =
        metadata.properties.keys().all(|name| matches!(name.as_str(), "name" | "generateName"));
    let rest = Schema {
        kind: String::new(),
        default: None,
        properties: BTreeMap::new(),
        ..metadata.clone()
    };
    named && rest == Schema::default()
}

/// What may be said about values below `allOf`, `anyOf`, `oneOf` and `not`.
fn values(
    schema: &Schema,
    skip_any_of: bool,
    skip_first_all_of: bool,
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if !skip_any_of {
        let place = at.child("anyOf");
        for (index, part) in schema.any_of.iter().enumerate() {
            nested(part, false, &place.index(index), errors);
        }
    }
    let place = at.child("allOf");
    for (index, part) in schema.all_of.iter().enumerate() {
        nested(part, skip_first_all_of && index == 0, &place.index(index), errors);
    }
    let place = at.child("oneOf");
    for (index, part) in schema.one_of.iter().enumerate() {
        nested(part, false, &place.index(index), errors);
    }
    if let Some(not) = &schema.not {
        nested(not, false, &at.child("not"), errors);
    }
    if let Some(pattern) = &schema.pattern
        && let Err(error) = pattern.compiled()
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        let source = pattern.source.as_str();
        errors.push(FieldError::invalid(&at.child("pattern"), source, detail));
    }
}

fn nested(schema: &Schema, skip_any_of: bool, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    values(schema, skip_any_of, false, at, errors);
    if let Some(item) = schema.item() {
        nested(item, false, &at.child("items"), errors);
    }
    let properties = at.child("properties");
    for (name, property) in &schema.properties {
        nested(property, false, &properties.key(name), errors);
    }
    let has_additional =
        matches!(schema.additional, Some(Additional::Schema(_) | Additional::Any(true)));
    let forbidden = [
        (!schema.kind.is_empty(), "type", "must be empty to be structural"),
        (has_additional, "additionalProperties", "must be undefined to be structural"),
        (schema.default.is_some(), "default", "must be undefined to be structural"),
        (!schema.title.is_empty(), "title", "must be empty to be structural"),
        (!schema.description.is_empty(), "description", "must be empty to be structural"),
        (schema.nullable, "nullable", "must be false to be structural"),
        (
            schema.preserves_unknown(),
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (schema.embedded, "x-kubernetes-embedded-resource", "must be false to be structural"),
        (schema.int_or_string, "x-kubernetes-int-or-string", "must be false to be structural"),
        (
            !schema.list_map_keys.is_empty(),
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            schema.list_type.is_some(),
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (schema.map_type.is_some(), "x-kubernetes-map-type", "must be undefined to be structural"),
        (!schema.rules.is_empty(), "x-kubernetes-validations", "must be empty to be structural"),
    ];
    for (_, name, detail) in forbidden.into_iter().filter(|(is_set, ..)| *is_set) {
        errors.push(FieldError::forbidden(&at.child(name), detail));
    }
    if schema.properties.contains_key("metadata") {
        let detail = "must not be specified in a nested context";
        errors.push(FieldError::forbidden(&properties.key("metadata"), detail));
    }
}

/// The one place where types may stand below `anyOf`.
fn is_int_or_string(any_of: &[Schema]) -> bool {
    static EITHER: LazyLock<[Schema; 2]> = LazyLock::new(|| {
        ["integer", "string"].map(|kind| Schema { kind: kind.to_owned(), ..Schema::default() })
    });
    any_of == EITHER.as_slice()
}

fn int_or_string_first(schema: &Schema) -> bool {
    schema.all_of.first().is_some_and(|first| is_int_or_string(&first.any_of))
}

/// Whatever is said about a value below `allOf` and the like must have a schema outside of it.
fn complete(
    value: &Schema,
    structure: Option<&Schema>,
    at: &Path<'_>,
    said_at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    if let Some(not) = &value.not {
        complete_nested(not, structure, at, &said_at.child("not"), errors);
    }
    for (name, parts) in
        [("allOf", &value.all_of), ("anyOf", &value.any_of), ("oneOf", &value.one_of)]
    {
        let place = said_at.child(name);
        for (index, part) in parts.iter().enumerate() {
            complete_nested(part, structure, at, &place.index(index), errors);
        }
    }
}

fn complete_nested(
    value: &Schema,
    structure: Option<&Schema>,
    at: &Path<'_>,
    said_at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(structure) = structure else {
        errors.push(FieldError::required(at, format!("because it is defined in {said_at}")));
        return;
    };
    complete(value, Some(structure), at, said_at, errors);
    if let Some(item) = value.item() {
        let (at, said_at) = (at.child("items"), said_at.child("items"));
        complete_nested(item, structure.item(), &at, &said_at, errors);
    }
    let (properties, said_properties) = (at.child("properties"), said_at.child("properties"));
    for (name, property) in &value.properties {
        let (at, said_at) = (properties.key(name), said_properties.key(name));
        complete_nested(property, structure.properties.get(name), &at, &said_at, errors);
    }
}
