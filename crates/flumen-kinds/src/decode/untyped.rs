//! Bodies of requests to objects of custom kinds, which have no type here.

use super::{
    DecodeError, Decoded, Head, Media, Strict, Traces, head, start_of, target::api_version, typed,
};
use crate::{
    document,
    json::{self, Node},
};

/// Levels of objects and lists; see the limit of typed objects.
const MAX_DEPTH: usize = 100;

/// The custom kind that a request is about.
#[derive(Clone, Copy, Debug)]
pub struct CustomTarget<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
    /// Nobody asks for unknown fields. The real server then reads in another way and fails in other words.
    pub is_lenient: bool,
}

impl CustomTarget<'_> {
    /// Refuses an object that says it is of another version. The server looks at its metadata before.
    pub fn refuse_other_version(&self, found: &str) -> Result<(), DecodeError> {
        let expected = api_version(self.group, self.version);
        if found == expected {
            return Ok(());
        }
        Err(DecodeError::Version { found: found.to_owned(), expected })
    }
}

/// Reads a body that should be an object of a custom kind. It must say what it is; whether that is the
/// version, [`CustomTarget::refuse_other_version`] says later, and whether it is the kind, validation.
pub fn decode_custom(
    body: &[u8],
    media: Media,
    target: CustomTarget<'_>,
) -> Result<Decoded, DecodeError> {
    let unrecognized = |problem: String| DecodeError::Unrecognized {
        expected: target.kind.to_owned(),
        problem,
        start: start_of(body),
    };
    if media == Media::Yaml {
        let document = document::Document::read(body).map_err(&unrecognized)?;
        let strict = Strict { errors: Vec::new(), yaml: document.duplicates() };
        let value = document.into_value().map_err(&unrecognized)?;
        let text = value.to_string();
        return read(json::Tape::of(&value).root(), &text, strict, target, &unrecognized);
    }
    let tape = json::scan(body).map_err(|error| unrecognized(head::parse_error(&error)))?;
    let text = String::from_utf8_lossy(body);
    read(tape.root(), &text, Strict::default(), target, &unrecognized)
}

fn read(
    root: Node<'_, '_>,
    text: &str,
    mut strict: Strict,
    target: CustomTarget<'_>,
    unrecognized: &dyn Fn(String) -> DecodeError,
) -> Result<Decoded, DecodeError> {
    let head = Head::of(root).map_err(unrecognized)?;
    let missing = |name: &str| unrecognized(format!("Object '{name}' is missing in '{text}'"));
    if head.kind.is_empty() && target.is_lenient {
        return Err(DecodeError::Unfit {
            kind: target.kind.to_owned(),
            version: target.version.to_owned(),
            expected: target.kind.to_owned(),
            problem: format!("Object 'Kind' is missing in '{text}'"),
        });
    }
    if head.kind.is_empty() {
        return Err(missing("Kind"));
    }
    if head.version.is_empty() {
        return Err(missing("apiVersion"));
    }
    let deep = || unrecognized("the object is nested too deeply".to_owned());
    let object = root.to_value(MAX_DEPTH).ok_or_else(deep)?;
    if root.has_duplicates() {
        strict.errors = typed::duplicates(root);
    }
    Ok(Decoded { object, strict, traces: Traces::default() })
}
