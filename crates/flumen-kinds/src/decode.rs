//! Bodies of requests to objects of built-in kinds, with the semantics of Go's decoder.
//!
//! [`decode`] does what the server does before it looks at an object: it finds out what the body says
//! it is, reads it into that type, and compares it with what the request is about. What comes back
//! is canonical, see `canonical`, or can be made so with [`tighten`](crate::tighten) once the owners of
//! its fields are known. Whether a field that is unknown or there twice is an error
//! or a warning is up to the caller.

mod head;
mod leaf;
mod registered;
mod restore;
mod target;
mod typed;
mod untyped;

use std::fmt::Write as _;

pub use self::restore::restore_fault;

use flumen_schema::api::TypeId;
pub(crate) use head::Head;
pub(crate) use leaf::{encode_bytes, float, is_extra_value};
use serde_json::Value;
pub use target::Target;
use thiserror::Error;
pub(crate) use typed::{Keeps, Names};
pub use untyped::{CustomTarget, decode_custom};

use crate::{document, json, protobuf};

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    Json,
    Yaml,
    Protobuf,
}

/// An object in canonical form, with its kind.
#[derive(Debug)]
pub struct Decoded {
    pub object: Value,
    /// What a strict server refuses.
    pub strict: Strict,
    pub traces: Traces,
}

/// What cannot be seen in an object that was read, and still makes a difference.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// Whether a list or map outside of the metadata was given with nothing in it. To some kinds that is a change
    /// of what is wanted, see [`counts_empty`](crate::counts_empty).
    pub has_empty: bool,
    /// Whether it differs from the form that is stored: by lists without items, or by how amounts are spelled.
    pub is_loose: bool,
    /// Whether a map has bytes that are null, which show as empty ones.
    pub has_null_bytes: bool,
    /// The maps of the object itself that were given with nothing in them. Rules may tell them from none.
    pub empty_maps: Vec<&'static str>,
}

/// Fields that are unknown or there twice, in the order of the body.
#[derive(Debug, Default)]
pub struct Strict {
    errors: Vec<String>,
    /// All keys that a YAML text has twice; Go reports them as one error.
    yaml: Vec<String>,
}

impl Strict {
    /// Notes a field that is not known, by its path.
    pub fn unknown(&mut self, path: &str) {
        self.errors.push(format!("unknown field {path:?}"));
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.yaml.is_empty()
    }

    /// One text for each, for a server that only warns.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.yaml.iter().chain(&self.errors).map(String::as_str)
    }

    /// All of it as the error of a strict server: `strict decoding error: …`.
    pub fn error(&self) -> String {
        let yaml = (!self.yaml.is_empty())
            .then(|| format!("yaml: unmarshal errors:\n  {}", self.yaml.join("\n  ")));
        let all: Vec<String> = yaml.into_iter().chain(self.errors.iter().cloned()).collect();
        format!("strict decoding error: {}", all.join(", "))
    }
}

/// A body that is no object of the kind. The message is that of a `BadRequest`.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// It does not say what it is.
    #[error(
        "the object provided is unrecognized (must be of type {expected}): {problem} ({start})"
    )]
    Unrecognized { expected: String, problem: String, start: String },
    /// It says what it is, but it is not that, or not what is expected.
    #[error("{kind} in version {version:?} cannot be handled as a {expected}: {problem}")]
    Unfit { kind: String, version: String, expected: String, problem: String },
    /// It is the right kind in another version.
    #[error(
        "the API version in the data ({found}) does not match the expected API version ({expected})"
    )]
    Version { found: String, expected: String },
}

