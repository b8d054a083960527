//! Fields that are not ours to correct.
//!
//! A rule names fields by JSON pointers, and with a selector the objects it is for. Ignored fields
//! are left out of the comparison. When an object is applied for another reason, its ignored
//! fields must not be changed on the way: see [`IgnoredPaths::settle`].

use flumen_expr::LabelSelector;
use flumen_object::Gvk;
use flumen_yaml::{Node, same_value};
use regex_lite::Regex;
use serde::Deserialize;

use crate::{
    managed_fields::{FieldSet, Manager, managers},
    pointer::Pointer,
};

/// A rule as users write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct IgnoreRule {
    pub paths: Vec<String>,
    /// The objects that the rule is for; all, if there is none.
    pub target: Option<Selector>,
}

/// Chooses objects. What is empty matches everything; the first five are regular expressions that
/// have to match as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub name: String,
    pub namespace: String,
    pub label_selector: String,
    pub annotation_selector: String,
}

/// Rules that are ready for use.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules(Vec<(Matcher, Vec<Pointer>)>);

/// The fields of one object that are ignored.
#[derive(Clone, Debug, Default)]
pub struct IgnoredPaths(Vec<Pointer>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IgnoreError {
    #[error("`{0}` is no path of a field")]
    Path(String),
    #[error("invalid {field} regex: {problem}")]
    Pattern { field: &'static str, problem: String },
    #[error("invalid {field} selector: {problem}")]
    Labels { field: &'static str, problem: String },
}

impl IgnoreError {
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Path(_) => "write a JSON pointer such as `/spec/replicas`; `/` in a key is `~1`",
            Self::Pattern { .. } => "the expression has to match the whole text",
            Self::Labels { .. } => "a selector reads like `app=web,tier in (front,back),!legacy`",
        }
    }
}

impl IgnoreRules {
    pub fn new(rules: &[IgnoreRule]) -> Result<Self, IgnoreError> {
        let rules = rules.iter().map(|rule| {
            let pointer =
                |path: &String| Pointer::parse(path).ok_or_else(|| IgnoreError::Path(path.clone()));
            let matcher = rule.target.as_ref().map(Matcher::new).transpose()?.unwrap_or_default();
            Ok((matcher, rule.paths.iter().map(pointer).collect::<Result<_, _>>()?))
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    /// What is ignored of an object, by all the rules that choose it.
    pub fn of(&self, object: &Node) -> IgnoredPaths {
        let rules = self.0.iter().filter(|(matcher, _)| matcher.matches(object));
        let mut paths: Vec<Pointer> = rules.flat_map(|(_, paths)| paths).cloned().collect();
        paths.sort_by(Pointer::cmp_for_removal);
        paths.dedup();
        IgnoredPaths(paths)
    }
}

impl IgnoredPaths {
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn paths(&self) -> &[Pointer] {
        &self.0
    }

    /// Removes what is ignored.
    pub fn strip(&self, node: &mut Node) {
        self.0.iter().for_each(|path| path.remove(node));
    }

    /// Changes what is about to be applied so that ignored fields stay as they are.
    ///
    /// `result` is what the dry-run of `desired` answered. A field that it would change is left out if
    /// somebody else applies it, so that it becomes theirs alone; otherwise leaving it out would
    /// delete it, so it gets the value that it has.
    pub fn settle(&self, desired: &mut Node, live: &Node, result: &Node, owner: &str) {
        let would_change = |path: &&Pointer| match (path.get(live), path.get(result)) {
            (Some(live), Some(result)) => !same_value(live, result),
            (live, result) => live.is_some() != result.is_some(),
        };
        let mut changing = self.0.iter().filter(would_change).peekable();
        if changing.peek().is_none() {
            return;
        }
        let others: Vec<FieldSet> = managers(live)
            .filter(|manager| manager.operation() == "Apply" && manager.subresource().is_empty())
            .filter(|manager| manager.name() != owner)
            .map(Manager::fields)
            .collect();
        for path in changing {
            let is_others = others.iter().any(|fields| fields.has(path, live));
            match path.get(live) {
                Some(value) if !is_others => path.set(desired, value.clone()),
                _ => path.remove(desired),
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Matcher {
    /// Group, version, kind, name and namespace; none matches everything.
    patterns: [Option<Regex>; 5],
    labels: LabelSelector,
    annotations: LabelSelector,
}

impl Matcher {
    fn new(selector: &Selector) -> Result<Self, IgnoreError> {
        let pattern = |field, pattern: &String| match pattern.as_str() {
            "" => Ok(None),
            pattern => Regex::new(&format!("^(?:{pattern})$"))
                .map(Some)
                .map_err(|error| IgnoreError::Pattern { field, problem: error.to_string() }),
        };
        let labels = |field, text: &String| {
            LabelSelector::parse(text).map_err(|problem| IgnoreError::Labels { field, problem })
        };
        Ok(Self {
            patterns: [
                pattern("group", &selector.group)?,
                pattern("version", &selector.version)?,
                pattern("kind", &selector.kind)?,
                pattern("name", &selector.name)?,
                pattern("namespace", &selector.namespace)?,
            ],
            labels: labels("label", &selector.label_selector)?,
            annotations: labels("annotation", &selector.annotation_selector)?,
        })
    }

    fn matches(&self, object: &Node) -> bool {
        let gvk = Gvk::of(object);
        let metadata =
            |key| object.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default();
        let texts = [
            gvk.group.as_str(),
            gvk.version.as_str(),
            gvk.kind.as_str(),
            metadata("name"),
            metadata("namespace"),
        ];
        let value_of =
            |field, key: &str| object.at(&["metadata", field, key]).and_then(Node::as_str);
        let is_match = |(pattern, text): (&Option<Regex>, &str)| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        self.patterns.iter().zip(texts).all(is_match)
            && self.labels.match_with(|key| value_of("labels", key))
            && self.annotations.match_with(|key| value_of("annotations", key))
    }
}

#[cfg(test)]
mod tests;
