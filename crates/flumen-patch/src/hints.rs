//! Schemas that stand in comments.
//!
//! Kustomize reads a comment that is a JSON object as the schema of the field beside or below it:
//!
//! ```yaml
//! parts: # {"type": "array", "x-kubernetes-patch-strategy": "merge"}
//! - one
//! ```
//!
//! Hardly anybody does this, but markers of other tools look the same, and a marker at a list takes
//! away the list's merge keys.

use std::collections::HashMap;

use flumen_yaml::{Budget, Node, Pos, Text};

/// The comment schemas of a file, by the place of the key that they belong to.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    by_key: HashMap<Pos, Node>,
}

impl Hints {
    /// Takes comments with the place of the key that each stands beside or directly above. Those
    /// that are no schema are skipped.
    pub fn new<'t>(comments: impl IntoIterator<Item = (Pos, &'t str)>) -> Self {
        let schemas = comments.into_iter().filter_map(|(pos, text)| Some((pos, schema(text)?)));
        Self { by_key: schemas.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    pub(crate) fn at(&self, pos: Pos) -> Option<&Node> {
        if self.by_key.is_empty() {
            return None;
        }
        self.by_key.get(&pos)
    }
}

/// The schema that a comment is.
fn schema(comment: &str) -> Option<Node> {
    let text = comment.trim_start_matches('#').trim();
    if !text.starts_with('{') {
        return None;
    }
    let node = flumen_yaml::read(&Text::from(text), 1, &Budget::default()).ok()?.pop()?;
    node.as_map().is_some_and(|map| !map.is_empty()).then_some(node)
}
