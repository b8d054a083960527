//! Ids, order and stages as recorded from the reference.

use std::{collections::BTreeSet, fs};

use flumen_object::{Object, ObjectId, Origin, Stage};
use flumen_yaml::{Budget, Node, Text, read};

/// The text at a path, empty if there is none.
fn text<'a>(node: &'a Node, path: &[&str]) -> &'a str {
    node.at(path).and_then(Node::as_str).unwrap_or_default()
}

fn texts(node: Option<&Node>) -> Vec<&str> {
    node.and_then(Node::as_seq).into_iter().flatten().filter_map(Node::as_str).collect()
}

fn object(node: &Node) -> Object {
    Object { node: node.clone(), origin: Origin::default() }
}

fn check_parsing(id: &str, expected: &Node) {
    match (ObjectId::from_inventory(id, "v1"), expected.get("error")) {
        (Ok(parsed), None) => {
            let parts = [&parsed.namespace, &parsed.name, &parsed.gvk.group, &parsed.gvk.kind];
            let wanted = ["namespace", "name", "group", "kind"].map(|key| text(expected, &[key]));
            assert_eq!(parts.map(Text::as_str), wanted, "{id}");
            assert_eq!(parsed.inventory_id(), text(expected, &["id"]), "{id}");
        }
        (Err(error), Some(wanted)) => {
            assert_eq!(Some(error.to_string().as_str()), wanted.as_str(), "{id}");
        }
        (parsed, _) => panic!("{id}: {parsed:?}"),
    }
}

fn check_writing(node: &Node, expected: &Node) {
    let id = object(node).id();
    assert_eq!(id.inventory_id(), text(expected, &["id"]));
    assert_eq!(id.to_string(), text(expected, &["subject"]));
    assert_eq!(id.gvk.version, text(expected, &["v"]));
}

fn check_order(objects: &[Node], expected: &Node) {
    let mut ids: Vec<ObjectId> = objects.iter().map(|node| object(node).id()).collect();
    let written = |ids: &[ObjectId]| ids.iter().map(ObjectId::inventory_id).collect::<Vec<_>>();
    ids.sort_by(ObjectId::cmp_for_apply);
    assert_eq!(written(&ids), texts(expected.get("apply")));
    ids.sort_by(ObjectId::cmp_for_delete);
    assert_eq!(written(&ids), texts(expected.get("delete")));

    ids.sort_by(ObjectId::cmp_for_apply);
    for (stage, name) in
        [(Stage::Definitions, "definitions"), (Stage::Classes, "classes"), (Stage::Rest, "rest")]
    {
        let of_stage = ids.iter().filter(|id| Stage::of(id, &BTreeSet::new()) == stage);
        let found: Vec<String> = of_stage.map(ObjectId::inventory_id).collect();
        assert_eq!(found, texts(expected.at(&["stages", name])), "{name}");
    }
}

#[test]
fn ids_order_and_stages_are_those_of_the_reference() {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("ids, order and stages", "no shared corpus");
        return;
    };
    let cases = fs::read_to_string(shared.join("corpus/flux/inventory.jsonl")).expect("corpus");
    let mut checked = 0;
    for line in cases.lines() {
        let case = read(&line.into(), 1, &Budget::default()).expect("a case").remove(0);
        let (Some(input), Some(expected)) = (case.get("input"), case.get("expect")) else {
            panic!("no case: {line}");
        };
        if let Some(id) = input.get("id").and_then(Node::as_str) {
            check_parsing(id, expected);
        } else if let Some(node) = input.get("object") {
            check_writing(node, expected);
        } else if let Some(objects) = input.get("objects").and_then(Node::as_seq) {
            check_order(objects, expected);
        } else {
            // Histories are the engine's.
            continue;
        }
        checked += 1;
    }
    assert!(checked > 0, "the corpus has no such cases");
}
