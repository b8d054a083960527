//! Keeping the values of Secrets out of what people see.
//!
//! Trees are masked by structure: [`mask`] for one state of an object, [`mask_both`] for two of them,
//! which still shows what has changed. Texts that come from elsewhere, such as the refusal of a
//! server, go through [`SecretValues`], which knows what must not be in them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flumen_object::Gvk;
use flumen_yaml::{Node, Scalar, Text, Value, same_value};

use crate::ownership::LAST_APPLIED;

const MASK: &str = "***";
const BEFORE: &str = "*** (before)";
const AFTER: &str = "*** (after)";
const VALUES: [&str; 2] = ["data", "stringData"];

/// Shorter values would mask half of every sentence, and are no secrets.
const SHORTEST: usize = 3;
/// Shorter values are masked only where they stand alone: `data` is a part of many words.
const SHORTEST_ANYWHERE: usize = 8;
/// Lines of a value, such as a key in PEM form, that are secrets of their own.
const SHORTEST_LINE: usize = 16;

/// Masks all values of a Secret; other objects have nothing to hide.
pub fn mask(object: &mut Node) {
    mask_both(Some(object), None);
}

/// Masks all values of two states of an object so that changed ones still differ.
pub fn mask_both(before: Option<&mut Node>, after: Option<&mut Node>) {
    let is_secret =
        |object: &Option<&mut Node>| object.as_ref().is_some_and(|node| is_secret(node));
    if !is_secret(&before) && !is_secret(&after) {
        return;
    }
    let (mut before, mut after) = (before, after);
    let annotation = ["metadata", "annotations", LAST_APPLIED];
    for path in VALUES.iter().map(std::slice::from_ref).chain([annotation.as_slice()]) {
        mask_values(
            before.as_mut().and_then(|node| node.at_mut(path)),
            after.as_mut().and_then(|node| node.at_mut(path)),
        );
    }
}

fn is_secret(object: &Node) -> bool {
    let Gvk { group, kind, .. } = Gvk::of(object);
    group.is_empty() && kind == "Secret"
}

/// Masks each value of a mapping, or whatever stands in its place.
fn mask_values(before: Option<&mut Node>, after: Option<&mut Node>) {
    match (before, after) {
        (
            Some(Node { value: Value::Map(before), .. }),
            Some(Node { value: Value::Map(after), .. }),
        ) => {
            let mut places: BTreeMap<Text, &mut Node> =
                after.iter_mut().map(|entry| (entry.key.clone(), &mut entry.value)).collect();
            for entry in before {
                mask_value(Some(&mut entry.value), places.remove(&entry.key));
            }
            for value in places.into_values() {
                mask_value(None, Some(value));
            }
        }
        (Some(Node { value: Value::Map(map), .. }), other)
        | (other, Some(Node { value: Value::Map(map), .. })) => {
            map.iter_mut().for_each(|entry| mask_value(Some(&mut entry.value), None));
            mask_value(None, other);
        }
        (before, after) => mask_value(before, after),
    }
}

fn mask_value(before: Option<&mut Node>, after: Option<&mut Node>) {
    let masked = |text: &'static str| Node::string(Text::literal(text));
    match (before, after) {
        (Some(before), Some(after)) if !same_value(before, after) => {
            *before = masked(BEFORE);
            *after = masked(AFTER);
        }
        (before, after) => {
            for node in [before, after].into_iter().flatten().filter(|node| !node.is_null()) {
                *node = masked(MASK);
            }
        }
    }
}

/// What must not be in a text: the values of some Secrets, in the forms in which they get around.
///
/// Meant for messages. Each value is searched for on its own.
#[derive(Clone, Default)]
pub struct SecretValues {
    /// Longer ones first, so that no part of one is masked before it.
    values: Vec<String>,
}

impl SecretValues {
    /// The values of those of the objects that are Secrets.
    pub fn of<'a>(objects: impl IntoIterator<Item = &'a Node>) -> Self {
        let mut values = BTreeSet::new();
        for object in objects.into_iter().filter(|object| is_secret(object)) {
            for field in VALUES {
                let Some(map) = object.get(field).and_then(Node::as_map) else { continue };
                for scalar in map.iter().filter_map(|entry| entry.value.as_scalar()) {
                    collect(scalar, field, &mut values);
                }
            }
        }
        let mut values: Vec<String> = values.into_iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// The text with every value replaced.
    pub fn mask(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = replace(&text, value);
            }
        }
        text
    }
}

/// Says how many there are and no more.
impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretValues").field("count", &self.values.len()).finish_non_exhaustive()
    }
}

fn collect(scalar: &Scalar, field: &str, values: &mut BTreeSet<String>) {
    let text = scalar.text.as_str();
    let mut add = |value: &str| {
        let value = value.trim();
        if value.len() >= SHORTEST {
            values.insert(value.to_owned());
            // As messages quote it.
            let quoted = format!("{value:?}");
            values.insert(quoted[1..quoted.len() - 1].to_owned());
        }
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
        values.extend(lines.map(str::to_owned));
    };
    add(text);
    if field == "stringData" {
        add(&STANDARD.encode(text));
    } else if let Ok(bytes) = STANDARD.decode(text)
        && let Ok(decoded) = String::from_utf8(bytes)
    {
        add(&decoded);
    }
}

