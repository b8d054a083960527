//! Applying the operations of a patch, one after the other, in place.

use std::{collections::HashMap, fmt::Display};

use flumen_yaml::{Canonical, Entry, Map, Node, Tag, Text, Value, canonical, to_json};

use super::{
    JsonPatch, normal,
    operation::{Kind, Member, Operation, Source},
    pointer::{self, NoIndex, Place},
};
use crate::Error;

/// What all copies of one patch may add to an object, in bytes of memory: far more than an object
/// may have on a server, and nothing that hurts.
const COPY_BUDGET: usize = 64 << 20;

/// The same limit that the reader has, since what comes later relies on it.
const MAX_DEPTH: usize = 1_000;

impl JsonPatch {
    /// Applies all operations to `target`.
    ///
    /// After an error the target may be changed in part.
    pub fn apply(&self, target: &mut Node) -> Result<(), Error> {
        let mut copied = 0;
        let mut recent = Recent::default();
        for operation in &self.operations {
            let applying = Applying { operation, source: self.source };
            if !recent.set(target, operation) {
                applying.apply(target, &mut copied)?;
            }
        }
        if target.is_seq() {
            let message =
                "json: cannot unmarshal array into Go value of type map[string]interface {}";
            let pos = self.operations.last().map_or(target.pos, |operation| operation.pos);
            return Err(Error::DoesNotApply { message: message.to_owned(), pos });
        }
        normal::normalise(target)
    }
}

/// The mapping that the operations before have set keys of, so that a patch that sets thousands of
/// them does not look through all for each.
#[derive(Default)]
struct Recent<'p> {
    parent: Option<&'p str>,
    positions: HashMap<Text, usize>,
}

/// Mappings up to this size are better looked through.
const SMALL_MAP: usize = 64;

impl<'p> Recent<'p> {
    /// Does an operation that sets a key of the same large mapping as the one before. False if it is
    /// none, and still to be done.
    fn set(&mut self, root: &mut Node, operation: &'p Operation) -> bool {
        let parent = match (&operation.kind, &operation.path) {
            (Kind::Add | Kind::Replace, Member::Path(path)) => path.rsplit_once('/'),
            _ => None,
        };
        let parent = parent.map(|(parent, _)| parent);
        let is_same = parent.is_some() && self.parent == parent;
        if !is_same {
            *self = Self { parent, positions: HashMap::new() };
            return false;
        }
        let (Member::Path(path), Some(value)) = (&operation.path, &operation.value) else {
            return false;
        };
        if !fits(path, value) {
            return false;
        }
        let Some(Place { container, key }) = pointer::find(root, path) else { return false };
        let Some(map) = container.as_map_mut().filter(|map| map.len() > SMALL_MAP) else {
            return false;
        };
        if self.positions.len() != map.len() {
            let keys = map.iter().map(|entry| entry.key.clone());
            self.positions = keys.zip(0..).collect();
        }
        if let Some(position) = self.positions.get(&*key) {
            if let Some(entry) = map.entries_mut().get_mut(*position) {
                entry.value = value.clone();
            }
        } else {
            let key = Text::from(&*key);
            self.positions.insert(key.clone(), map.len());
            map.push(Entry::new(key, value.clone()));
        }
        true
    }
}

/// One operation of a patch.
struct Applying<'p> {
    operation: &'p Operation,
    source: Source,
}

impl<'p> Applying<'p> {
    fn apply(&self, root: &mut Node, copied: &mut usize) -> Result<(), Error> {
        match &self.operation.kind {
            Kind::Add => self.add(root),
            Kind::Remove => self.remove(root),
            Kind::Replace => self.replace(root),
            Kind::Move => self.relocate(root),
            Kind::Copy => self.copy(root, copied),
            Kind::Test => self.test(root),
            Kind::Unknown(kind) => Err(self.error(format!("Unexpected kind: {kind}"))),
        }
    }

    fn add(&self, root: &mut Node) -> Result<(), Error> {
        let path = self.bare_path("add")?;
        let value = self.value();
        self.check_depth(path, &value)?;
        let Some(place) = pointer::find(root, path) else {
            return Err(self.error(format!(
                "add operation does not apply: doc is missing path: \"{path}\": missing value"
            )));
        };
        insert(place, value)
            .map_err(|reason| self.error(format!("error in add for path: '{path}': {reason}")))
    }

    fn remove(&self, root: &mut Node) -> Result<(), Error> {
        let path = self.bare_path("remove")?;
        let Some(place) = pointer::find(root, path) else {
            return Err(self.error(format!(
                "remove operation does not apply: doc is missing path: \"{path}\": missing value"
            )));
        };
        match take(place) {
            Ok(_) => Ok(()),
            Err(reason) => Err(self.error(format!("error in remove for path: '{path}': {reason}"))),
        }
    }

