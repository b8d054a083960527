//! Bodies and the results of patches as objects.

use flumen_kinds::{Decoded, Media, Strict, Target, Traces};
use flumen_schema::api::{Api as Facts, ApiKind, TypeId};
use serde_json::Value;

use super::{custom, from_hub, is_hub, name_kind, to_hub};
use crate::{ApiError, Behaviour, Resource, meta};

/// An object that was read, and what a strict server would refuse in it.
#[derive(Debug)]
pub(crate) struct Read {
    /// In the version of the request, with defaults.
    pub object: Value,
    pub problems: Problems,
    /// Something empty was given only if it counts as a change.
    pub traces: Traces,
}

impl Read {
    /// An object that was read as one of a built-in kind, and gets its defaults.
    fn of_builtin(resource: &Resource, kind: &ApiKind, decoded: Decoded) -> Self {
        let Decoded { mut object, strict, mut traces } = decoded;
        flumen_kinds::default(&mut object, kind);
        traces.has_empty &= flumen_kinds::counts_empty(kind);
        Self { object: settled(resource, object), problems: strict.into(), traces }
    }
}

/// Fields that are unknown or there twice.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// One text each.
    pub warnings: Vec<String>,
    /// All of them as one error; empty if there are none.
    pub error: String,
}

impl Problems {
    /// Adds what is strange about the patch that made an object.
    pub(crate) fn prepend(&mut self, mut warnings: Vec<String>) {
        const PREFIX: &str = "strict decoding error: ";
        if warnings.is_empty() {
            return;
        }
        let own = self.error.strip_prefix(PREFIX).map(|own| format!(", {own}"));
        self.error = format!("{PREFIX}{}{}", warnings.join(", "), own.unwrap_or_default());
        warnings.append(&mut self.warnings);
        self.warnings = warnings;
    }
}

impl From<Strict> for Problems {
    fn from(strict: Strict) -> Self {
        if strict.is_empty() {
            return Self::default();
        }
        let warnings = strict.warnings().map(str::to_owned).collect();
        Self { warnings, error: strict.error() }
    }
}

/// Reads the body of a create or an update.
pub(crate) fn read(
    resource: &Resource,
    body: &[u8],
    media: Media,
    is_lenient: bool,
) -> Result<Read, ApiError> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => {
            let mut decoded = flumen_kinds::decode(body, media, &Target::from(*kind))
                .map_err(|error| ApiError::bad_request(error.to_string()))?;
            if media == Media::Json && contains(body, b"managedFields") {
                let sent = serde_json::from_slice(body).unwrap_or_default();
                keep_reset(&sent, &mut decoded.object);
            }
            Ok(Read::of_builtin(resource, kind, decoded))
        }
        Behaviour::Custom { version, .. } => custom::read(version, body, media, is_lenient),
    }
}

/// Refuses a body of another version than that of the request, after all else was said about it.
pub(crate) fn check_version(resource: &Resource, object: &Value) -> Result<(), ApiError> {
    match &resource.behaviour {
        // Decoding has done so.
        Behaviour::Builtin { .. } => Ok(()),
        Behaviour::Custom { version, .. } => custom::check_version(version, object),
    }
}

/// Brings an object that was read loosely into the form that is stored.
pub(crate) fn tighten(resource: &Resource, object: &mut Value) {
    if let Behaviour::Builtin { kind, .. } = &resource.behaviour {
        flumen_kinds::tighten(object, kind);
    }
}

/// An object as its version shows it once it was in the version that is stored.
fn settled(resource: &Resource, object: Value) -> Value {
    if is_hub(resource) { object } else { from_hub(resource, to_hub(resource, object)) }
}

/// An empty list of managed fields asks to forget all of them, so it is not the same as none.
fn keep_reset(sent: &Value, object: &mut Value) {
    if sent["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty) {
        meta::set(object, "managedFields", Vec::<Value>::new());
    }
}

pub(super) fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|window| window == word)
}

/// Reads the result of a patch. The error is a message of the decoder.
pub(crate) fn read_value(resource: &Resource, value: &Value) -> Result<Read, String> {
    read_with(resource, value, flumen_kinds::decode_value)
}

/// Reads the result of a patch that the real server does not turn into text before.
pub(crate) fn read_restored(resource: &Resource, value: &Value) -> Result<Read, String> {
    read_with(resource, value, flumen_kinds::decode_restored)
}

fn read_with(
    resource: &Resource,
    value: &Value,
    decode: fn(&Value, TypeId) -> Result<Decoded, String>,
) -> Result<Read, String> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => {
            let mut decoded = decode(value, kind.object)?;
            refuse_other_kind(kind, value)?;
            name_kind(resource, &mut decoded.object);
            keep_reset(value, &mut decoded.object);
            Ok(Read::of_builtin(resource, kind, decoded))
        }
        Behaviour::Custom { version, .. } => match flumen_kinds::head_fault(value) {
            Some(fault) => Err(fault),
            None => custom::admit(version, value.clone(), Strict::default()),
        },
    }
}

/// A patch cannot make another kind of an object. It is read as that kind first, as the real server does.
fn refuse_other_kind(kind: &ApiKind, value: &Value) -> Result<(), String> {
    let named = value["kind"].as_str().unwrap_or(kind.kind);
    if named == kind.kind {
        return Ok(());
    }
    if let Some(other) = Facts::get().kind(kind.group, kind.version, named) {
        flumen_kinds::decode_value(value, other.object)?;
    }
    Err(format!("{named} cannot be handled as a {}", kind.kind))
}
