//! Laws that hold for all patches, the first of them that none makes the program fall over.

use flumen_patch::{JsonPatch, strategic_merge};
use flumen_schema::Schema;
use flumen_yaml::{Entry, Map, Node, Pos, Scalar, Style, Tag, Text, Value, to_json};
use proptest::{collection::vec, prelude::*, sample::select};

/// Keys that mean something to a merge, so that random trees are not merely random.
const KEYS: [&str; 12] = [
    "$patch",
    "apiVersion",
    "containerPort",
    "containers",
    "env",
    "finalizers",
    "kind",
    "metadata",
    "name",
    "ports",
    "protocol",
    "spec",
];

fn scalar() -> impl Strategy<Value = Node> {
    let texts = select(vec![
        ("", Tag::Null),
        ("null", Tag::Null),
        ("", Tag::Str),
        ("a", Tag::Str),
        ("b", Tag::Str),
        ("delete", Tag::Str),
        ("replace", Tag::Str),
        ("80", Tag::Int),
        ("80", Tag::Str),
        ("18446744073709551615", Tag::Int),
        ("1.5", Tag::Float),
        (".nan", Tag::Float),
        ("true", Tag::Bool),
        ("2020-01-01", Tag::Timestamp),
        ("Pod", Tag::Str),
        ("v1", Tag::Str),
    ]);
    let styles = select(vec![Style::Plain, Style::DoubleQuoted, Style::Literal]);
    (texts, styles).prop_map(|((text, tag), style)| {
        let scalar = Scalar { text: Text::from(text), tag, style };
        Node::new(Pos::default(), Value::Scalar(scalar))
    })
}

fn map_of(values: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
    vec((select(&KEYS[..]), values), 0..5).prop_map(|fields| {
        let mut map = Map::new();
        for (key, value) in fields {
            map.set(key, value);
        }
        Node::new(Pos::default(), Value::Map(map))
    })
}

fn tree() -> impl Strategy<Value = Node> {
    scalar().prop_recursive(5, 60, 5, |inner| {
        prop_oneof![map_of(inner.clone()), vec(inner, 0..5).prop_map(Node::seq)]
    })
}

/// A pod, so that the lists in it have merge keys.
fn pod() -> impl Strategy<Value = Node> {
    (map_of(tree()), vec(map_of(tree()), 0..6)).prop_map(|(mut pod, containers)| {
        let mut spec = Node::map();
        let fields = spec.as_map_mut().expect("a mapping");
        fields.push(Entry::new("containers", Node::seq(containers)));
        let fields = pod.as_map_mut().expect("a mapping");
        fields.set("apiVersion", Node::string("v1"));
        fields.set("kind", Node::string("Pod"));
        fields.set("spec", spec);
        pod
    })
}

fn path() -> impl Strategy<Value = String> {
    let names =
        select(vec!["spec", "containers", "0", "1", "-1", "-", "name", "", "~1", "99", "env"]);
    vec(names, 0..5).prop_map(|names| names.iter().flat_map(|name| ["/", name]).collect())
}

fn operation() -> impl Strategy<Value = Node> {
    let kinds = select(vec!["add", "remove", "replace", "move", "copy", "test", "other"]);
    (kinds, path(), path(), proptest::option::of(tree())).prop_map(|(kind, path, from, value)| {
        let mut fields = vec![
            Entry::new("op", Node::string(kind)),
            Entry::new("path", Node::string(path)),
            Entry::new("from", Node::string(from)),
        ];
        fields.extend(value.map(|value| Entry::new("value", value)));
        Node::new(Pos::default(), Value::Map(fields.into()))
    })
}

proptest! {
    #[test]
    fn strategic_merges_end_well(mut target in pod(), patch in pod()) {
        let _ = strategic_merge(&mut target, &patch, &Schema::builtin());
    }

    #[test]
    fn strategic_merges_of_anything_end_well(mut target in tree(), patch in tree()) {
        let _ = strategic_merge(&mut target, &patch, &Schema::builtin());
    }

    #[test]
    fn json_patches_end_well(mut target in pod(), operations in vec(operation(), 0..6)) {
        let patch = JsonPatch::parse(&Node::seq(operations)).expect("operations");
        let _ = patch.apply(&mut target);
    }

    #[test]
    fn what_was_added_is_there(mut target in pod(), value in tree()) {
        prop_assume!(to_json(&target).is_ok() && to_json(&value).is_ok());
        let operation = |kind: &str| {
            let fields = [("op", Node::string(kind)), ("path", Node::string("/added")), ("value", value.clone())];
            let fields: Map = fields.into_iter().map(|(key, value)| Entry::new(key, value)).collect();
            Node::new(Pos::default(), Value::Map(fields))
        };
        let patch = Node::seq(vec![operation("add"), operation("test")]);
        let result = JsonPatch::parse(&patch).expect("operations").apply(&mut target);
        prop_assert!(result.is_ok(), "{:?}", result);
    }
}
