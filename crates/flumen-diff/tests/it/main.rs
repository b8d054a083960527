//! Everything that this crate does to whole objects, judged by recorded cases.
#![allow(clippy::disallowed_methods, reason = "tests read recorded data")]

mod differences;
mod normalize;
mod plans;

use std::fs;

use flumen_yaml::{Budget, Node, read};

/// The only document of a text.
fn node(yaml: &str) -> Node {
    let mut documents = read(&yaml.into(), 1, &Budget::default()).expect("YAML");
    assert_eq!(documents.len(), 1, "{yaml}");
    documents.remove(0)
}

/// The cases of a file of the corpus; none, and a line that says so, if there is no corpus.
fn corpus(name: &str) -> Vec<Node> {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip(name, "no shared corpus");
        return Vec::new();
    };
    let text = fs::read_to_string(shared.join("corpus/pipeline").join(name)).expect("corpus");
    let cases = node(&text).as_seq().cloned().unwrap_or_default();
    assert!(!cases.is_empty(), "{name} has no cases");
    cases
}
