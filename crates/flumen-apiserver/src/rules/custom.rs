//! Custom resources: bodies, and what is done to objects that come from the store.

use std::sync::Arc;

use flumen_crd::Version;
use flumen_kinds::{CustomTarget, Media, Strict, Traces};
use serde_json::Value;

use super::Read;
use crate::{ApiError, meta};

/// The object in a body. It must say what it is.
pub(super) fn read(
    version: &Version,
    body: &[u8],
    media: Media,
    is_lenient: bool,
) -> Result<Read, ApiError> {
    let (kind, name) = (version.kind.as_str(), version.name.as_str());
    let target = CustomTarget { group: &version.group, version: name, kind, is_lenient };
    let decoded = flumen_kinds::decode_custom(body, media, target)
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let text = |field: &str| decoded.object[field].as_str().unwrap_or_default().to_owned();
    let (found_version, found_kind) = (text("apiVersion"), text("kind"));
    let read = admit(version, decoded.object, decoded.strict).map_err(|problem| {
        let name = found_version.rsplit('/').next().unwrap_or_default();
        let what = format!("{found_kind} in version {name:?} cannot be handled as a {kind}");
        ApiError::bad_request(format!("{what}: {problem}"))
    })?;
    Ok(read)
}

/// Refuses an object of another version than that of the request.
pub(super) fn check_version(version: &Version, object: &Value) -> Result<(), ApiError> {
    let (kind, name) = (version.kind.as_str(), version.name.as_str());
    let target = CustomTarget { group: &version.group, version: name, kind, is_lenient: false };
    let found = object["apiVersion"].as_str().unwrap_or_default();
    target.refuse_other_version(found).map_err(|error| ApiError::bad_request(error.to_string()))
}

/// Takes out what the schema does not know and fills in its defaults.
pub(super) fn admit(
    version: &Version,
    mut object: Value,
    mut strict: Strict,
) -> Result<Read, String> {
    // Nothing is known of another kind but its metadata.
    let is_other = object["kind"] != version.kind.as_str();
    for path in version.admit(&mut object)? {
        if !is_other || path.starts_with("metadata.") {
            strict.unknown(&path);
        }
    }
    version.default(&mut object);
    Ok(Read { object, problems: strict.into(), traces: Traces::default() })
}

/// An object of the store in a version. The schema may have changed since it was written: it is read in
/// the version that is stored, with the defaults of that version, and then converted.
pub(super) fn load(version: &Arc<Version>, storage: &Arc<Version>, mut object: Value) -> Value {
    storage.convert(&mut object);
    // What does not fit is shown as it is.
    let _ = storage.admit(&mut object);
    storage.default(&mut object);
    if !Arc::ptr_eq(version, storage) {
        version.convert(&mut object);
        let _ = version.admit(&mut object);
    }
    object
}

/// Why an object cannot be brought from its version into the one that is stored.
pub(super) fn fault_in_storage(
    version: &Arc<Version>,
    storage: &Arc<Version>,
    object: &Value,
) -> Option<String> {
    if Arc::ptr_eq(version, storage) {
        return None;
    }
    let mut object = object.clone();
    storage.convert(&mut object);
    storage.admit(&mut object).err()
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
