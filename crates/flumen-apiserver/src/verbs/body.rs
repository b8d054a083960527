//! Bodies of requests as objects.

use serde_json::Value;

use super::{Request, options::FieldValidation};
use crate::{
    ApiError, Media, meta,
    rules::{self, Problems},
};

/// The object of a create or an update, with defaults, in the version of the request.
pub(crate) fn object(
    request: &Request<'_>,
    validation: FieldValidation,
) -> Result<Value, ApiError> {
    let call = request.call;
    let media = media_of(call.media)?;
    let is_lenient = validation == FieldValidation::Ignore;
    let read = rules::read(&request.resource, &call.body, media, is_lenient)?;
    request.note(&read);
    report(request, validation, read.problems).map_err(|error| {
        let resource = &request.resource;
        ApiError::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {error}",
            resource.kind, resource.version, resource.kind
        ))
    })?;
    rules::check_version(&request.resource, &read.object)?;
    Ok(read.object)
}

/// How a body is written that is no patch.
pub(crate) fn media_of(media: Option<Media>) -> Result<flumen_kinds::Media, ApiError> {
    match media {
        None | Some(Media::Json) => Ok(flumen_kinds::Media::Json),
        Some(Media::Yaml) => Ok(flumen_kinds::Media::Yaml),
        Some(Media::Protobuf) => Ok(flumen_kinds::Media::Protobuf),
        Some(_) => {
            let message = "the body of the request was in an unknown format - accepted media types \
                           include: application/json, application/yaml, \
                           application/vnd.kubernetes.protobuf";
            Err(ApiError::new(415, Some(crate::Reason::UnsupportedMediaType), message))
        }
    }
}

/// Warns of fields that are unknown or there twice, or refuses them, as the request wants it.
pub(crate) fn report(
    request: &Request<'_>,
    validation: FieldValidation,
    problems: Problems,
) -> Result<(), String> {
    if problems.error.is_empty() {
        return Ok(());
    }
    match validation {
        FieldValidation::Ignore => {}
        FieldValidation::Warn => problems.warnings.into_iter().for_each(|text| request.warn(text)),
        FieldValidation::Strict => return Err(problems.error),
    }
    Ok(())
}

/// Fills in the namespace of the request, or refuses another.
pub(crate) fn match_namespace(request: &Request<'_>, object: &mut Value) -> Result<(), ApiError> {
    let wanted = request.namespace();
    let found = meta::namespace(object);
    if found == wanted {
        return Ok(());
    }
    if wanted.is_empty() {
        meta::remove(object, "namespace");
    } else if found.is_empty() {
        meta::set(object, "namespace", wanted);
    } else {
        let why =
            "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(why));
    }
    Ok(())
}

/// The name in the body must be that of the path.
pub(crate) fn match_name(request: &Request<'_>, object: &Value) -> Result<(), ApiError> {
    let (found, wanted) = (meta::name(object), &*request.target().name);
    if found.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
        )));
    }
    if found != wanted {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({wanted})"
        )));
    }
    Ok(())
}
