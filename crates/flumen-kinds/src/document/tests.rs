use serde_json::{Value, json};

use super::Document;

#[track_caller]
fn check(text: &str, expected: &Value) {
    let document = Document::read(text.as_bytes()).expect("is a document");
    assert_eq!(document.into_value().as_ref(), Ok(expected), "{text}");
}

#[test]
fn json_and_yaml_are_the_same() {
    check(r#"{"a": [1, 1.0, 1.5, "x", null, true]}"#, &json!({"a": [1, 1, 1.5, "x", null, true]}));
    check("a: [1, 1.0, 1.5, \"x\", null, true]", &json!({"a": [1, 1, 1.5, "x", null, true]}));
    check("", &Value::Null);
    check("# nothing", &Value::Null);
}

#[test]
fn booleans_and_dates_are_those_of_the_old_version() {
    check(
        "a: [yes, No, on, OFF, y, n, maybe]",
        &json!({"a": [true, false, true, false, true, false, "maybe"]}),
    );
    check("a: [\"yes\", 'on']", &json!({"a": ["yes", "on"]}));
    check("a: 2001-01-01", &json!({"a": "2001-01-01"}));
    check("a: [0x10, 1_000, 010]", &json!({"a": [16, 1000, 8]}));
}

#[test]
fn only_the_first_document_counts() {
    check("a: 1\n---\na: 2\n", &json!({"a": 1}));
}

#[test]
fn duplicates_are_told_with_their_line() {
    let check = |text: &str, expected: &[&str]| {
        let document = Document::read(text.as_bytes()).expect("is a document");
        assert_eq!(document.duplicates(), expected);
    };
    check("a: 1\nb: 2\n", &[]);
    check(
        "a: 1\nb:\n  c: 1\n  c: 2\na: 2\n",
        &["line 4: key \"c\" already set in map", "line 5: key \"a\" already set in map"],
    );
    check("{\"a\": 1,\n\"a\": 2}", &["line 2: key \"a\" already set in map"]);
}

#[test]
fn what_is_no_yaml_is_an_error() {
    let error = Document::read(b"a: b: c").expect_err("is no YAML");
    assert_eq!(error, "yaml: mapping values are not allowed in this context");
    assert!(Document::read("[".repeat(5000).as_bytes()).is_err());
}
