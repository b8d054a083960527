//! Expectations are what kustomize 5.8.1 does with version 4 of its patch library.

use flumen_yaml::{Budget, Node, Text, emit, read_resource};

use super::JsonPatch;

const TARGET: &str = r#"
spec:
  list: [a, b]
  map: {k: v}
  html: "<b>"
  million: 1000000
  date: 2020-01-01
  float: 1.0
  none:
  nulls: [null, 1]
"#;

fn read(text: &str) -> Node {
    let node = read_resource(&Text::from(text), 1, &Budget::default());
    node.expect("valid YAML").expect("a document")
}

fn print(node: &Node) -> String {
    let mut out = Vec::new();
    emit(node, &mut out).expect("printable");
    String::from_utf8(out).expect("UTF-8")
}

fn patched(target: &str, patch: &str) -> Result<String, String> {
    let mut node = read(target);
    let patch = JsonPatch::read(&Text::from(patch), 1);
    let result = patch.and_then(|patch| patch.apply(&mut node));
    result.map_err(|error| error.to_string())?;
    Ok(print(&node))
}

/// Applies a patch to `target` and compares with `expected` in any style.
#[track_caller]
fn check(target: &str, patch: &str, expected: &str) {
    assert_eq!(patched(target, patch), Ok(print(&read(expected))), "{target}\n{patch}");
}

/// Applies a patch to [`TARGET`] that must be refused.
#[track_caller]
fn refuse(patch: &str, expected: &str) {
    assert_eq!(patched(TARGET, patch), Err(expected.to_owned()), "{patch}");
}

/// Applies a patch to [`TARGET`] that must not be refused.
#[track_caller]
fn accept(patch: &str) {
    assert!(patched(TARGET, patch).is_ok(), "{patch}: {:?}", patched(TARGET, patch));
}

#[test]
fn add() {
    check("a: {b: 1}", "- {op: add, path: /a/c, value: 2}", "a: {b: 1, c: 2}");
    check("a: {b: 1}", "- {op: add, path: /a/b, value: 2}", "a: {b: 2}");
    check("a: {b: 1}", "- {op: add, path: /a/c}", "a: {b: 1, c: null}");
    check("a: [x, y]", "- {op: add, path: /a/-, value: z}", "a: [x, y, z]");
    check("a: [x, y]", "- {op: add, path: /a/+1, value: z}", "a: [x, z, y]");
    check("a: [x, y]", "- {op: add, path: /a/2, value: z}", "a: [x, y, z]");
    check("a: [x, y]", "- {op: add, path: /a/-1, value: z}", "a: [x, y, z]");
    check("a: [x, y]", "- {op: add, path: /a/-3, value: z}", "a: [z, x, y]");
    check("a: 1", "- {op: add, path: a/b, value: 2}", "a: 1\nb: 2");
    check("a: 1", "- {op: add, path: /, value: 2}", "a: 1\n\"\": 2");
    check("a: {}", "- {op: add, path: /a/x~1y~0z, value: 2}", "a: {x/y~z: 2}");
}

#[test]
fn add_to_what_is_not_there() {
    let missing = |path: &str| {
        format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
    };
    for path in
        ["/nope/x", "/spec/html/x", "/spec/none/x", "/spec/list/9/x", "/spec/list/x/y", "", "x"]
    {
        refuse(&format!("- {{op: add, path: '{path}', value: 1}}"), &missing(path));
    }
    refuse(
        "- {op: add, path: /spec/list/x, value: 1}",
        "error in add for path: '/spec/list/x': value was not a proper array index: 'x': \
         strconv.Atoi: parsing \"x\": invalid syntax",
    );
    refuse(
        "- {op: add, path: /spec/list/3, value: 1}",
        "error in add for path: '/spec/list/3': Unable to access invalid index: 3: invalid index referenced",
    );
    refuse(
        "- {op: add, path: /spec/list/-4, value: 1}",
        "error in add for path: '/spec/list/-4': Unable to access invalid index: -4: invalid index referenced",
    );
}

#[test]
fn remove() {
    check("a: {b: 1, c: 2}", "- {op: remove, path: /a/b}", "a: {c: 2}");
    check("a: [x, y, z]", "- {op: remove, path: /a/-1}", "a: [x, y]");
    refuse(
        "- {op: remove, path: /spec/nope}",
        "error in remove for path: '/spec/nope': Unable to remove nonexistent key: nope: missing value",
    );
    refuse(
        "- {op: remove, path: /spec/list/-}",
        "error in remove for path: '/spec/list/-': strconv.Atoi: parsing \"-\": invalid syntax",
    );
    refuse(
        "- {op: remove, path: ''}",
        "remove operation does not apply: doc is missing path: \"\": missing value",
    );
}