fn replace(text: &str, value: &str) -> String {
    let stands_alone = |start: usize| {
        let is_outside = |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric());
        let end = start + value.len();
        is_outside(text[..start].chars().next_back()) && is_outside(text[end..].chars().next())
    };
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for (start, _) in text.match_indices(value) {
        if value.len() >= SHORTEST_ANYWHERE || stands_alone(start) {
            masked.push_str(&text[copied..start]);
            masked.push_str(MASK);
            copied = start + value.len();
        }
    }
    masked.push_str(&text[copied..]);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    #[track_caller]
    fn check(before: &str, after: &str, masked_before: &str, masked_after: &str) {
        let secret = |fields: &str| node(&format!("{{apiVersion: v1, kind: Secret, {fields}}}"));
        let (mut before, mut after) = (secret(before), secret(after));
        mask_both(Some(&mut before), Some(&mut after));
        assert!(same_value(&before, &secret(masked_before)), "{before:?}");
        assert!(same_value(&after, &secret(masked_after)), "{after:?}");
    }

    #[test]
    fn masks_show_what_has_changed() {
        check("data: {a: x}", "data: {a: x}", "data: {a: '***'}", "data: {a: '***'}");
        check(
            "data: {a: x, b: y}",
            "data: {c: z, a: w}",
            "data: {a: '*** (before)', b: '***'}",
            "data: {c: '***', a: '*** (after)'}",
        );
        check(
            "stringData: {a: x}",
            "stringData: {a: 1}",
            "stringData: {a: '*** (before)'}",
            "stringData: {a: '*** (after)'}",
        );
        check("data: {a: x}", "type: y", "data: {a: '***'}", "type: y");
    }

    #[test]
    fn values_of_the_wrong_kind_are_masked_too() {
        check("data: x", "data: {a: y}", "data: '***'", "data: {a: '***'}");
        check(
            "data: {a: {b: x}}",
            "data: {a: [x]}",
            "data: {a: '*** (before)'}",
            "data: {a: '*** (after)'}",
        );
    }

    #[test]
    fn what_kubectl_remembers_of_a_secret_is_masked() {
        let metadata = |value: &str| {
            format!(
                "metadata: {{annotations: {{a: b, \
                 kubectl.kubernetes.io/last-applied-configuration: '{value}'}}}}"
            )
        };
        check(&metadata("x"), &metadata("y"), &metadata("*** (before)"), &metadata("*** (after)"));
    }

    #[test]
    fn only_secrets_are_masked() {
        for other in
            ["{kind: ConfigMap, data: {a: b}}", "{apiVersion: a/v1, kind: Secret, data: {a: b}}"]
        {
            let mut object = node(other);
            mask(&mut object);
            assert!(same_value(&object, &node(other)), "{object:?}");
        }
        let mut secret = node("{kind: Secret, data: {a: b}}");
        mask(&mut secret);
        assert!(same_value(&secret, &node("{kind: Secret, data: {a: '***'}}")));
    }

    #[track_caller]
    fn check_text(fields: &str, text: &str, expected: &str) {
        let secret = node(&format!("{{apiVersion: v1, kind: Secret, {fields}}}"));
        let values = SecretValues::of([&secret, &node("{kind: ConfigMap, data: {a: message}}")]);
        assert_eq!(values.mask(text), expected);
    }

    #[test]
    fn texts_lose_the_values_in_every_form() {
        let password = "data: {password: aHVudGVyMg==}";
        check_text(password, "the message: hunter2", "the message: ***");
        check_text(password, "got \"aHVudGVyMg==\"", "got \"***\"");
        check_text("stringData: {a: hunter2}", "got aHVudGVyMg==", "got ***");
        check_text("stringData: {a: 12345}", "Value:12345}", "Value:***}");
        check_text("stringData: {a: 'say \"friend\"'}", r#""say \"friend\"""#, r#""***""#);
        let key = "stringData: {a: \"-----BEGIN KEY-----\\nMC4CAQAwBQYDK2VwBCIEI\\n-----END\"}";
        check_text(key, "near MC4CAQAwBQYDK2VwBCIEI:", "near ***:");
    }

    #[test]
    fn short_values_are_masked_where_they_stand_alone() {
        check_text("stringData: {a: data}", "data: metadata is data", "***: metadata is ***");
        check_text("stringData: {a: '1'}", "1 of 10", "1 of 10");
        check_text("stringData: {a: longenough}", "xlongenoughx", "x***x");
    }

    #[test]
    fn the_longest_value_is_masked_as_a_whole() {
        check_text("stringData: {a: hunter-two, b: hunter-two-three}", "hunter-two-three", "***");
    }

    #[test]
    fn values_are_not_in_debug_output() {
        let values = SecretValues::of([&node("{kind: Secret, stringData: {a: hunter2}}")]);
        let shown = format!("{values:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    }
}