/// Reads a body that should be an object of a kind.
pub fn decode(body: &[u8], media: Media, target: &Target) -> Result<Decoded, DecodeError> {
    let unrecognized = |problem: String| DecodeError::Unrecognized {
        expected: target.kind.to_owned(),
        problem,
        start: start_of(body),
    };
    match media {
        Media::Json => {
            let tape = json::scan(body).map_err(|error| unrecognized(head::parse_error(&error)))?;
            decode_node(tape.root(), target, Strict::default(), &unrecognized)
        }
        Media::Yaml => {
            let document = document::Document::read(body).map_err(&unrecognized)?;
            let strict = Strict { errors: Vec::new(), yaml: document.duplicates() };
            let value = document.into_value().map_err(&unrecognized)?;
            decode_node(json::Tape::of(&value).root(), target, strict, &unrecognized)
        }
        Media::Protobuf => {
            let envelope = protobuf::Envelope::open(body).map_err(&unrecognized)?;
            let head = Head::new(&envelope.api_version, &envelope.kind).map_err(&unrecognized)?;
            let head = head.or(target);
            let found = target.check(&head)?;
            let object = protobuf::read(envelope.raw, found)
                .map_err(|problem| target.unfit(&head, problem))?;
            let strict = Strict::default();
            target.finish(&head, Decoded { object, strict, traces: Traces::default() })
        }
    }
}

fn decode_node(
    root: json::Node<'_, '_>,
    target: &Target,
    mut strict: Strict,
    unrecognized: &dyn Fn(String) -> DecodeError,
) -> Result<Decoded, DecodeError> {
    let head = Head::of(root).map_err(unrecognized)?.or(target);
    let found = target.check(&head)?;
    let read = typed::read(root, found, Keeps::Given, Names::All)
        .map_err(|problem| target.unfit(&head, problem))?;
    let typed::Read { object, strict: errors, traces } = read;
    strict.errors = errors;
    target.finish(&head, Decoded { object, strict, traces })
}

/// Reads a value that is known to be of a type, such as the result of a patch. The error is Go's
/// message.
pub fn decode_value(value: &Value, of: TypeId) -> Result<Decoded, String> {
    decode_value_with(value, of, Keeps::Given, Names::All)
}

/// The same for a value that the real server puts into its types without a text in between. What is unknown in
/// the values of a map is named without their keys.
pub fn decode_restored(value: &Value, of: TypeId) -> Result<Decoded, String> {
    decode_value_with(value, of, Keeps::Given, Names::NoKeys)
}

pub(crate) fn decode_value_with(
    value: &Value,
    of: TypeId,
    keeps: Keeps,
    names: Names,
) -> Result<Decoded, String> {
    let tape = json::Tape::of(value);
    if !value.is_object() {
        Head::of(tape.root())?;
    }
    let read = typed::read(tape.root(), of, keeps, names)?;
    let typed::Read { object, strict, traces } = read;
    let strict = Strict { errors: strict, yaml: Vec::new() };
    Ok(Decoded { object, strict, traces })
}

/// Why a value cannot say what it is.
pub fn head_fault(value: &Value) -> Option<String> {
    Head::of(json::Tape::of(value).root()).err()
}

/// What is wrong with a JSON text of a type. Of several faults it is the first of the text.
pub fn text_fault(text: &str, of: TypeId) -> Option<String> {
    let tape = json::scan(text.as_bytes()).ok()?;
    typed::read(tape.root(), of, Keeps::Given, Names::All).err()
}

/// Why a text is no JSON, in the words of Go.
pub fn syntax_fault(body: &[u8]) -> Option<String> {
    json::scan(body).err()
}

/// Fields that are there twice in a JSON text of no type, such as a patch. A text that is no JSON has
/// none.
pub fn duplicates(body: &[u8]) -> Vec<String> {
    match json::scan(body) {
        Ok(tape) if tape.root().has_duplicates() => typed::duplicates(tape.root()),
        _ => Vec::new(),
    }
}

/// The first bytes of a body, for messages.
fn start_of(body: &[u8]) -> String {
    const SHOWN: usize = 30;
    let start = &body[..body.len().min(SHOWN)];
    let mut text = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => start.iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        }),
    };
    if body.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests;
