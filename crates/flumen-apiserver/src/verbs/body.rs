//! Bodies of requests as objects.

use serde_json::Value;

use super::{Request, options::FieldValidation};
use crate::{ApiError, Media, meta};

/// The object of a create or an update, with defaults, in the version of the request.
pub(crate) fn object(
    request: &Request<'_>,
    _validation: FieldValidation,
) -> Result<Value, ApiError> {
    let call = request.call;
    let mut object: Value = match call.media {
        None | Some(Media::Json) => serde_json::from_slice(&call.body)
            .map_err(|error| ApiError::bad_request(error.to_string()))?,
        Some(_) => return Err(ApiError::bad_request("this type of body is not read yet")),
    };
    if let Value::Object(map) = &mut object {
        map.insert("apiVersion".to_owned(), request.resource.api_version().into());
        map.insert("kind".to_owned(), request.resource.kind.clone().into());
    }
    Ok(object)
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
        let why = "the namespace of the provided object does not match the namespace sent on the request";
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
