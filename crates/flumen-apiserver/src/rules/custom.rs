//! Custom resources: bodies, and what is done to objects that come from the store.

use flumen_crd::Version;
use flumen_kinds::{Document, Media};
use serde_json::Value;

use super::{Problems, Read};
use crate::{ApiError, meta};

/// The object in a body. It must say what it is.
pub(super) fn parse(version: &Version, body: &[u8], media: Media) -> Result<Value, ApiError> {
    let kind = &version.kind;
    let start = || {
        let shown = String::from_utf8_lossy(&body[..body.len().min(30)]).into_owned();
        let more = if body.len() > 30 { " ..." } else { "" };
        if body.is_empty() { "<empty>".to_owned() } else { format!("{shown}{more}") }
    };
    let unrecognized = |why: String| {
        let start = start();
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({start})"
        ))
    };
    let object: Value = match media {
        Media::Json => serde_json::from_slice(body).map_err(|error| {
            let why = if error.is_eof() {
                "unexpected end of JSON input".to_owned()
            } else {
                error.to_string()
            };
            unrecognized(format!("couldn't get version/kind; json parse error: {why}"))
        })?,
        Media::Yaml => {
            let document = Document::read(body).map_err(unrecognized)?;
            document.into_value().map_err(unrecognized)?
        }
        Media::Protobuf => {
            let why = "custom resources have no form in protobuf";
            return Err(ApiError::bad_request(why));
        }
    };
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("kind").is_empty() {
        let shown = String::from_utf8_lossy(body);
        return Err(unrecognized(format!("Object 'Kind' is missing in '{shown}'")));
    }
    let (found, expected) = (text("apiVersion"), version.api_version());
    if found != expected {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        )));
    }
    Ok(object)
}

/// Takes out what the schema does not know and fills in its defaults.
pub(super) fn admit(version: &Version, mut object: Value) -> Result<Read, String> {
    let is_reset = object["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty);
    let unknown = version.admit(&mut object)?;
    version.default(&mut object);
    if is_reset {
        meta::set(&mut object, "managedFields", Vec::<Value>::new());
    }
    let warnings: Vec<String> =
        unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
    let error = match warnings.as_slice() {
        [] => String::new(),
        _ => format!("strict decoding error: {}", warnings.join(", ")),
    };
    Ok(Read { object, problems: Problems { warnings, error } })
}

/// An object of the store in a version. The schema may have changed since it was written.
pub(super) fn load(version: &Version, mut object: Value) -> Value {
    version.convert(&mut object);
    // What does not fit is shown as it is.
    let _ = version.admit(&mut object);
    version.default(&mut object);
    object
}

/// What an update can never change.
pub(super) fn keep_metadata(new: &mut Value, old: &Value) {
    let had = |field: &str| meta::has(old, field);
    let has_uid = !meta::uid(new).is_empty();
    let has_grace = meta::has(new, "deletionGracePeriodSeconds");
    for (field, is_kept) in [
        ("generation", true),
        ("uid", !has_uid),
        ("creationTimestamp", had("creationTimestamp")),
        ("deletionTimestamp", had("deletionTimestamp")),
        ("deletionGracePeriodSeconds", had("deletionGracePeriodSeconds") && !has_grace),
    ] {
        if !is_kept {
            continue;
        }
        match meta::of(old).and_then(|meta| meta.get(field)) {
            Some(value) => meta::set(new, field, value.clone()),
            None => drop(meta::remove(new, field)),
        }
    }
}
