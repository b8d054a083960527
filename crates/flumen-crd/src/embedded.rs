//! Objects within objects, and metadata wherever it is.

use flumen_fields::{FieldError, FieldErrorKind, Path};
use flumen_schema::api::{Api, TypeId};
use serde_json::{Map, Value};

use crate::{names, schema::Schema};

const OBJECT_META: &str = "apimachinery.pkg.apis.meta.v1.ObjectMeta";

fn object_meta() -> Option<TypeId> {
    Api::get().type_named(OBJECT_META)
}

/// Brings metadata into the form of the server. Fields that it does not have go, and are told with
/// their paths; the error is the server's.
pub(crate) fn coerce_metadata(
    object: &mut Map<String, Value>,
    prefix: &str,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let (Some(metadata), Some(of)) = (object.get_mut("metadata"), object_meta()) else {
        return Ok(());
    };
    let decoded = flumen_kinds::decode_value(metadata, of)?;
    for problem in decoded.strict.warnings() {
        if let Some(path) =
            problem.strip_prefix("unknown field \"").and_then(|it| it.strip_suffix('"'))
        {
            unknown.push(format!("{prefix}metadata.{path}"));
        }
    }
    *metadata = decoded.object;
    Ok(())
}

/// Brings the metadata of all objects within a value into the form of the server.
pub(crate) fn coerce(
    value: &mut Value,
    schema: &Schema,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    match value {
        Value::Object(map) => {
            if schema.embedded {
                coerce_embedded(map, at, unknown)?;
            }
            for (key, value) in map.iter_mut() {
                match (schema.properties.get(key), schema.additional_schema()) {
                    (Some(property), _) => coerce(value, property, &at.child(key), unknown)?,
                    (None, Some(additional)) => coerce(value, additional, &at.key(key), unknown)?,
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(item) = schema.item() {
                for (index, value) in items.iter_mut().enumerate() {
                    coerce(value, item, &at.index(index), unknown)?;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_embedded(
    map: &mut Map<String, Value>,
    at: &Path<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), FieldError> {
    for name in ["apiVersion", "kind"] {
        if let Some(value) = map.get(name).filter(|value| !value.is_string()) {
            return Err(FieldError::invalid(&at.child(name), value.clone(), "must be a string"));
        }
    }
    let sent = map.get("metadata").cloned();
    coerce_metadata(map, &format!("{at}."), unknown).map_err(|problem| {
        FieldError::invalid(&at.child("metadata"), sent.unwrap_or_default(), problem)
    })?;
    let metadata = map.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata
        && metadata.get("creationTimestamp").is_some_and(Value::is_null)
    {
        metadata.remove("creationTimestamp");
    }
    Ok(())
}

/// What is wrong with the objects within a value.
pub(crate) fn check(value: &Value, schema: &Schema, at: &Path<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(value, schema, at, &mut errors);
    errors
}

fn walk(value: &Value, schema: &Schema, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    match value {
        Value::Object(map) => {
            if schema.embedded {
                check_object(map, at, errors);
            }
            for (key, value) in map {
                match (schema.properties.get(key), schema.additional_schema()) {
                    (Some(property), _) => walk(value, property, &at.child(key), errors),
                    (None, Some(additional)) => walk(value, additional, &at.key(key), errors),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(item) = schema.item() {
                for (index, value) in items.iter().enumerate() {
                    walk(value, item, &at.index(index), errors);
                }
            }
        }
        _ => {}
    }
}

fn check_object(map: &Map<String, Value>, at: &Path<'_>, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        let place = at.child(name);
        match map.get(name) {
            None => errors.push(FieldError::required(&place, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(FieldError::invalid(&place, "", "must not be empty"));
            }
            Some(Value::String(text)) => {
                let problem = if name == "kind" {
                    names::label_problems(&text.to_lowercase()).map(|problem| {
                        format!("may have mixed case, but should otherwise match: {problem}")
                    })
                } else {
                    (text.matches('/').count() > 1)
                        .then(|| format!("unexpected GroupVersion string: {text}"))
                };
                if let Some(problem) = problem {
                    errors.push(FieldError::invalid(&place, text.as_str(), problem));
                }
            }
            Some(other) => {
                errors.push(FieldError::invalid(&place, other.clone(), "must be a string"));
            }
        }
    }
    if map.contains_key("metadata") {
        errors.extend(check_metadata(map, at));
    }
}

/// Metadata of an object within another. A name is not needed, and the place is that of the object.
fn check_metadata(map: &Map<String, Value>, at: &Path<'_>) -> Vec<FieldError> {
    let mut metadata = map.get("metadata").cloned().unwrap_or_default();
    if let Some(of) = object_meta()
        && let Err(problem) = flumen_kinds::decode_value(&metadata, of)
    {
        return vec![FieldError::invalid(&at.child("metadata"), metadata, problem)];
    }
    if let Some(metadata) = metadata.as_object_mut() {
        let name = metadata.entry("name").or_insert_with(|| "fakename".into());
        if name.as_str().is_none_or(str::is_empty) {
            *name = "fakename".into();
        }
    }
    let is_namespaced = metadata["namespace"].as_str().is_some_and(|it| !it.is_empty());
    let object = serde_json::json!({ "metadata": metadata });
    flumen_kinds::validate_metadata(&object, is_namespaced, flumen_kinds::NameRule::PathSegment)
        .into_iter()
        .map(|error| FieldError { field: at.child(&error.field).to_string(), ..error })
        .collect()
}

/// What is wrong with the metadata of an object, in one text.
pub(crate) fn metadata_problem(object: &Value) -> Option<String> {
    let map = object.as_object()?;
    let mut copy = map.clone();
    if let Err(problem) = coerce_metadata(&mut copy, "", &mut Vec::new()) {
        let value = map.get("metadata").cloned().unwrap_or_default();
        let place = Path::new("metadata");
        let error = FieldError::new(FieldErrorKind::Invalid, &place, Some(value), problem);
        return Some(error.to_string());
    }
    let mut errors = Vec::new();
    check_object(map, &Path::ROOT, &mut errors);
    match errors.as_slice() {
        [] => None,
        [one] => Some(one.to_string()),
        several => {
            let texts: Vec<_> = several.iter().map(ToString::to_string).collect();
            Some(format!("[{}]", texts.join(", ")))
        }
    }
}
