//! Merging lists by their merge keys.
//!
//! The elements of the patch come first, then what only the target has. How kustomize gets there
//! matters for lists that are not as they should be (duplicates, elements without their key): it
//! collects the merged elements in a new list and then sets every element of the old one into it.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use flumen_yaml::{Map, Node, Text};

use super::{
    DIRECTIVE, Fate, Merge, Type, Unknown, directive,
    keyed::{Arena, ITSELF, Keyed, key_text},
    tuples::Tuples,
};
use crate::{Error, error::NodeKind};

/// Up to this length, duplicates are sought by comparing each with each.
const SCAN_LIMIT: usize = 16;

/// What the elements of a list merge with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    /// Elements of a patch.
    Patch,
    /// Themselves, because the list is new.
    Themselves,
    /// Nothing, because the patch does not name the list.
    Nothing,
}

impl<'a> Merge<'a> {
    pub(super) fn merge_elements(
        &self,
        items: &mut Vec<Node>,
        changes: Vec<&Node>,
        keys: &[&str],
        element: Type<'a>,
    ) -> Result<(), Error> {
        if let [key] = *keys
            && differ(&items.iter().collect::<Vec<_>>(), &[key])
            && differ(&changes, &[key])
        {
            return self.merge_distinct(items, &changes, key, element);
        }
        self.combine(items, changes, keys, element, Other::Patch)
    }

    /// Completes a list that a patch adds.
    pub(super) fn settle_elements(
        &self,
        items: &mut Vec<Node>,
        keys: &[&str],
        element: Type<'a>,
    ) -> Result<(), Error> {
        self.combine(items, Vec::new(), keys, element, Other::Themselves)
    }

    /// Walks a list that the patch does not name.
    pub(super) fn tidy_elements(
        &self,
        items: &mut Vec<Node>,
        keys: &[&str],
        element: Type<'a>,
    ) -> Result<(), Error> {
        if !are_distinct(items, keys) {
            return self.combine(items, Vec::new(), keys, element, Other::Nothing);
        }
        for item in items {
            let element = self.element_type(element, Some(item), None);
            self.tidy(item, element)?;
        }
        Ok(())
    }

    /// The common case of [`Self::combine`]: everything has its key, and nothing has it twice.
    fn merge_distinct(
        &self,
        items: &mut Vec<Node>,
        changes: &[&Node],
        key: &str,
        element: Type<'a>,
    ) -> Result<(), Error> {
        let positions = positions(items, changes, key);
        let mut old: Vec<Option<Node>> = std::mem::take(items).into_iter().map(Some).collect();
        items.reserve(old.len() + changes.len());
        for (change, position) in changes.iter().zip(positions) {
            let mine = position.and_then(|position| old.get_mut(position)?.take());
            let element = self.element_type(element, mine.as_ref(), Some(change));
            let (fate, node) = if let Some(mut mine) = mine {
                (self.merge(&mut mine, change, element)?, mine)
            } else {
                let mut added = self.adopt(change)?;
                (self.settle(&mut added, element, Unknown::Keep)?, added)
            };
            // An element that would be replaced stays as it was.
            if !matches!(fate, Fate::Removed) {
                items.push(node);
            }
        }
        for mut item in old.into_iter().flatten() {
            let element = self.element_type(element, Some(&item), None);
            self.tidy(&mut item, element)?;
            items.push(item);
        }
        Ok(())
    }

    fn combine(
        &self,
        items: &mut Vec<Node>,
        changes: Vec<&Node>,
        keys: &[&str],
        element: Type<'a>,
        other: Other,
    ) -> Result<(), Error> {
        let keys = if keys.is_empty() { &[ITSELF] } else { keys };
        let tuples = Tuples::of(keys, changes.iter().copied().chain(items.iter()));
        if tuples.is_empty() {
            return Ok(());
        }
        let used = tuples.used_keys();
        let used_keys: Vec<&str> =
            keys.iter().zip(&used).filter(|(_, used)| **used).map(|(key, _)| *key).collect();

        let (old_count, change_count) = (items.len(), changes.len());
        let mut arena: Arena<'_> = std::mem::take(items).into_iter().map(Cow::Owned).collect();
        arena.extend(changes.into_iter().map(Cow::Borrowed));
        let mut old = Keyed::new(&used_keys, old_count);
        (0..old_count).for_each(|element| old.push(&arena, element));
        let mut patch = Keyed::new(&used_keys, change_count);
        (old_count..arena.len()).for_each(|element| patch.push(&arena, element));
        let mut merged = Keyed::new(&used_keys, old_count + change_count);
        let mut is_merged = vec![false; arena.len()];

        for tuple in tuples.iter() {
            let all: Vec<&str> = tuple.iter().map(Text::as_str).collect();
            let values: Vec<&str> =
                all.iter().zip(&used).filter(|(_, used)| **used).map(|(value, _)| *value).collect();
            let mine = old.find(&arena, &used_keys, &values);
            let theirs = patch.find(&arena, &used_keys, &values);
            let is_again = theirs
                .and_then(|theirs| is_merged.get_mut(theirs))
                .is_some_and(|seen| std::mem::replace(seen, true));
            match self.combine_pair(&mut arena, mine, theirs, element, other, is_again)? {
                Some(found) if !arena[found].as_map().is_some_and(Map::is_empty) => {
                    merged.set(&arena, &values, found)?;
                }
                _ => old.remove(&arena, &values)?,
            }
        }
        for element in old.elements() {
            append(&mut merged, &arena, &used_keys, element)?;
        }
        *items = collect(arena, &merged);
        Ok(())
    }