#[test]
fn replace() {
    check("a: {b: 1}", "- {op: replace, path: /a/b, value: [2]}", "a: {b: [2]}");
    check("a: {b: 1}", "- {op: replace, path: /a/c, value: 2}", "a: {b: 1, c: 2}");
    check("a: [x, y]", "- {op: replace, path: /a/-1, value: z}", "a: [x, z]");
    check("a: 1", "- {op: replace, path: '', value: {b: 2}}", "b: 2");
    refuse(
        "- {op: replace, path: /spec/list/9, value: 1}",
        "replace operation does not apply: doc is missing key: /spec/list/9: missing value",
    );
    refuse(
        "- {op: replace, path: /nope/x, value: 1}",
        "replace operation does not apply: doc is missing path: /nope/x: missing value",
    );
    refuse(
        "- {op: replace, path: '', value: x}",
        "replace operation value must be object or array",
    );
    refuse(
        "- {op: replace, path: '', value: [1]}",
        "json: cannot unmarshal array into Go value of type map[string]interface {}",
    );
}

#[test]
fn move_and_copy() {
    check("a: [x, y]\nb: {}", "- {op: move, from: /a/0, path: /b/c}", "a: [y]\nb: {c: x}");
    check("a: [x, y]", "- {op: move, from: /a/0, path: /a/-}", "a: [y, x]");
    check("a: {b: 1}", "- {op: copy, from: /a, path: /c}", "a: {b: 1}\nc: {b: 1}");
    check("a: {b: 1}", "- {op: copy, from: /a/nope, path: /c}", "a: {b: 1}\nc: null");
    refuse(
        "- {op: move, from: /spec/nope, path: /x}",
        "error in move for path: 'nope': Unable to remove nonexistent key: nope: missing value",
    );
    refuse(
        "- {op: move, from: /spec, path: /spec/map/x}",
        "move operation does not apply: doc is missing destination path: /spec/map/x: missing value",
    );
    refuse(
        "- {op: copy, from: /spec/list/9, path: /x}",
        "error in copy for from: '/spec/list/9': Unable to access invalid index: 9: invalid index referenced",
    );
    refuse(
        "- {op: copy, from: /nope/x, path: /x}",
        "copy operation does not apply: doc is missing from path: /nope/x: missing value",
    );
}

#[test]
fn test_compares_values() {
    accept("- {op: test, path: /spec/map, value: {k: v}}");
    accept("- {op: test, path: /spec/list, value: [a, b]}");
    accept("- {op: test, path: /spec/nope, value: null}");
    accept("- {op: test, path: /spec/nope}");
    accept("- {op: test, path: /spec/none, value: ~}");
    accept("- {op: test, path: /spec/float, value: 1.0}");
    accept("- {op: test, path: /spec/html, value: <b>}");
    accept("- {op: test, path: /spec/million, value: 1e6}");
    accept("- {op: test, path: /spec/date, value: 2020-01-01T00:00:00Z}");
    for (path, value) in [
        ("/spec/map", "{k: v, l: 1}"),
        ("/spec/map", "{l: v}"),
        ("/spec/map", "null"),
        ("/spec/list", "[b, a]"),
        ("/spec/nope", "1"),
        ("/spec/none", "x"),
        ("/spec/date", "2020-01-01"),
        ("/spec/million", "\"1000000\""),
        ("", "{}"),
    ] {
        let patch = format!("- {{op: test, path: '{path}', value: {value}}}");
        refuse(&patch, &format!("testing value {path} failed: test failed"));
    }
}

