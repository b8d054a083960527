//! What the writer prints, against output recorded from `kustomize build` 5.8.1.
//!
//! `printed/NAME.yaml` is a resource file, `printed/NAME.expected.yaml` what kustomize makes of a
//! kustomization with that file as its only resource.

use std::path::Path;

use flumen_yaml::{
    Budget, Entry, Node, Pos, Text, Value, emit, read, read_resource, same_value, to_blocks,
    to_json,
};

#[track_caller]
fn check(name: &str) {
    let path = |suffix: &str| {
        let file = format!("tests/it/printed/{name}{suffix}");
        Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
    };
    let load = |suffix: &str| std::fs::read_to_string(path(suffix)).expect("recorded data");
    let output = printed(&resource(&load(".yaml")));
    let expected = load(".expected.yaml");
    for (number, (line, wanted)) in output.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, wanted, "line {} of {name}", number + 1);
    }
    assert_eq!(output.len(), expected.len(), "length of {name}");
}

fn resource(yaml: &str) -> Node {
    let node = read_resource(&Text::from(yaml), 1, &Budget::default());
    node.expect("valid YAML").expect("a document")
}

fn printed(node: &Node) -> String {
    let mut out = Vec::new();
    emit(node, &mut out).expect("a tree that can be printed");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn numbers_lose_their_notation() {
    check("numbers");
}

#[test]
fn strings_are_quoted_as_needed() {
    check("strings");
}

#[test]
fn long_lines_are_folded() {
    check("folding");
}

#[test]
fn blocks_keep_or_change_their_text() {
    check("blocks");
}

#[test]
fn keys_are_sorted_and_quoted() {
    check("keys");
}

#[test]
fn collections_are_indented() {
    check("structure");
}

/// The large acceptance set lies beside the checkout, not in it.
#[test]
#[expect(clippy::print_stderr, reason = "says what was skipped")]
fn acceptance_set_is_printed_as_recorded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/yaml");
    let load = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let (Some(input), Some(expected)) = (load("emit-input.yaml"), load("emit-expected.yaml"))
    else {
        eprintln!("skipped: no shared/spec/yaml/emit-input.yaml beside the checkout");
        return;
    };
    let output = printed(&resource(&input));
    for (number, (line, wanted)) in output.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, wanted, "line {}", number + 1);
    }
    assert_eq!(output.len(), expected.len());
}

#[test]
fn what_cannot_be_printed_is_named() {
    let check = |yaml: &str, place: (u32, u32), message: &str| {
        let error = emit(&resource(yaml), &mut Vec::new()).expect_err("nothing to print");
        assert_eq!(error.to_string(), message, "{yaml:?}");
        assert_eq!(error.pos, Pos::new(place.0, place.1), "{yaml:?}");
    };
    check("a:\n- b: .nan\n", (2, 6), "`a[0].b`: JSON has no number for NaN");
    check("x.y: {z: -.inf}\n", (1, 10), "`[\"x.y\"].z`: JSON has no number for -Inf");
    check("a: \"\\x7f\"", (1, 4), "`a`: control character U+007F is not allowed");
    check("b: \"\\x9b\"", (1, 4), "`b`: control character U+009B is not allowed");
    check("\"\\uFFFE\": 1", (1, 1), "`\u{fffe}`: control character U+FFFE is not allowed");
    check("\"a\\Nb\": 1", (1, 1), "`a\u{85}b`: a key must not contain the line break U+0085");
    check(
        "a: \"\\N--- b\"",
        (1, 4),
        "`a`: a line inside the text starts with a document marker (`---` or `...`)",
    );
    check("a: |1\n \tb\n c\n", (1, 4), "`a`: a block of several lines must not start with a tab");
    check(
        "a: 2001-01-01T00:00:00+24:00",
        (1, 4),
        "`a`: a timestamp cannot have a time zone of 24 hours or more",
    );
    let long = "k".repeat(1023);
    check(
        &format!("? {long}\n: 1"),
        (1, 3),
        &format!("`{long}`: the key is longer than 1022 characters of JSON"),
    );
}

/// The reader gives no tree such a key, but patches and generators do.
#[test]
fn a_merge_key_is_not_printed() {
    let entry = |key: &str, value| Entry::new(key, value);
    let inner = Node::new(Pos::default(), Value::Map(vec![entry("<<", Node::string("b"))].into()));
    let node = Node::new(Pos::default(), Value::Map(vec![entry("data", inner)].into()));
    let error = emit(&node, &mut Vec::new()).expect_err("nothing to print");
    assert_eq!(error.to_string(), "`data.<<`: the key `<<` is a merge key when it is read back");
    assert_eq!(to_json(&node).as_deref(), Ok(r#"{"data":{"\u003c\u003c":"b"}}"#));
    assert_eq!(to_blocks(&node).as_deref(), Ok("data:\n \"<<\": \"b\"\n"));
}

#[test]
fn json_has_the_same_values() {
    let node = resource("b: [0x1F, 1e-7, ~, True, 2001-01-01]\na10: >\n  x\n   y\na2: {}\n");
    let compact = to_json(&node).expect("a tree that JSON can say");
    let expected = r#"{"a10":"x\n\n y\n","a2":{},"b":[31,1e-7,null,true,"2001-01-01T00:00:00Z"]}"#;
    assert_eq!(compact, expected);
    let again = read(&Text::from(compact.as_str()), 1, &Budget::default()).expect("JSON is YAML");
    assert_eq!(again.first().map(to_json), Some(Ok(compact)));
}

#[test]
fn the_deepest_tree_is_printed() {
    let deepest = Budget::default().depth;
    let nest = |node: Node, level| match level % 2 {
        0 => Node::seq(vec![node]),
        _ => Node::new(Pos::default(), Value::Map(vec![Entry::new("k", node)].into())),
    };
    let node = (0..deepest).fold(Node::null(), nest);
    let output = printed(&node);
    assert!(output.ends_with("- null\n"), "{}", output.len());
    assert!(to_json(&node).is_ok());
    assert!(same_value(&node, &node.clone()));
}