    /// Merges an element of the target with one of the patch and says where the result is; none if
    /// nothing is left.
    fn combine_pair(
        &self,
        arena: &mut Arena<'_>,
        mine: Option<usize>,
        theirs: Option<usize>,
        element: Type<'a>,
        other: Other,
        is_again: bool,
    ) -> Result<Option<usize>, Error> {
        let element = self.element_type(
            element,
            mine.map(|mine| arena[mine].as_ref()),
            theirs.map(|theirs| arena[theirs].as_ref()),
        );
        let (fate, place) = match (mine, theirs) {
            (None, None) => return Ok(None),
            (Some(mine), None) => {
                let node = arena[mine].to_mut();
                let fate = match other {
                    Other::Themselves => self.settle(node, element, Unknown::Refuse)?,
                    _ => self.tidy(node, element)?,
                };
                (fate, mine)
            }
            (None, Some(theirs)) => {
                let mut added = self.adopt(&arena[theirs])?;
                // A directive counts once, though the element may be met again.
                if is_again
                    && let Some(map) = added.as_map_mut()
                    && directive(map).is_ok()
                {
                    map.remove(DIRECTIVE);
                }
                let fate = self.settle(&mut added, element, Unknown::Keep)?;
                arena.push(Cow::Owned(added));
                (fate, arena.len() - 1)
            }
            (Some(mine), Some(_)) if is_again => (Fate::Kept, mine),
            (Some(mine), Some(theirs)) => {
                let change = arena[theirs].clone();
                let node = arena[mine].to_mut();
                if node.is_scalar() && change.is_scalar() {
                    (if node.is_null() { Fate::Removed } else { Fate::Kept }, mine)
                } else {
                    (self.merge(node, &change, element)?, mine)
                }
            }
        };
        Ok(match fate {
            Fate::Kept => Some(place),
            Fate::Removed => None,
            Fate::Replaced(node) => {
                arena.push(Cow::Owned(node));
                Some(arena.len() - 1)
            }
        })
    }
}

/// Sets an element of the old list into the new one.
fn append(
    merged: &mut Keyed<'_>,
    arena: &Arena<'_>,
    keys: &[&str],
    element: usize,
) -> Result<(), Error> {
    let node = &arena[element];
    let mut values = Vec::with_capacity(keys.len());
    for key in keys {
        if *key != ITSELF && !node.is_map() && !node.is_null() {
            let (expected, found) = (NodeKind::Mapping, NodeKind::of(node));
            return Err(Error::WrongKind { expected, found, pos: node.pos });
        }
        match key_text(node, key) {
            Some(text) => values.push(text),
            // Kustomize adds such an element once for every key that it lacks.
            None => merged.push(arena, element),
        }
    }
    if keys.len() > 1 {
        merged.remove(arena, &values)?;
    }
    merged.set(arena, &values, element)
}

/// Takes the elements of a list out of the arena.
fn collect(arena: Arena<'_>, list: &Keyed<'_>) -> Vec<Node> {
    let mut uses = vec![0_usize; arena.len()];
    list.elements().for_each(|element| uses[element] += 1);
    let mut arena: Vec<Option<Cow<'_, Node>>> = arena.into_iter().map(Some).collect();
    let mut take = |element: usize| {
        uses[element] -= 1;
        if uses[element] > 0 { arena[element].clone() } else { arena[element].take() }
    };
    list.elements().filter_map(|element| take(element).map(Cow::into_owned)).collect()
}

/// Whether all elements have their keys and differ in them, so that merging them with nothing
/// leaves the list as it is.
fn are_distinct(items: &[Node], keys: &[&str]) -> bool {
    let items: Vec<&Node> = items.iter().collect();
    match keys {
        [] => differ(&items, &[ITSELF]),
        [first, rest @ ..] => {
            differ(&items, &[first]) || (!rest.is_empty() && differ(&items, keys))
        }
    }
}

/// Whether all elements have all of the keys, and no two the same values of them.
fn differ(items: &[&Node], keys: &[&str]) -> bool {
    if items.len() > SCAN_LIMIT {
        let mut seen = HashSet::with_capacity(items.len());
        return items.iter().all(|item| {
            let tuple: Option<Vec<&str>> = keys.iter().map(|key| proper_key(item, key)).collect();
            tuple.is_some_and(|tuple| seen.insert(tuple))
        });
    }
    items.iter().enumerate().all(|(at, item)| {
        let is_same =
            |other: &&Node| keys.iter().all(|key| proper_key(item, key) == proper_key(other, key));
        keys.iter().all(|key| proper_key(item, key).is_some()) && !items[..at].iter().any(is_same)
    })
}

/// The text of a key that is there and says something.
fn proper_key<'n>(item: &'n Node, key: &str) -> Option<&'n str> {
    let value = if key == ITSELF { item } else { item.get(key)? };
    value.as_str().filter(|text| !text.is_empty() && !value.is_null())
}

/// For each change the place of the item that has the same key.
fn positions(items: &[Node], changes: &[&Node], key: &str) -> Vec<Option<usize>> {
    if items.len().saturating_mul(changes.len()) <= SCAN_LIMIT * SCAN_LIMIT {
        let place = |change: &&Node| {
            let wanted = key_text(change, key);
            items.iter().position(|item| key_text(item, key) == wanted)
        };
        return changes.iter().map(place).collect();
    }
    let places: HashMap<&str, usize> = items
        .iter()
        .enumerate()
        .filter_map(|(place, item)| Some((key_text(item, key)?, place)))
        .collect();
    changes.iter().map(|change| places.get(key_text(change, key)?).copied()).collect()
}
