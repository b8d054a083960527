//! PATCH: a change instead of the whole.

use flumen_fields::{FieldError, Path};
use flumen_schema::api::TypeId;
use serde_json::{Map, Value};

use super::{
    Request, body,
    options::{FieldValidation, WriteOptions},
    write::{self, Update},
};
use crate::{
    Answer, ApiError, Media, Reason,
    patch::{JsonPatch, StrategicError, merge, strategic_merge},
    rules::{self, Read},
    storage::Stored,
};

/// Operations that a JSON patch may have.
const MAX_OPERATIONS: usize = 10_000;

pub(crate) async fn patch(request: &Request<'_>) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let patch = Patch::parse(request)?;
    let subresource = &*request.target().subresource;
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let Some(live) = live else { return Err(request.not_found(&request.target().name)) };
        let present = rules::from_hub(&request.resource, live.object.clone())?;
        let read = |value: &Value| rules::read_value(&request.resource, value);
        let of = rules::patch_type(&request.resource);
        let mut object = patch.apply(request, present, of, &read, options.field_validation)?;
        body::match_namespace(request, &mut object)?;
        body::match_name(request, &object)?;
        let mut object = write::own(request, Some(live), object, &options, subresource)?;
        write::deduplicate_owners(request, &mut object);
        rules::to_hub(&request.resource, object)
    };
    let update = Update {
        name: &request.target().name,
        subresource,
        make: &make,
        creates: false,
        uid: None,
        options: &options,
    };
    let (object, created) = write::update(request, &update).await?;
    request.answer(if created { 201 } else { 200 }, object)
}

/// A patch of one of the types that change what is there.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    Json(JsonPatch),
    Merge(Value),
    Strategic(Map<String, Value>),
}

impl Patch {
    pub(crate) fn parse(request: &Request<'_>) -> Result<Self, ApiError> {
        let body = &request.call.body;
        match request.call.media {
            Some(Media::JsonPatch) => {
                let operations: Vec<Map<String, Value>> = parse(body, "[]handlers.jsonPatchOp")?;
                let patch = JsonPatch::new(operations);
                if patch.len() > MAX_OPERATIONS {
                    let message = format!(
                        "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
                        patch.len()
                    );
                    let reason = Some(Reason::RequestEntityTooLarge);
                    return Err(ApiError::new(413, reason, message));
                }
                Ok(Self::Json(patch))
            }
            Some(Media::MergePatch) => {
                let patch: Map<String, Value> = parse(body, "map[string]interface {}")?;
                Ok(Self::Merge(Value::Object(patch)))
            }
            Some(Media::StrategicMergePatch) if rules::patch_type(&request.resource).is_some() => {
                parse(body, "map[string]interface {}").map(Self::Strategic)
            }
            _ => Err(unsupported(request)),
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
                present = strategic_merge(present, patch.clone(), of).map_err(|e| refused(&e))?;
            }
        }
        let invalid = |why: String| {
            let shown = match self {
                Self::Strategic(patch) => crate::patch::printed(patch),
                _ => present.to_string(),
            };
            let error = FieldError::invalid(&Path::new("patch"), shown, why);
            ApiError::invalid("", "", "", &[error])
        };
        let Read { object, problems } = read(&present).map_err(invalid)?;
        body::report(request, validation, problems).map_err(invalid)?;
        Ok(object)
    }
}

fn parse<T: serde::de::DeserializeOwned>(body: &[u8], go_type: &str) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        let found = serde_json::from_slice::<Value>(body).ok().map(|value| match value {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        });
        let why = match found {
            Some(found) => {
                format!("json: cannot unmarshal {found} into Go value of type {go_type}")
            }
            None => error.to_string(),
        };
        ApiError::bad_request(format!("error decoding patch: {why}"))
    })
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
