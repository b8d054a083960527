//! Labels and annotations of objects.

use flumen_yaml::{Node, Text};

/// Gives an object a label, or another value to one that it has.
///
/// What is no object, or has something else where labels should be, stays as it is: the server says so.
pub fn set_label(object: &mut Node, key: impl Into<Text> + AsRef<str>, value: &str) {
    set(object, "labels", key, value);
}

/// The same for an annotation.
pub fn set_annotation(object: &mut Node, key: impl Into<Text> + AsRef<str>, value: &str) {
    set(object, "annotations", key, value);
}

fn set(object: &mut Node, place: &str, key: impl Into<Text> + AsRef<str>, value: &str) {
    let pairs = submap(object, "metadata").and_then(|metadata| submap(metadata, place));
    if let Some(pairs) = pairs.and_then(Node::as_map_mut) {
        pairs.set(key, Node::string(value));
    }
}

/// The mapping under `key`, made when it is missing or null. `None` when something else is there.
fn submap<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let map = node.as_map_mut()?;
    if map.get(key).is_none_or(Node::is_null) {
        map.set(key, Node::map());
    }
    map.get_mut(key).filter(|value| value.is_map())
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Text, read, to_json};

    use super::{set_annotation, set_label};

    #[track_caller]
    fn check(before: &str, after: &str) {
        let mut object = read(&Text::from(before), 1, &Budget::default()).expect("YAML").remove(0);
        set_label(&mut object, "a", "b");
        assert_eq!(to_json(&object).as_deref(), Ok(after));
    }

    #[test]
    fn labels_are_made_where_there_are_none() {
        let labelled = r#"{"metadata":{"labels":{"a":"b"}}}"#;
        for before in
            ["{}", "metadata: null", "metadata: {labels: null}", "metadata: {labels: {a: c}}"]
        {
            check(before, labelled);
        }
    }

    #[test]
    fn what_has_no_labels_stays_as_it_is() {
        check("[1]", "[1]");
        check("metadata: {labels: text}", r#"{"metadata":{"labels":"text"}}"#);
    }

    #[test]
    fn annotations_stand_beside_labels() {
        let text = Text::from("metadata: {labels: {a: b}}");
        let mut object = read(&text, 1, &Budget::default()).expect("YAML").remove(0);
        set_annotation(&mut object, "c", "d");
        let expected = r#"{"metadata":{"annotations":{"c":"d"},"labels":{"a":"b"}}}"#;
        assert_eq!(to_json(&object).as_deref(), Ok(expected));
    }
}
