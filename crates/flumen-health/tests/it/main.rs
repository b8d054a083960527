//! Health of objects, seen from outside the crate.

mod corpus;
mod expressions;
mod hostile;
mod kinds;

use flumen_yaml::Node;

/// Reads one document.
fn node(yaml: &str) -> Node {
    let budget = flumen_yaml::Budget::default();
    flumen_yaml::read(&yaml.into(), 1, &budget).expect("YAML").pop().expect("a document")
}