    fn replace(&self, root: &mut Node) -> Result<(), Error> {
        let path = self.path("replace")?;
        let value = self.value();
        if path.is_empty() {
            if value.is_scalar() {
                let message = "replace operation value must be object or array";
                return Err(self.error(message.to_owned()));
            }
            *root = value;
            return Ok(());
        }
        self.check_depth(path, &value)?;
        let Some(Place { container, key }) = pointer::find(root, path) else {
            return Err(self.error(format!(
                "replace operation does not apply: doc is missing path: {path}: missing value"
            )));
        };
        match &mut container.value {
            Value::Map(map) => map.set(&*key, value),
            Value::Seq(items) => {
                let index = pointer::index(&key, items.len(), items.len()).ok();
                let Some(item) = index.and_then(|index| items.get_mut(index)) else {
                    return Err(self.error(format!(
                        "replace operation does not apply: doc is missing key: {path}: missing value"
                    )));
                };
                *item = value;
            }
            Value::Scalar(_) => {}
        }
        Ok(())
    }

    fn relocate(&self, root: &mut Node) -> Result<(), Error> {
        let from = self.from("move")?;
        let Some(place) = pointer::find(root, from) else {
            return Err(self.error(format!(
                "move operation does not apply: doc is missing from path: {from}: missing value"
            )));
        };
        let key = place.key.clone();
        let value = take(place)
            .map_err(|reason| self.error(format!("error in move for path: '{key}': {reason}")))?;
        let path = self.path("move")?;
        self.check_depth(path, &value)?;
        let Some(place) = pointer::find(root, path) else {
            return Err(self.error(format!(
                "move operation does not apply: doc is missing destination path: {path}: missing value"
            )));
        };
        insert(place, value)
            .map_err(|reason| self.error(format!("error in move for path: '{path}': {reason}")))
    }

    fn copy(&self, root: &mut Node, copied: &mut usize) -> Result<(), Error> {
        let from = self.from("copy")?;
        let Some(Place { container, key }) = pointer::find(root, from) else {
            return Err(self.error(format!(
                "copy operation does not apply: doc is missing from path: {from}: missing value"
            )));
        };
        let value = get(container, &key)
            .map_err(|reason| self.error(format!("error in copy for from: '{from}': {reason}")))?;
        *copied = copied.saturating_add(value.map_or(0, size));
        if *copied > COPY_BUDGET {
            return Err(Error::CopyBudget {
                size: *copied,
                limit: COPY_BUDGET,
                pos: self.operation.pos,
            });
        }
        let value = value.map_or_else(Node::null, Node::clone);
        let path = self.bare_path("copy")?;
        self.check_depth(path, &value)?;
        let Some(place) = pointer::find(root, path) else {
            return Err(self.error(format!(
                "copy operation does not apply: doc is missing destination path: {path}: missing value"
            )));
        };
        insert(place, value)
            .map_err(|reason| self.error(format!("error while adding value during copy: {reason}")))
    }

    fn test(&self, root: &mut Node) -> Result<(), Error> {
        let path = self.path("test")?;
        let found = if path.is_empty() {
            Some(&*root)
        } else {
            let Some(Place { container, key }) = pointer::find(root, path) else {
                return Err(self.error(format!(
                    "test operation does not apply: is missing path: {path}: missing value"
                )));
            };
            get(container, &key).map_err(|reason| {
                self.error(format!("error in test for path: '{path}': {reason}"))
            })?
        };
        let wanted = self.operation.value.as_ref().filter(|value| !value.is_null());
        let is_same = match (found.filter(|found| !is_json_null(found)), wanted) {
            (None, None) => true,
            (Some(found), Some(wanted)) => same(found, wanted, self.source),
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        Err(self.error(format!("testing value {path} failed: test failed")))
    }

    /// The value of the operation, or null.
    fn value(&self) -> Node {
        self.operation.value.clone().unwrap_or_else(Node::null)
    }

    fn path(&self, kind: &str) -> Result<&'p str, Error> {
        self.member(
            &self.operation.path,
            kind,
            "path",
            "operation missing path field: missing value",
        )
    }

    /// The path of an operation that never says why it has none.
    fn bare_path(&self, kind: &str) -> Result<&'p str, Error> {
        match &self.operation.path {
            Member::Path(path) => Ok(path),
            _ => Err(self.error(format!("{kind} operation failed to decode path: missing value"))),
        }
    }

    fn from(&self, kind: &str) -> Result<&'p str, Error> {
        self.member(
            &self.operation.from,
            kind,
            "from",
            "operation, missing from field: missing value",
        )
    }

    fn member(
        &self,
        member: &'p Member,
        kind: &str,
        name: &str,
        missing: &str,
    ) -> Result<&'p str, Error> {
        let reason = match member {
            Member::Path(path) => return Ok(path),
            Member::Missing => missing.to_owned(),
            Member::Other(found) => Member::complaint(found),
        };
        Err(self.error(format!("{kind} operation failed to decode {name}: {reason}")))
    }

    fn check_depth(&self, path: &str, value: &Node) -> Result<(), Error> {
        if fits(path, value) {
            return Ok(());
        }
        Err(Error::TooDeep { limit: MAX_DEPTH, pos: self.operation.pos })
    }

    fn error(&self, message: String) -> Error {
        Error::DoesNotApply { message, pos: self.operation.pos }
    }
}

