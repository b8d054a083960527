//! The annotation in which kubectl keeps what it applied on the client side.

use serde_json::Value;

use super::Write;
use crate::{
    FieldSet, go,
    typed::{Duplicates, compare, field_set, validate},
};

/// The annotation is looked at for this manager alone.
pub(super) const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// What all annotations of an object may have in total.
const MAX_ANNOTATIONS: usize = 256 * 1024;

fn annotation(object: &Value) -> Option<&str> {
    let value = object.get("metadata")?.get("annotations")?.get(ANNOTATION)?.as_str()?;
    (!value.is_empty()).then_some(value)
}

/// The fields that were applied on the client side and are still as they were; none if that cannot be
/// told.
pub(super) fn owned(write: &Write<'_>, live: &Value) -> Option<FieldSet> {
    let applied: Value = serde_json::from_str(annotation(live)?).ok()?;
    if applied.get("apiVersion").and_then(Value::as_str) != Some(write.api_version) {
        return None;
    }
    let schema = write.schema().ok()?;
    for object in [live, &applied] {
        validate(schema, object, Duplicates::Refused).ok()?;
    }
    let comparison = compare(schema, &applied, live);
    let fields = field_set(schema, &applied);
    let fields = fields.difference(&comparison.modified).difference(&comparison.added);
    Some(fields.difference(&comparison.removed))
}

/// Makes the annotation, if there is one, say what was applied now.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    if annotation(object).is_none() {
        return;
    }
    let mut config = config.clone();
    if let Some(annotations) = annotations_of(&mut config) {
        annotations.remove(ANNOTATION);
    }
    let text = format!("{}\n", escaped_for_html(&config.to_string()));
    let Some(annotations) = annotations_of(object) else { return };
    annotations.insert(ANNOTATION.to_owned(), Value::String(text));
    let size: usize =
        annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}

fn annotations_of(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object.get_mut("metadata")?.get_mut("annotations")?.as_object_mut()
}

/// The API server writes JSON that is safe within HTML.
fn escaped_for_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => go::push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out
}
