//! What is wrong with a value, in the words of Go.

use std::fmt::Write as _;

use super::{Step, Walk};
use crate::decode::leaf;

/// Go notes no more unknown and repeated fields than these.
const MAX_STRICT: usize = 100;

/// What stands in the path of a field that is unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    All,
    NoKeys,
}

impl Walk<'_> {
    /// Keeps the first wrong type. The others are not even put into words: there may be as many as
    /// the body has values.
    pub(super) fn note(&mut self, error: impl FnOnce(&Self) -> String) {
        if self.error.is_none() {
            self.error = Some(error(self));
        }
    }

    pub(super) fn mismatch(&self, what: &str, go_type: &str) -> String {
        let mut path = String::new();
        for step in &self.path {
            if let Step::Field(of, name) = step {
                leaf::push_field(&mut path, self.api, of, name);
            }
        }
        match self.reader.or(self.owner) {
            Some(owner) => format!(
                "json: cannot unmarshal {what} into Go struct field {}.{path} of type {go_type}",
                owner.go_name()
            ),
            None => format!("json: cannot unmarshal {what} into Go value of type {go_type}"),
        }
    }

    pub(super) fn note_strict(&mut self, what: &str, name: &str) {
        if self.is_quiet || self.strict.len() >= MAX_STRICT {
            return;
        }
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => _ = write!(path, "[{index}]"),
                Step::Key(_) if self.names == Names::NoKeys => {}
                Step::Key(name) | Step::Field(_, name) => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
            }
        }
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(name);
        let error = format!("{what} field {path:?}");
        if !self.strict.contains(&error) {
            self.strict.push(error);
        }
    }
}
