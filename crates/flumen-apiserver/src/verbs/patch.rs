//! PATCH: a change instead of the whole.

use std::borrow::Cow;

use flumen_fields::{FieldError, Path, unchanged};
use flumen_kinds::Document;
use flumen_schema::api::TypeId;
use serde_json::{Map, Value};

use super::{
    Request, body, create,
    options::{FieldValidation, WriteOptions, is_apply},
    write::{self, Update},
};
use crate::{
    Answer, ApiError, Media, Reason, meta,
    ownership::Ownership,
    patch::{JsonPatch, StrategicError, merge, strategic_merge},
    rules::{self, Read},
    storage::Stored,
};

const DECODING: &str = "error decoding patch: ";
const ANY_MAP: &str = "map[string]interface {}";
/// Operations that a JSON patch may have.
const MAX_OPERATIONS: usize = 10_000;

pub(crate) async fn patch(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    check_media(request)?;
    let applies = is_apply(request.call.media);
    let (name, subresource) = (&*request.target().name, &*request.target().subresource);
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let present = live.map(|live| rules::shown(&request.resource, &live.object));
        if live.is_none() && !applies {
            return Err(request.not_found(name));
        }
        // The real server looks for the object before it reads the patch.
        let mut object = match (Change::parse(request, options.field_validation)?, present) {
            (Change::Patch(_), None) => return Err(request.not_found(name)),
            (Change::Patch(patch), Some(present)) => {
                let read = |value: &Value| match &patch {
                    Patch::Strategic(_) => rules::read_restored(&request.resource, value),
                    _ => rules::read_value(&request.resource, value),
                };
                let of = rules::patch_type(&request.resource);
                let present = present.into_owned();
                let object = patch.apply(request, present, of, &read, options.field_validation)?;
                write::own(request, live, object, &options, subresource)
            }
            (Change::Apply(config), present) => {
                let (catalog, resource) = (request.api.catalog(), &request.resource);
                let ownership = Ownership::new(catalog, resource, subresource);
                let (manager, force) = (&options.manager, options.force);
                let object = ownership.apply(present.as_deref(), &config, manager, force)?;
                if let (Some(live), Some(Cow::Owned(present))) = (live, &present)
                    && let Some(unchanged) = unchanged(&live.object, present, &object)
                {
                    return Ok(unchanged);
                }
                if rules::patch_type(resource).is_none() && has_nothing(&object["metadata"]) {
                    // Custom resources are stored as they were merged.
                    request.unsettle();
                }
                let done = rules::read_merged(&request.resource, object, &config);
                let done = done.map_err(|why| ApiError::new(500, None, why))?;
                request.note(&done);
                let mut object = done.object;
                if done.traces.is_loose {
                    rules::tighten(resource, &mut object);
                }
                if live.is_none() && rules::inherit_early(resource, &mut object) {
                    create::leave_labels_to_template(&mut object);
                }
                object
            }
        };
        if live.is_none() && !meta::uid(&object).is_empty() {
            let uid = meta::uid(&object);
            return Err(request.conflict(name, &format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            )));
        }
        body::match_namespace(request, &mut object)?;
        body::match_name(request, &object)?;
        Ok(rules::to_hub(&request.resource, object))
    };
    let update = Update {
        name,
        subresource,
        make: &make,
        creates: applies && (subresource.is_empty() || rules::creates_on_update(&request.resource)),
        uid: None,
        options: &options,
    };
    let (object, created) = write::update(request, &update).await?;
    Ok(request.answer(if created { 201 } else { 200 }, object))
}

/// Refuses bodies that are no patches of this resource.
pub(crate) fn check_media(request: &Request<'_>) -> Result<(), ApiError> {
    match request.call.media {
        Some(Media::JsonPatch | Media::MergePatch) => Ok(()),
        Some(Media::StrategicMergePatch) if rules::patch_type(&request.resource).is_some() => {
            Ok(())
        }
        media if is_apply(media) => Ok(()),
        _ => Err(unsupported(request)),
    }
}

