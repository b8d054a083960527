//! Objects as the reference sends them.

use std::{fs, path::Path};

use flumen_diff::normalize;
use flumen_testkit::{shared_dir, skip};
use flumen_yaml::{Budget, Node, Text, read, same_value, to_json};

/// One case a line for each rule. The answers were recorded from `normalize.UnstructuredList` of
/// github.com/fluxcd/pkg/ssa v0.76.2.
#[test]
fn own_cases_are_normalised() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/normalize.jsonl");
    judge(&path, |case| Some((case.get("name")?, case.get("object")?, case.get("expect")?)));
}

#[test]
fn recorded_objects_are_normalised() {
    let Some(shared) = shared_dir() else {
        return skip("normalised objects", "the larger corpora are absent");
    };
    for name in ["normalize.jsonl", "normalize-more.jsonl"] {
        judge(&shared.join("corpus/flux").join(name), |case| {
            let (input, expected) =
                (case.at(&["input", "object"])?, case.at(&["expect", "object"])?);
            Some((case.get("id")?, input, expected))
        });
    }
}

/// Normalises the object of every line; says of all that differ how.
#[track_caller]
fn judge(path: &Path, parts: impl Fn(&Node) -> Option<(&Node, &Node, &Node)>) {
    let text = fs::read_to_string(path).expect("cases");
    let mut failures = Vec::new();
    for line in text.lines() {
        let case = parse(line);
        let (name, input, expected) = parts(&case).expect("a case has all parts");
        let mut object = input.clone();
        normalize(&mut object);
        if !same_value(&object, expected) {
            let json = |node| to_json(node).expect("JSON");
            let (name, object, expected) = (json(name), json(&object), json(expected));
            failures.push(format!("{name}\n  sends    {object}\n  expected {expected}"));
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

fn parse(json: &str) -> Node {
    let mut nodes = read(&Text::from(json), 1, &Budget::default()).expect("JSON");
    nodes.pop().expect("a document")
}
