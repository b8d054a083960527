//! The recorded cases that some checkouts have beside them.

use serde_json::Value;

/// The cases of a file of Flux's corpus; none, and a note, if there is no corpus.
#[expect(clippy::disallowed_methods, reason = "the corpus is a file")]
pub(crate) fn cases(file: &str) -> Vec<Value> {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip(file, "no `../shared` beside the checkout");
        return Vec::new();
    };
    let text = std::fs::read_to_string(shared.join("corpus/flux").join(file)).expect("a corpus");
    assert!(!text.is_empty(), "{file} has no cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect()
}