/// What the body of a PATCH asks for.
#[derive(Debug)]
pub(crate) enum Change {
    Patch(Patch),
    /// A configuration to apply.
    Apply(Value),
}

impl Change {
    pub(crate) fn parse(
        request: &Request<'_>,
        validation: FieldValidation,
    ) -> Result<Self, ApiError> {
        if is_apply(request.call.media) {
            return configuration(request, validation).map(Self::Apply);
        }
        Patch::parse(request, validation).map(Self::Patch)
    }
}

/// Whether a value has members that say nothing.
fn has_nothing(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty() || has_nothing(value),
            _ => false,
        }),
        _ => false,
    }
}

/// The body of an apply, which is YAML and therefore also JSON.
fn configuration(request: &Request<'_>, validation: FieldValidation) -> Result<Value, ApiError> {
    let body = &request.call.body;
    let refused = |why: String| ApiError::bad_request(format!("error decoding YAML: {why}"));
    let document = Document::read(body).map_err(refused)?;
    let duplicates = document.duplicates();
    let config = document.into_value().map_err(refused)?;
    if !duplicates.is_empty() {
        match validation {
            FieldValidation::Ignore => {}
            FieldValidation::Warn => duplicates.into_iter().for_each(|text| request.warn(text)),
            FieldValidation::Strict => {
                let all = duplicates.join("\n  ");
                return Err(ApiError::bad_request(format!(
                    "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {all}"
                )));
            }
        }
    }
    if !config.is_object() {
        let found = if config.is_array() { "array" } else { "string" };
        return Err(refused(format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of \
             type map[string]interface {{}}"
        )));
    }
    Ok(config)
}

/// A patch of one of the types that change what is there.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    Json(JsonPatch),
    Merge(Value),
    Strategic(Map<String, Value>),
}

impl Patch {
    pub(crate) fn parse(
        request: &Request<'_>,
        validation: FieldValidation,
    ) -> Result<Self, ApiError> {
        let body = &request.call.body;
        let is_strict = validation != FieldValidation::Ignore;
        match request.call.media {
            Some(Media::JsonPatch) => {
                let (prefix, list, item) = if is_strict {
                    (DECODING, "[]handlers.jsonPatchOp", "handlers.jsonPatchOp")
                } else {
                    ("", "jsonpatch.Patch", "jsonpatch.Operation")
                };
                let operations = match read(body, prefix)? {
                    Value::Null => Vec::new(),
                    Value::Array(items) => items,
                    other => return Err(mismatch(prefix, &other, list)),
                };
                if operations.len() > MAX_OPERATIONS {
                    let message = format!(
                        "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
                        operations.len()
                    );
                    let reason = Some(Reason::RequestEntityTooLarge);
                    return Err(ApiError::new(413, reason, message));
                }
                let operations = operations.into_iter().map(|operation| match operation {
                    Value::Object(operation) => Ok(operation),
                    Value::Null => Ok(Map::new()),
                    other => Err(mismatch(prefix, &other, item)),
                });
                operations.collect::<Result<_, _>>().map(JsonPatch::new).map(Self::Json)
            }
            Some(Media::StrategicMergePatch) => match read(body, "")? {
                Value::Object(patch) => Ok(Self::Strategic(patch)),
                Value::Null => Ok(Self::Strategic(Map::new())),
                other => Err(mismatch("", &other, ANY_MAP)),
            },
            _ if !is_strict && flumen_kinds::syntax_fault(body).is_some() => Err(no_merge_patch()),
            _ => match read(body, DECODING)? {
                patch @ Value::Object(_) => Ok(Self::Merge(patch)),
                patch @ Value::Array(_) if !is_strict => Ok(Self::Merge(patch)),
                other if is_strict && !other.is_null() => Err(mismatch(DECODING, &other, ANY_MAP)),
                _ => Err(no_merge_patch()),
            },
        }
    }

