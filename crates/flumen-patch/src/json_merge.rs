//! JSON merge patch, RFC 7386.

use std::collections::HashMap;

use flumen_yaml::{Map, Node, Value};

/// From this number of comparisons on, keys are looked up in a hash table.
const SCAN_LIMIT: usize = 1024;

/// Merges `patch` into `target`: mappings merge, null removes, anything else replaces.
pub fn json_merge(target: &mut Node, patch: &Node) {
    let Some(changes) = patch.as_map() else {
        *target = patch.clone();
        return;
    };
    if !target.is_map() {
        *target = Node::new(patch.pos, Value::Map(Map::new()));
    }
    let Some(fields) = target.as_map_mut() else { return };
    let positions: Option<HashMap<String, usize>> =
        (fields.len().saturating_mul(changes.len()) > SCAN_LIMIT).then(|| {
            fields.iter().enumerate().map(|(at, field)| (field.key.to_string(), at)).collect()
        });
    let old = fields.len();
    let mut removed = vec![false; old];
    for change in changes {
        let position = match &positions {
            Some(positions) => positions.get(change.key.as_str()).copied(),
            None => fields.iter().take(old).position(|field| field.key == change.key),
        };
        match position.and_then(|at| Some((at, fields.entries_mut().get_mut(at)?))) {
            Some((at, _)) if change.value.is_null() => removed[at] = true,
            Some((_, field)) => json_merge(&mut field.value, &change.value),
            None if change.value.is_null() => {}
            None => {
                let mut added = change.clone();
                added.value = Node::null();
                json_merge(&mut added.value, &change.value);
                fields.push(added);
            }
        }
    }
    let mut removed = removed.into_iter();
    fields.retain(|_| !removed.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Node, Text, read, to_json};

    use super::json_merge;

    fn parse(text: &str) -> Node {
        read(&Text::from(text), 1, &Budget::default()).expect("valid YAML").remove(0)
    }

    #[track_caller]
    fn check(target: &str, patch: &str, expected: &str) {
        let mut node = parse(target);
        json_merge(&mut node, &parse(patch));
        let printed = |node: &Node| to_json(node).expect("printable");
        assert_eq!(printed(&node), printed(&parse(expected)), "{target} + {patch}");
    }

    /// The examples of the RFC's appendix.
    #[test]
    fn examples_of_the_rfc() {
        for (target, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            check(target, patch, expected);
        }
    }

    #[test]
    fn long_mappings_merge_as_short_ones_do() {
        let keys = |range: std::ops::Range<usize>, value: &str| {
            let keys: Vec<String> = range.map(|n| format!("\"k{n}\": {value}")).collect();
            keys.join(", ")
        };
        let target = format!("{{{}}}", keys(0..2000, "1"));
        let patch = format!("{{{}, {}}}", keys(500..1000, "null"), keys(1500..2500, "2"));
        let expected = format!(
            "{{{}, {}, {}}}",
            keys(0..500, "1"),
            keys(1000..1500, "1"),
            keys(1500..2500, "2")
        );
        check(&target, &patch, &expected);
    }
}