#[test]
fn patches_in_json_are_compared_as_they_are_typed() {
    accept(r#"[{"op": "test", "path": "/spec/float", "value": 1}]"#);
    accept(r#"[{"op": "test", "path": "/spec/map", "value": {"k": "v"}}]"#);
    for (path, value) in
        [("/spec/float", "1.0"), ("/spec/html", "\"<b>\""), ("/spec/million", "1e6")]
    {
        let patch = format!(r#"[{{"op": "test", "path": "{path}", "value": {value}}}]"#);
        refuse(&patch, &format!("testing value {path} failed: test failed"));
    }
}

#[test]
fn values_in_yaml_follow_the_old_rules() {
    check(
        "a: 1",
        "- {op: add, path: /b, value: {a: yes, b: 'yes', c: 2020-01-01, d: 1_000, e: 017, f: Off}}",
        "a: 1\nb: {a: true, b: 'yes', c: '2020-01-01', d: 1000, e: 15, f: false}",
    );
}

#[test]
fn nothing_in_a_flow_collection_is_an_empty_string() {
    check("a: {b: }", "- {op: add, path: /c, value: {d: }}", "a: {b: ''}\nc: {d: null}");
    let error = patched("a: {b: }", "- {op: test, path: /a/b, value: null}");
    assert_eq!(error, Err("testing value /a/b failed: test failed".to_owned()));
}

#[test]
fn keys_in_yaml_follow_the_old_rules() {
    check(
        "a: 1",
        "- op: add\n  path: /b\n  value: {x: 1, y: 2, 'n': 3, \"on\": 4}",
        "a: 1\nb: {x: 1, 'true': 2, 'n': 3, 'on': 4}",
    );
}

#[test]
fn the_whole_object_passes_through_json() {
    check(
        "a: 12345678901234567890\nb: 1.0\nc: 2020-01-01\nd:\ne: 9007199254740993",
        "- {op: test, path: /b, value: 1}",
        "a: 12345678901234567000\nb: 1\nc: '2020-01-01T00:00:00Z'\nd: null\ne: 9007199254740992",
    );
}

#[test]
fn operations_that_are_none() {
    let kind = |kind| format!("Unexpected kind: {kind}");
    refuse("- {op: explode, path: /x}", &kind("explode"));
    refuse("- {op: ADD, path: /x, value: 1}", &kind("ADD"));
    refuse("- {path: /x}", &kind("unknown"));
    refuse("- {op: 5, path: /x}", &kind("unknown"));
    refuse("- null", &kind("unknown"));
    refuse("- {op: add, value: 1}", "add operation failed to decode path: missing value");
    refuse("- {op: add, path: 5, value: 1}", "add operation failed to decode path: missing value");
    refuse(
        "- {op: replace, path: 5, value: 1}",
        "replace operation failed to decode path: json: cannot unmarshal number into Go value of type string",
    );
    refuse(
        "- {op: test, path: null}",
        "test operation failed to decode path: operation missing path field: missing value",
    );
    refuse("- {op: copy, from: /spec}", "copy operation failed to decode path: missing value");
    refuse(
        "- {op: move, path: /spec}",
        "move operation failed to decode from: operation, missing from field: missing value",
    );
}

#[test]
fn texts_that_are_no_patch() {
    refuse("word", "json: cannot unmarshal string into Go value of type jsonpatch.Patch");
    refuse("a: b", "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
    refuse("- a", "json: cannot unmarshal string into Go value of type jsonpatch.Operation");
    refuse(
        "[{op: add, path: /x}]",
        "invalid character 'o' looking for beginning of object key string",
    );
    check("a: 1", "", "a: 1");
    check("a: 1", "# nothing", "a: 1");
    check(
        "a: 1",
        "- {op: add, path: /b, value: 1}\n---\n- {op: add, path: /c, value: 1}",
        "a: 1\nb: 1",
    );
}

#[test]
fn copies_that_double_end_at_the_budget() {
    let copies: Vec<String> =
        (0..40).map(|n| format!("- {{op: copy, from: /spec, path: /spec/k{n}}}")).collect();
    let error = patched(TARGET, &copies.join("\n")).expect_err("too large");
    assert!(error.starts_with("Unable to complete the copy"), "{error}");
}

#[test]
fn objects_do_not_become_too_deep() {
    let value = "[".repeat(900) + &"]".repeat(900);
    let add = |path: &str| format!("{{\"op\": \"add\", \"path\": \"{path}\", \"value\": {value}}}");
    let deep = format!("/x{}", "/0".repeat(899));
    let patch = format!("[{}, {}]", add("/x"), add(&format!("{deep}/-")));
    refuse(&patch, "the patch nests the object deeper than 1000 levels");
    accept(&format!("[{}]", add("/x")));
}

#[test]
fn many_operations_on_one_mapping() {
    let keys = |range: std::ops::Range<usize>, value: &str| -> Vec<String> {
        range.map(|n| format!("  k{n}: {value}")).collect()
    };
    let target = format!("a:\n{}", keys(0..100, "1").join("\n"));
    let set =
        |n: usize| format!("- {{op: {}, path: /a/k{n}, value: 2}}", ["add", "replace"][n % 2]);
    let mut operations: Vec<String> = (50..150).map(set).collect();
    operations.push("- {op: remove, path: /a/k60}".to_owned());
    operations.extend((50..60).map(set));
    operations.push("- {op: add, path: /b, value: 3}".to_owned());
    let expected = [keys(0..50, "1"), keys(50..60, "2"), keys(61..150, "2")].concat();
    let expected = format!("a:\n{}\nb: 3", expected.join("\n"));
    check(&target, &operations.join("\n"), &expected);
}