    /// The patched object, read again with defaults.
    pub(crate) fn apply(
        &self,
        request: &Request<'_>,
        mut present: Value,
        of: Option<TypeId>,
        read: &dyn Fn(&Value) -> Result<Read, String>,
        validation: FieldValidation,
    ) -> Result<Value, ApiError> {
        match self {
            Self::Json(patch) => patch.apply(&mut present).map_err(|_| does_not_apply())?,
            Self::Merge(patch) => merge(&mut present, patch.clone()),
            Self::Strategic(patch) => {
                let of = of.ok_or_else(|| unsupported(request))?;
                // The result is of the type of the object, whatever the patch calls it.
                let names = ["apiVersion", "kind"].map(|field| (field, present[field].clone()));
                present = strategic_merge(present, patch.clone(), of).map_err(|e| refused(&e))?;
                for (field, name) in names {
                    present[field] = name;
                }
            }
        }
        let shown = || match self {
            Self::Strategic(patch) => crate::patch::printed(patch),
            Self::Merge(patch) => flumen_kinds::go_json(&present, of, patch),
            Self::Json(patch) => flumen_kinds::go_json(&present, of, &patch.touched()),
        };
        let invalid = |why: String| {
            let shown = shown();
            let error = FieldError::invalid(&Path::new("patch"), shown, why);
            ApiError::invalid("", "", "", &[error])
        };
        let fault = match (self, of) {
            (Self::Strategic(_), Some(of)) => flumen_kinds::restore_fault(&present, of),
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(invalid(fault));
        }
        let read = read(&present).map_err(|why| {
            // The real server reads the text that it shows, which has an order of its own.
            let of = of.filter(|_| present.is_object() && !matches!(self, Self::Strategic(_)));
            invalid(of.and_then(|of| flumen_kinds::text_fault(&shown(), of)).unwrap_or(why))
        })?;
        request.note(&read);
        let Read { object, mut problems, .. } = read;
        if validation != FieldValidation::Ignore && !matches!(self, Self::Json(_)) {
            problems.prepend(flumen_kinds::duplicates(&request.call.body));
        }
        body::report(request, validation, problems).map_err(invalid)?;
        Ok(object)
    }
}

/// The value of a body.
fn read(body: &[u8], prefix: &str) -> Result<Value, ApiError> {
    let refused = |why: String| ApiError::bad_request(format!("{prefix}{why}"));
    match flumen_kinds::syntax_fault(body) {
        Some(fault) => Err(refused(fault)),
        None => serde_json::from_slice(body).map_err(|error| refused(error.to_string())),
    }
}

/// A value that Go does not put into a type.
fn mismatch(prefix: &str, found: &Value, go_type: &str) -> ApiError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let why = format!("json: cannot unmarshal {found} into Go value of type {go_type}");
    ApiError::bad_request(format!("{prefix}{why}"))
}

fn no_merge_patch() -> ApiError {
    ApiError::bad_request("Invalid JSON Patch")
}

fn does_not_apply() -> ApiError {
    let message = "the server rejected our request due to an error in our request";
    ApiError::new(422, Some(Reason::Invalid), message).with_details(crate::Details::default())
}

fn refused(error: &StrategicError) -> ApiError {
    match error {
        StrategicError::PrimitiveList
        | StrategicError::RetainKeys
        | StrategicError::ElementOrder => ApiError::bad_request(error.to_string()),
        StrategicError::ListOfLists => does_not_apply(),
        StrategicError::Other(message) => ApiError::new(500, None, message.as_str()),
    }
}

fn unsupported(request: &Request<'_>) -> ApiError {
    let strategic = match rules::patch_type(&request.resource) {
        Some(_) => "application/strategic-merge-patch+json, ",
        None => "",
    };
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: \
         application/json-patch+json, application/merge-patch+json, {strategic}\
         application/apply-patch+yaml"
    );
    ApiError::new(415, Some(Reason::UnsupportedMediaType), message)
}
