//! What holds for any tree: printing never panics, and what is printed reads back as the same value.

use flumen_yaml::{
    Budget, Entry, Node, Pos, Scalar, Style, Text, Value, emit, read, resolve, same_value, to_json,
};
use proptest::{
    collection::{btree_map, vec},
    prelude::*,
};

/// Pieces that decide about quotes, folding and blocks.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => "[a-z]{1,9}",
        4 => Just(" ".to_owned()),
        2 => Just("\n".to_owned()),
        2 => "[-?:,#&*!|>'\"%@`{}\\[\\]\\\\._+~<=]",
        1 => "[0-9]{1,4}",
        1 => prop_oneof![Just("\t"), Just("\r"), Just("  "), Just("---"), Just(": "), Just(" #")]
            .prop_map(str::to_owned),
        1 => "[éß日\u{a0}\u{2028}\u{2029}\u{feff}\u{fffd}😀\u{1}]",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let short = vec(piece(), 0..6);
    let long = vec(piece(), 20..60);
    prop_oneof![3 => short, 1 => long].prop_map(|pieces| pieces.concat())
}

fn string(style: Style) -> impl Strategy<Value = Node> {
    text().prop_map(move |text| {
        let mut node = Node::string(text);
        if let Some(scalar) = node.as_scalar_mut() {
            scalar.style = style;
        }
        node
    })
}

/// A key that is read back as a key: readers take `<<` for a merge key, and drop it if it is quoted.
fn key() -> impl Strategy<Value = String> {
    text().prop_filter("a merge key", |key| key != "<<")
}

/// A scalar as it would be read from a plain spelling.
fn number() -> impl Strategy<Value = Node> {
    let spelling = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        "[-+]?0[xob][0-9a-f]{1,8}",
        "[-+]?[0-9_]{1,22}(\\.[0-9]{0,6})?([eE][-+]?[0-9]{1,3})?",
        "[12][0-9]{3}-[01]?[0-9]-[0-3]?[0-9]",
        "true|False|null|~|yes|on",
    ];
    spelling.prop_map(|text| {
        let tag = resolve(&text);
        Node::scalar(text, tag)
    })
}

fn tree(scalar: impl Strategy<Value = Node> + 'static) -> impl Strategy<Value = Node> {
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Node::seq),
            btree_map(key(), inner, 0..6).prop_map(|fields| {
                // Not in the order of printing: the writer has to sort.
                let entries = fields.into_iter().rev().map(|(key, value)| Entry::new(key, value));
                Node::new(Pos::default(), Value::Map(entries.collect()))
            }),
        ]
    })
}

fn printed(node: &Node) -> Option<String> {
    let mut out = Vec::new();
    emit(node, &mut out).ok()?;
    Some(String::from_utf8(out).expect("the output is UTF-8"))
}

fn reread(yaml: &str) -> Node {
    let mut nodes = read(&Text::from(yaml), 1, &Budget::default()).expect("the output is YAML");
    assert_eq!(nodes.len(), 1, "one document, not several");
    nodes.remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn values_survive(node in tree(prop_oneof![string(Style::DoubleQuoted), number()])) {
        if let Some(yaml) = printed(&node) {
            prop_assert!(same_value(&reread(&yaml), &node), "{yaml}");
        }
        if let Ok(json) = to_json(&node) {
            prop_assert!(same_value(&reread(&json), &node), "{json}");
        }
    }

    /// Some styles do change text on its way, but only once.
    #[test]
    fn printing_again_changes_nothing(
        node in tree(prop_oneof![
            string(Style::Plain), string(Style::Literal), string(Style::Folded), number()
        ])
    ) {
        if let Some(yaml) = printed(&node) {
            prop_assert_eq!(printed(&reread(&yaml)), Some(yaml));
        }
    }

    #[test]
    fn any_text_is_printed_or_refused(text in any::<String>(), key in any::<String>()) {
        for style in [Style::Plain, Style::SingleQuoted, Style::Literal, Style::Folded] {
            let scalar = Scalar { text: Text::from(text.as_str()), tag: resolve(&text), style };
            let value = Node::new(Pos::default(), Value::Scalar(scalar));
            let fields = vec![Entry::new(key.as_str(), value)];
            let node = Node::new(Pos::default(), Value::Map(fields.into()));
            if let Some(yaml) = printed(&node) {
                prop_assert_eq!(printed(&reread(&yaml)), Some(yaml));
            }
        }
    }
}
