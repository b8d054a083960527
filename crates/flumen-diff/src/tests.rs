//! What several tests of this crate need.

use flumen_yaml::{Budget, Node, read};

/// The only document of a text.
pub(crate) fn node(yaml: &str) -> Node {
    let mut documents = read(&yaml.into(), 1, &Budget::default()).expect("YAML");
    assert_eq!(documents.len(), 1, "{yaml}");
    documents.remove(0)
}
