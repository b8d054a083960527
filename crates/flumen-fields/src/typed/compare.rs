//! How one value differs from another.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Forms, Shape, item_element, items};
use crate::{
    Element, FieldSet,
    order::equal,
    schema::{List, ListMerge, Map, Node, NodeId, Schema},
    set,
};

/// What became of the fields. No field is in two of these sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

pub(crate) fn compare(schema: &Schema, old: &Value, new: &Value) -> Comparison {
    Walk { schema }.both(schema.root(), Some(old), Some(new)).below
}

/// What became of one place, and of those below it. Items with one key are places that may be both
/// removed and added.
#[derive(Default)]
struct Change {
    removed: bool,
    modified: bool,
    added: bool,
    below: Comparison,
}

/// Changes of the places in one value, in any order.
#[derive(Default)]
struct Changes {
    removed: Vec<set::Node>,
    modified: Vec<set::Node>,
    added: Vec<set::Node>,
}

impl Changes {
    fn push(&mut self, element: &Element, change: Change) {
        let Comparison { removed, modified, added } = change.below;
        for (nodes, member, children) in [
            (&mut self.removed, change.removed, removed),
            (&mut self.modified, change.modified, modified),
            (&mut self.added, change.added, added),
        ] {
            if member || !children.is_empty() {
                nodes.push(set::Node { element: element.clone(), member, children });
            }
        }
    }

    fn sets(self) -> Comparison {
        Comparison {
            removed: FieldSet::of_nodes(self.removed),
            modified: FieldSet::of_nodes(self.modified),
            added: FieldSet::of_nodes(self.added),
        }
    }
}

struct Walk<'s> {
    schema: &'s Schema,
}

impl Walk<'_> {
    fn both(&self, node: NodeId, old: Option<&Value>, new: Option<&Value>) -> Change {
        let node = self.schema.node(node);
        match (old.map(|old| Forms::of(node, old)), new.map(|new| Forms::of(node, new))) {
            (Some(was), Some(is)) if was != is => {
                // A value that changes its form is compared as both.
                let (a, b) = (self.shaped(node, was, old, new), self.shaped(node, is, old, new));
                Change {
                    removed: a.removed || b.removed,
                    modified: a.modified || b.modified,
                    added: a.added || b.added,
                    below: Comparison {
                        removed: a.below.removed.union(&b.below.removed),
                        modified: a.below.modified.union(&b.below.modified),
                        added: a.below.added.union(&b.below.added),
                    },
                }
            }
            (was, is) => match is.or(was) {
                Some(forms) => self.shaped(node, forms, old, new),
                None => Change::default(),
            },
        }
    }

    fn shaped(
        &self,
        node: &Node,
        forms: Forms,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> Change {
        let below = match forms.shape(node) {
            Shape::Map(map) if !map.is_atomic() => self.map(map, old, new),
            Shape::List(list) if !matches!(list.merge, ListMerge::Atomic) => {
                self.list(list, old, new)
            }
            Shape::Nothing => return Change::default(),
            _ => None,
        };
        let leaf = below.is_none();
        let below = below.unwrap_or_default();
        match (old, new) {
            (None, _) => Change { added: true, below, ..Change::default() },
            (_, None) => Change { removed: true, below, ..Change::default() },
            (Some(old), Some(new)) => {
                Change { modified: leaf && !equal(old, new), below, ..Change::default() }
            }
        }
    }

    /// None if there are no fields, which makes a leaf of it.
    fn map(&self, map: &Map, old: Option<&Value>, new: Option<&Value>) -> Option<Comparison> {
        let old = old.and_then(Value::as_object).filter(|map| !map.is_empty());
        let new = new.and_then(Value::as_object).filter(|map| !map.is_empty());
        if old.is_none() && new.is_none() {
            return None;
        }
        let mut changes = Changes::default();
        let mut each = |name: &str, old: Option<&Value>, new: Option<&Value>| {
            if let Some(node) = map.field(name).filter(|node| !self.schema.is_managed(*node)) {
                let change = self.both(node, old, new);
                if !change.is_none() {
                    changes.push(&Element::field(name), change);
                }
            }
        };
        let mut added = new.into_iter().flatten().peekable();
        for (name, value) in old.into_iter().flatten() {
            while let Some((name, value)) = added.next_if(|(other, _)| *other < name) {
                each(name, None, Some(value));
            }
            let other = added.next_if(|(other, _)| *other == name).map(|(_, value)| value);
            each(name, Some(value), other);
        }
        for (name, value) in added {
            each(name, None, Some(value));
        }
        Some(changes.sets())
    }

    /// None if there are no items, which makes a leaf of it.
    fn list(&self, list: &List, old: Option<&Value>, new: Option<&Value>) -> Option<Comparison> {
        let (old, new) = (items(old), items(new));
        if old.is_empty() && new.is_empty() {
            return None;
        }
        if old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equal(old, new)) {
            return Some(Comparison::default());
        }
        let mut by_element: BTreeMap<Element, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old {
            if let Ok(element) = item_element(list, item) {
                by_element.entry(element).or_default().0.push(item);
            }
        }
        for item in new {
            if let Ok(element) = item_element(list, item) {
                by_element.entry(element).or_default().1.push(item);
            }
        }
        let mut changes = Changes::default();
        for (element, (old, new)) in by_element {
            let change = self.item(list, &old, &new);
            if !change.is_none() {
                changes.push(&element, change);
            }
        }
        Some(changes.sets())
    }

    /// Items with one key are compared as a whole.
    fn item(&self, list: &List, old: &[&Value], new: &[&Value]) -> Change {
        let node = list.element;
        match (old, new) {
            ([], [_]) | ([_], [] | [_]) => {
                self.both(node, old.first().copied(), new.first().copied())
            }
            ([_, _, ..], [_, _, ..]) => {
                let same = old.len() == new.len() && old.iter().zip(new).all(|(a, b)| equal(a, b));
                Change { modified: !same, ..Change::default() }
            }
            ([_, _, ..], _) => {
                let kept = new.first().map(|item| self.both(node, None, Some(item)));
                Change { removed: true, ..kept.unwrap_or_default() }
            }
            (_, [_, _, ..]) => {
                let gone = old.first().map(|item| self.both(node, Some(item), None));
                Change { added: true, ..gone.unwrap_or_default() }
            }
            ([], []) => Change::default(),
        }
    }
}

impl Change {
    fn is_none(&self) -> bool {
        !(self.removed || self.modified || self.added)
            && self.below.removed.is_empty()
            && self.below.modified.is_empty()
            && self.below.added.is_empty()
    }
}
