//! The rules of component files, as others wrote them down.

use std::fs;

use flumen_pipeline::config::Components;
use flumen_testkit::{shared_dir, skip};
use flumen_yaml::{Budget, Node, Text};

/// The table that several programs check component files by; ours is in the unit tests.
#[test]
fn acceptance_01_the_shared_table_is_followed() {
    let Some(shared) = shared_dir() else {
        return skip("component validation table", "no `../shared` beside the checkout");
    };
    let table = fs::read_to_string(shared.join("corpus/pipeline/config-validation.yaml"));
    let table = Text::from(table.expect("the table"));
    let documents = flumen_yaml::read(&table, 1, &Budget::default()).expect("YAML");
    let rows = documents[0].as_seq().expect("a list");
    assert!(rows.len() >= 19, "only {} rows", rows.len());
    for row in rows {
        check_row(row);
    }
}

fn check_row(row: &Node) {
    let field = |name: &str| row.get(name).and_then(Node::as_str);
    let name = field("name").expect("a name");
    let component = flumen_yaml::to_json(row.get("component").expect("a component"));
    let dir = tempfile::tempdir().expect("scratch directory");
    fs::write(dir.path().join("c.json"), component.expect("JSON")).expect("file");

    let loaded = Components::load(dir.path()).expect("directory");
    let source = loaded.components.get("c").map(|component| component.source.kind());
    assert_eq!(source, field("sourceType"), "{name}: {:?}", loaded.errors);
    let error = loaded.errors.first().map(ToString::to_string);
    assert_eq!(error.as_deref(), field("error"), "{name}");
}
