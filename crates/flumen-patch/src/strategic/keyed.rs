//! Lists whose elements are found by their merge keys.
//!
//! Kustomize builds a merged list by looking through it for every element it sets. The rules by
//! which it looks are odd where elements lack a key, and they show in the output, so they are kept;
//! only the looking is done by a hash table once a list is long.

use std::{borrow::Cow, collections::HashMap};

use flumen_yaml::{Node, Text};

use super::is_blank;
use crate::{Error, error::NodeKind};

/// Up to this length a list is searched element by element.
const SCAN_LIMIT: usize = 16;

/// All elements that take part in a merge; lists refer to them by number.
pub(super) type Arena<'p> = Vec<Cow<'p, Node>>;

/// The name of the key in a list of scalars: the element itself.
pub(super) const ITSELF: &str = "";

/// The text of a key of an element, if it has that key. Mappings and lists have an empty text.
pub(super) fn key_text<'n>(element: &'n Node, key: &str) -> Option<&'n str> {
    let value = if key == ITSELF { element } else { element.get(key)? };
    Some(value.as_str().unwrap_or_default())
}

/// A list of elements of an arena.
#[derive(Debug)]
pub(super) struct Keyed<'k> {
    keys: &'k [&'k str],
    slots: Vec<Option<usize>>,
    /// Slots by the text of the first key. May name slots that have changed since.
    index: Option<HashMap<Text, Vec<usize>>>,
    /// Slots that hold nothing but null or an empty mapping. Any change of the list drops them.
    blanks: Vec<usize>,
    /// Slots whose elements cannot have keys.
    keyless: Vec<usize>,
}

impl<'k> Keyed<'k> {
    /// An empty list that will grow to about `expected` elements.
    pub(super) fn new(keys: &'k [&'k str], expected: usize) -> Self {
        Self {
            keys,
            slots: Vec::with_capacity(expected),
            index: (expected > SCAN_LIMIT).then(|| HashMap::with_capacity(expected)),
            blanks: Vec::new(),
            keyless: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, arena: &Arena<'_>, element: usize) {
        self.slots.push(None);
        self.place(arena, self.slots.len() - 1, element);
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().copied().flatten()
    }

    /// The first element whose keys are `values`, of which empty ones do not count unless all are.
    pub(super) fn find(&self, arena: &Arena<'_>, keys: &[&str], values: &[&str]) -> Option<usize> {
        let any = values.iter().any(|value| !value.is_empty());
        let is_match = |element: &usize| {
            let node = &arena[*element];
            keys.iter()
                .zip(values)
                .filter(|(_, value)| !any || !value.is_empty())
                .all(|(key, value)| key_text(node, key) == Some(value))
        };
        let first = keys.iter().position(|key| Some(key) == self.keys.first());
        let first = first.and_then(|first| values.get(first)).filter(|value| !value.is_empty());
        match (first, &self.index) {
            (Some(first), Some(index)) => {
                let slots = index.get(*first)?.iter();
                slots.filter_map(|slot| self.slots.get(*slot).copied()?).find(is_match)
            }
            _ => self.elements().find(is_match),
        }
    }

    /// Puts `element` where the keys are `values`, or at the end if they are nowhere.
    pub(super) fn set(
        &mut self,
        arena: &Arena<'_>,
        values: &[&str],
        element: usize,
    ) -> Result<(), Error> {
        let matches = self.matches(arena, values)?;
        for slot in &matches {
            self.place(arena, *slot, element);
        }
        if matches.is_empty() && !arena[element].is_null() {
            self.push(arena, element);
        }
        Ok(())
    }

    /// Removes all elements whose keys are `values`.
    pub(super) fn remove(&mut self, arena: &Arena<'_>, values: &[&str]) -> Result<(), Error> {
        for slot in self.matches(arena, values)? {
            self.slots[slot] = None;
        }
        Ok(())
    }

    /// The slots of the elements whose keys are `values`; an empty value asks only for the key to
    /// be there, and so do values that are missing at the end. Without any value nothing matches,
    /// and everything is lost.
    fn matches(&mut self, arena: &Arena<'_>, values: &[&str]) -> Result<Vec<usize>, Error> {
        for slot in std::mem::take(&mut self.blanks) {
            let is_still = |element: usize| is_blank(&arena[element]);
            if self.slots[slot].is_some_and(is_still) {
                self.slots[slot] = None;
            }
        }
        let Some(first) = values.first() else {
            self.slots.clear();
            self.keyless.clear();
            self.index = self.index.take().map(|_| HashMap::new());
            return Ok(Vec::new());
        };
        let of_scalars = self.keys.first().is_none_or(|key| *key == ITSELF);
        if of_scalars || first.is_empty() {
            self.refuse_keyless(arena)?;
        }
        let is_match = |slot: usize| {
            let Some(element) = self.slots[slot] else { return false };
            let node = &arena[element];
            self.keys.iter().zip(values).all(|(key, value)| match key_text(node, key) {
                Some(text) => (value.is_empty() && *key != ITSELF) || text == *value,
                None => false,
            })
        };
        let by_text = of_scalars || !first.is_empty();
        Ok(match &self.index {
            Some(index) if by_text => {
                let slots = index.get(*first).map(Vec::as_slice).unwrap_or_default();
                slots.iter().copied().filter(|slot| is_match(*slot)).collect()
            }
            _ => (0..self.slots.len()).filter(|slot| is_match(*slot)).collect(),
        })
    }

    fn place(&mut self, arena: &Arena<'_>, slot: usize, element: usize) {
        self.slots[slot] = Some(element);
        let node = &arena[element];
        if is_blank(node) {
            self.blanks.push(slot);
        }
        let key = self.keys.first().copied().unwrap_or(ITSELF);
        if (key == ITSELF && !node.is_scalar()) || (key != ITSELF && !node.is_map()) {
            self.keyless.push(slot);
        }
        if let Some(index) = &mut self.index
            && let Some(text) = key_text(node, key)
        {
            let slots = match index.get_mut(text) {
                Some(slots) => slots,
                None => index.entry(Text::from(text)).or_default(),
            };
            if slots.last() != Some(&slot) {
                slots.push(slot);
            }
        }
    }

    /// Kustomize trips over elements that cannot have keys whenever it has to look at them.
    fn refuse_keyless(&self, arena: &Arena<'_>) -> Result<(), Error> {
        let expected = match self.keys.first() {
            Some(&ITSELF) | None => NodeKind::Scalar,
            Some(_) => NodeKind::Mapping,
        };
        let mut nodes = self.keyless.iter().filter_map(|slot| Some(&arena[self.slots[*slot]?]));
        match nodes.find(|node| NodeKind::of(node) != expected) {
            Some(node) => {
                Err(Error::WrongKind { expected, found: NodeKind::of(node), pos: node.pos })
            }
            None => Ok(()),
        }
    }
}
