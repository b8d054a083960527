//! Objects as they are shown: masked, and without what only the server writes.

use flumen_yaml::{Node, Style, Tag, Value, emit};

use crate::{fields::SERVER_METADATA, mask::mask_both};

/// Two states of an object, ready to be shown beside each other.
pub(crate) fn shown(before: Option<&Node>, after: Option<&Node>) -> (Option<Node>, Option<Node>) {
    let (mut before, mut after) = (before.map(visible), after.map(visible));
    mask_both(before.as_mut(), after.as_mut());
    (before, after)
}

fn visible(object: &Node) -> Node {
    let mut object = object.clone();
    if let Some(fields) = object.as_map_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Node::as_map_mut) {
        metadata.retain(|entry| !SERVER_METADATA.contains(&entry.key.as_str()));
    }
    object
}

/// The object as YAML.
pub(crate) fn yaml(node: &Node) -> String {
    let mut node = node.clone();
    quote(&mut node);
    let mut text = Vec::new();
    match emit(&node, &mut text) {
        Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        // No server answers with it, but a manifest may say it.
        Err(error) => format!("# cannot be shown: {error}\n"),
    }
}

/// Marks strings as quoted. The writer shares the harm that kustomize does to some blocks; what
/// comes from a cluster was never a block.
fn quote(node: &mut Node) {
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| quote(&mut entry.value)),
        Value::Seq(items) => items.iter_mut().for_each(quote),
        Value::Scalar(scalar) if scalar.tag == Tag::Str => scalar.style = Style::DoubleQuoted,
        Value::Scalar(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::node;

    #[test]
    fn what_the_server_writes_is_not_shown() {
        let object = node(
            "{kind: A, metadata: {name: a, namespace: b, uid: c, managedFields: [], generation: 1, \
             resourceVersion: '1', creationTimestamp: null, selfLink: x}, status: {a: b}}",
        );
        let (_, after) = shown(None, Some(&object));
        let text = yaml(&after.expect("a state"));
        assert_eq!(text, "kind: A\nmetadata:\n  name: a\n  namespace: b\n");
    }

    #[test]
    fn secrets_are_masked() {
        let object = node("{kind: Secret, data: {a: canary}}");
        let (_, after) = shown(None, Some(&object));
        assert_eq!(yaml(&after.expect("a state")), "data:\n  a: '***'\nkind: Secret\n");
    }

    #[test]
    fn texts_that_kustomize_could_not_print_are_printed() {
        assert_eq!(yaml(&node(r#"{a: "\tx\ny\n"}"#)), "a: \"\\tx\\ny\\n\"\n");
        assert!(yaml(&node("{a: .nan}")).starts_with("# cannot be shown: "));
    }
}
