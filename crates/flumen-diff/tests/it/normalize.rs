//! Objects as the reference sends them.

use std::{fs, path::Path};

use base64::{Engine as _, prelude::BASE64_STANDARD};
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
    assert!(!text.is_empty(), "{} has no cases", path.display());
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

/// A server refuses a conversion webhook whose authority is no certificate; generators write such as
/// a place holder.
#[test]
fn an_authority_that_is_no_certificate_is_removed() {
    let pem = include_str!("../data/authority.pem");
    let cut = &pem[..pem.len() / 2];
    let two = format!("# made for tests\n{cut}\n{pem}");
    for (authority, is_kept) in [
        (BASE64_STANDARD.encode(pem), true),
        (BASE64_STANDARD.encode(two), true),
        (BASE64_STANDARD.encode(cut), false),
        (BASE64_STANDARD.encode(pem.replace("CERTIFICATE", "PUBLIC KEY")), false),
        ("Cg==".to_owned(), false),
        (pem.to_owned(), false),
        (String::new(), true),
    ] {
        let authority = Node::string(authority);
        let mut definition = parse(
            r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"conversion": {"webhook": {"clientConfig": {"service": {}, "caBundle": ""}}}}}"#,
        );
        let place = ["spec", "conversion", "webhook", "clientConfig"];
        let config = definition.at_mut(&place).and_then(Node::as_map_mut).expect("a mapping");
        config.set("caBundle", authority.clone());
        normalize(&mut definition);
        let config = definition.at(&place).expect("a mapping");
        assert_eq!(config.get("caBundle").is_some(), is_kept, "{authority:?}");
        assert!(config.get("service").is_some());
    }
}