/// Whether a node is null in JSON, which nothing between commas is not.
fn is_json_null(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| matches!(canonical(scalar), Ok(Canonical::Null)))
}

/// The value at a key; none for a key that a mapping lacks.
fn get<'n>(container: &'n Node, key: &str) -> Result<Option<&'n Node>, String> {
    match &container.value {
        Value::Map(map) => Ok(map.get(key)),
        Value::Seq(items) => {
            let index = pointer::index(key, items.len(), items.len()).map_err(text)?;
            Ok(items.get(index))
        }
        Value::Scalar(_) => Ok(None),
    }
}

fn insert(Place { container, key }: Place<'_, '_>, value: Node) -> Result<(), String> {
    match &mut container.value {
        Value::Map(map) => map.set(&*key, value),
        Value::Seq(items) if key == "-" => items.push(value),
        Value::Seq(items) => {
            let end = items.len() + 1;
            let index = pointer::index(&key, end, end).map_err(|error| match error {
                NoIndex::Bounds(_) => text(error),
                _ => format!("value was not a proper array index: '{key}': {error}"),
            })?;
            items.insert(index, value);
        }
        Value::Scalar(_) => {}
    }
    Ok(())
}

fn take(Place { container, key }: Place<'_, '_>) -> Result<Node, String> {
    match &mut container.value {
        Value::Map(map) => map
            .remove(&key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
        Value::Seq(items) => {
            let index = pointer::index(&key, items.len(), items.len()).map_err(text)?;
            Ok(items.remove(index))
        }
        Value::Scalar(_) => Ok(Node::null()),
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

/// Whether a value of the object equals one of the patch.
///
/// The library compares scalars by the bytes of their JSON. Those of the object are what Go's
/// encoder writes, which spells `<`, `>` and `&` as escapes; those of a patch in JSON are as typed.
fn same(found: &Node, wanted: &Node, source: Source) -> bool {
    match (&found.value, &wanted.value) {
        (Value::Map(found), Value::Map(wanted)) => {
            // Sorting both sides keeps large mappings from being compared key by key.
            let sorted = |map: &Map| {
                let mut order: Vec<usize> = (0..map.len()).collect();
                order.sort_unstable_by_key(|at| &map.entries()[*at].key);
                order
            };
            found.len() == wanted.len()
                && sorted(found).into_iter().zip(sorted(wanted)).all(|(left, right)| {
                    let (left, right) = (&found.entries()[left], &wanted.entries()[right]);
                    left.key == right.key && same(&left.value, &right.value, source)
                })
        }
        (Value::Seq(found), Value::Seq(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(found, wanted)| same(found, wanted, source))
        }
        (Value::Scalar(_), Value::Scalar(typed)) => {
            let is_escaped = |char| matches!(char, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
            let Ok(found) = to_json(found) else { return false };
            match (source, typed.tag) {
                (Source::Json, Tag::Int | Tag::Float) => found == typed.text.as_str(),
                (Source::Json, Tag::Str) if typed.text.contains(is_escaped) => false,
                _ => to_json(wanted).is_ok_and(|wanted| found == wanted),
            }
        }
        _ => false,
    }
}

/// About how much memory a copy of the node takes.
fn size(node: &Node) -> usize {
    let own = size_of::<Node>();
    own + match &node.value {
        Value::Map(map) => {
            map.iter().map(|entry| size_of_val(&entry.key) + size(&entry.value)).sum()
        }
        Value::Seq(items) => items.iter().map(size).sum::<usize>(),
        Value::Scalar(scalar) => scalar.text.len(),
    }
}

/// Whether a value at a path is nested no deeper than what can be read.
fn fits(path: &str, value: &Node) -> bool {
    let allowed = MAX_DEPTH.checked_sub(pointer::depth(path));
    allowed.is_some_and(|allowed| is_within(value, allowed))
}

/// Whether a node has at most `levels` of mappings and lists.
fn is_within(node: &Node, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return node.is_scalar() };
    match &node.value {
        Value::Map(map) => map.iter().all(|entry| is_within(&entry.value, below)),
        Value::Seq(items) => items.iter().all(|item| is_within(item, below)),
        Value::Scalar(_) => true,
    }
}
