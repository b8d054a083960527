//! Strategic merge as kustomize does it.
//!
//! The merge walks target and patch together. Mappings merge field by field; lists merge by their
//! merge keys where the schema gives some and are replaced otherwise; scalars are replaced; null
//! removes. Besides that it has habits that show in the output:
//!
//! - What the patch does not name is tidied up all the same: a key without any value disappears,
//!   and lists with merge keys lose duplicates. See [`Merge::tidy`].
//! - What the patch adds is merged with itself: nulls and directives inside take effect. See
//!   [`Merge::settle`].
//! - A scalar keeps the style of the one that it replaces, and a quoted number is a string.
//! - `$patch: replace` does nothing at the top, and in an element of a list that exists already.
//! - `$retainKeys`, `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are fields like others.

mod keyed;
mod list;
#[cfg(test)]
mod tests;
mod tuples;

use std::collections::HashMap;

use flumen_schema::{Schema, TypeRef};
use flumen_yaml::{Entry, Map, Node, Scalar, Style, Tag, Value};

use crate::{Error, Hints, error::NodeKind};

const DIRECTIVE: &str = "$patch";

/// From this number of comparisons on, keys are looked up in a hash table.
const SCAN_LIMIT: usize = 1024;

/// What became of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Kept,
    /// The patch deletes the whole object.
    Deleted,
}

/// What a merge goes by.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub schema: &'a Schema,
    /// Schemas in comments of the target's file.
    pub target_hints: &'a Hints,
    /// Schemas in comments of the patch's file.
    pub patch_hints: &'a Hints,
}

/// Merges `patch` into `target`.
///
/// After an error the target may be merged in part.
pub fn strategic_merge(target: &mut Node, patch: &Node, schema: &Schema) -> Result<Outcome, Error> {
    let none = Hints::default();
    let rules = Rules { schema, target_hints: &none, patch_hints: &none };
    strategic_merge_with(target, patch, rules)
}

/// Merges `patch` into `target`, heeding schemas that stand in comments.
pub fn strategic_merge_with<'a>(
    target: &mut Node,
    patch: &'a Node,
    rules: Rules<'a>,
) -> Result<Outcome, Error> {
    match (Merge { rules, root: patch }).merge(target, patch, None)? {
        // Kustomize forgets to take the new object, so `$patch: replace` at the top does nothing.
        Fate::Kept | Fate::Replaced(_) => Ok(Outcome::Kept),
        Fate::Removed => Ok(Outcome::Deleted),
    }
}

/// What became of a node below the target.
enum Fate {
    Kept,
    Removed,
    /// Another node takes the place of this one, which is unchanged.
    Replaced(Node),
}

#[derive(Clone, Copy)]
enum Directive {
    Delete,
    Replace,
    Merge,
}

/// How to treat a directive that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Refuse,
    /// Kustomize overlooks it in the topmost mapping that a patch adds, and prints it.
    Keep,
}

type Type<'a> = Option<TypeRef<'a>>;

struct Merge<'a> {
    rules: Rules<'a>,
    root: &'a Node,
}

impl<'a> Merge<'a> {
    /// Merges `patch` into `dest`, which exists, though it may be null.
    fn merge(&self, dest: &mut Node, patch: &Node, ty: Type<'a>) -> Result<Fate, Error> {
        if patch.is_null() {
            return Ok(Fate::Removed);
        }
        if dest.is_null() {
            let mut added = self.adopt(patch)?;
            return Ok(match self.settle(&mut added, ty, Unknown::Keep)? {
                Fate::Removed => Fate::Removed,
                _ => Fate::Replaced(added),
            });
        }
        let ty = ty.or_else(|| self.embedded(dest)).or_else(|| self.embedded(patch));
        match (&mut dest.value, &patch.value) {
            (Value::Map(fields), Value::Map(changes)) => match directive(changes)? {
                Some(Directive::Delete) => Ok(Fate::Removed),
                Some(Directive::Replace) => {
                    let mut added = self.adopt(patch)?;
                    self.settle(&mut added, ty, Unknown::Refuse)?;
                    Ok(Fate::Replaced(added))
                }
                found => {
                    let ignored = found.map(|_| DIRECTIVE);
                    self.merge_fields(fields, changes, ignored, ty)?;
                    Ok(Fate::Kept)
                }
            },
            (Value::Seq(items), Value::Seq(changes)) => self.merge_lists(items, changes, patch, ty),
            (Value::Scalar(old), Value::Scalar(new)) => {
                let mut node = Node::new(patch.pos, Value::Scalar(new.clone()));
                if let Value::Scalar(new) = &mut node.value {
                    keep_style(old.style, new);
                }
                *dest = node;
                Ok(Fate::Kept)
            }
            _ => Err(Error::WrongKind {
                expected: NodeKind::of(dest),
                found: NodeKind::of(patch),
                pos: patch.pos,
            }),
        }
    }

    fn merge_fields(
        &self,
        fields: &mut Map,
        changes: &Map,
        ignored: Option<&str>,
        ty: Type<'a>,
    ) -> Result<(), Error> {
        let positions = Positions::new(fields, changes);
        let mut used = vec![false; changes.len()];
        retain(fields, |field| {
            let position = positions.of(&field.key, changes);
            let Some(change) = position.and_then(|position| changes.entries().get(position)) else {
                return self.tidy_field(field, ty);
            };
            if let Some(used) = position.and_then(|position| used.get_mut(position)) {
                *used = true;
            }
            if ignored == Some(change.key.as_str()) {
                return self.tidy_field(field, ty);
            }
            let ty = self.field_type(ty, Some(field), Some(change));
            match self.merge(&mut field.value, &change.value, ty)? {
                Fate::Kept => Ok(true),
                Fate::Removed => Ok(false),
                Fate::Replaced(mut node) => {
                    // A scalar that takes the place of null gets the style of null.
                    if let Some(new) = node.as_scalar_mut() {
                        new.style = Style::Plain;
                    }
                    field.value = node;
                    Ok(true)
                }
            }
        })?;
        // Kustomize makes strings of the outermost keys.
        let root = self.root.as_map().unwrap_or(changes);
        for (change, _) in changes.iter().zip(used).filter(|(_, used)| !used) {
            if ignored == Some(change.key.as_str()) || change.value.is_null() {
                continue;
            }
            if !std::ptr::eq(changes, root) {
                self.check_key(change)?;
            }
            let (key, key_pos) = (change.key.clone(), change.key_pos);
            let mut added = Entry { key, key_pos, value: self.adopt(&change.value)? };
            let ty = self.field_type(ty, None, Some(change));
            if !matches!(self.settle(&mut added.value, ty, Unknown::Keep)?, Fate::Removed) {
                fields.push(added);
            }
        }
        Ok(())
    }

    fn merge_lists(
        &self,
        items: &mut Vec<Node>,
        changes: &[Node],
        patch: &Node,
        ty: Type<'a>,
    ) -> Result<Fate, Error> {
        let Some(keys) = ty.and_then(TypeRef::merge_keys) else {
            return Ok(Fate::Replaced(self.adopt(patch)?));
        };
        let element = ty.and_then(TypeRef::element);
        let Some((directive, text)) = list_directive(changes)? else {
            self.merge_elements(items, changes.iter().collect(), &keys, element)?;
            return Ok(Fate::Kept);
        };
        let changes = changes.iter().filter(|change| !is_elided(change, text));
        match directive {
            Directive::Delete => Ok(Fate::Removed),
            Directive::Merge => {
                self.merge_elements(items, changes.collect(), &keys, element)?;
                Ok(Fate::Kept)
            }
            Directive::Replace => {
                let mut added: Vec<Node> =
                    changes.map(|change| self.adopt(change)).collect::<Result<_, _>>()?;
                self.settle_elements(&mut added, &keys, element)?;
                Ok(Fate::Replaced(Node::new(patch.pos, Value::Seq(added))))
            }
        }
    }

    /// Completes a node that a patch adds, as if it were merged with itself.
    fn settle(&self, node: &mut Node, ty: Type<'a>, unknown: Unknown) -> Result<Fate, Error> {
        let ty = ty.or_else(|| self.embedded(node));
        match &mut node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null => return Ok(Fate::Removed),
            Value::Scalar(_) => {}
            Value::Map(fields) => {
                match directive(fields) {
                    Ok(Some(directive)) => {
                        // Taken out in any case: a list may fail to drop the element.
                        fields.remove(DIRECTIVE);
                        if matches!(directive, Directive::Delete) {
                            return Ok(Fate::Removed);
                        }
                    }
                    Err(error) if unknown == Unknown::Refuse => return Err(error),
                    Ok(None) | Err(_) => {}
                }
                retain(fields, |field| {
                    let ty = self.field_type(ty, None, Some(field));
                    let fate = self.settle(&mut field.value, ty, Unknown::Refuse)?;
                    Ok(!matches!(fate, Fate::Removed))
                })?;
            }
            Value::Seq(items) => {
                let Some(keys) = ty.and_then(TypeRef::merge_keys) else { return Ok(Fate::Kept) };
                // Nobody looks for the directive of a list that is new by itself.
                if unknown == Unknown::Refuse
                    && let Some((directive, text)) = list_directive(items)?
                {
                    if matches!(directive, Directive::Delete) {
                        return Ok(Fate::Removed);
                    }
                    let text = text.to_owned();
                    items.retain(|item| !is_elided(item, &text));
                }
                self.settle_elements(items, &keys, ty.and_then(TypeRef::element))?;
            }
        }
        Ok(Fate::Kept)
    }

    /// Walks a node of the target that the patch does not name.
    fn tidy(&self, node: &mut Node, ty: Type<'a>) -> Result<Fate, Error> {
        let ty = ty.or_else(|| self.embedded(node));
        match &mut node.value {
            Value::Scalar(scalar) if scalar.tag == Tag::Null && scalar.text.is_empty() => {
                return Ok(Fate::Removed);
            }
            Value::Scalar(_) => {}
            Value::Map(fields) => {
                for field in fields.iter_mut() {
                    if !self.tidy_field(field, ty)? {
                        return self.tidy_rest(fields, ty);
                    }
                }
            }
            Value::Seq(items) => {
                if let Some(keys) = ty.and_then(TypeRef::merge_keys) {
                    self.tidy_elements(items, &keys, ty.and_then(TypeRef::element))?;
                }
            }
        }
        Ok(Fate::Kept)
    }

    /// The rare case of [`Self::tidy`]: a field goes.
    fn tidy_rest(&self, fields: &mut Map, ty: Type<'a>) -> Result<Fate, Error> {
        retain(fields, |field| self.tidy_field(field, ty))?;
        Ok(Fate::Kept)
    }

    /// Tidies the value of a field and says whether the field stays.
    fn tidy_field(&self, field: &mut Entry, ty: Type<'a>) -> Result<bool, Error> {
        // Most fields are scalars; they need no type.
        if let Value::Scalar(scalar) = &field.value.value {
            return Ok(scalar.tag != Tag::Null || !scalar.text.is_empty());
        }
        let ty = self.field_type(ty, Some(field), None);
        Ok(!matches!(self.tidy(&mut field.value, ty)?, Fate::Removed))
    }

    /// The type of a field, which a comment in either file may override.
    fn field_type(&self, ty: Type<'a>, field: Option<&Entry>, change: Option<&Entry>) -> Type<'a> {
        let Rules { schema, target_hints, patch_hints } = self.rules;
        let hint = field.and_then(|field| target_hints.of_field(field.key_pos));
        if let Some(hint) =
            hint.or_else(|| change.and_then(|change| patch_hints.of_field(change.key_pos)))
        {
            return Some(schema.describe(hint).unwrap_or_else(|| schema.opaque()));
        }
        ty?.field(&field.or(change)?.key)
    }

    /// The type of an element of a list, which a comment in either file may override.
    fn element_type(&self, ty: Type<'a>, mine: Option<&Node>, theirs: Option<&Node>) -> Type<'a> {
        let Rules { schema, target_hints, patch_hints } = self.rules;
        let hint = mine.and_then(|mine| target_hints.of_element(mine.pos));
        match hint.or_else(|| theirs.and_then(|theirs| patch_hints.of_element(theirs.pos))) {
            Some(hint) => Some(schema.describe(hint).unwrap_or_else(|| schema.opaque())),
            None => ty,
        }
    }

    /// A copy of a node of the patch that becomes part of the target.
    fn adopt(&self, node: &Node) -> Result<Node, Error> {
        if self.rules.patch_hints.has_bare_keys() {
            self.check_keys(node)?;
        }
        Ok(node.clone())
    }

    fn check_keys(&self, node: &Node) -> Result<(), Error> {
        match &node.value {
            Value::Map(map) => map.iter().try_for_each(|entry| {
                self.check_key(entry)?;
                self.check_keys(&entry.value)
            }),
            Value::Seq(items) => items.iter().try_for_each(|item| self.check_keys(item)),
            Value::Scalar(_) => Ok(()),
        }
    }

    fn check_key(&self, entry: &Entry) -> Result<(), Error> {
        if self.rules.patch_hints.is_bare_key(entry.key_pos) {
            return Err(Error::BareKey { key: entry.key.to_string(), pos: entry.key_pos });
        }
        Ok(())
    }

    /// The type of a mapping that states its own API version and kind.
    fn embedded(&self, node: &Node) -> Type<'a> {
        let map = node.as_map()?;
        let get = |key| map.get(key).filter(|value| !value.is_null())?.as_str();
        let (api_version, kind) = (get("apiVersion")?, get("kind")?);
        if api_version.is_empty() || kind.is_empty() {
            return None;
        }
        self.rules.schema.root(api_version, kind)
    }
}

/// The directive of a mapping.
fn directive(map: &Map) -> Result<Option<Directive>, Error> {
    map.get(DIRECTIVE).map(parse_directive).transpose()
}

fn parse_directive(value: &Node) -> Result<Directive, Error> {
    match value.as_str().unwrap_or_default() {
        "delete" => Ok(Directive::Delete),
        "replace" => Ok(Directive::Replace),
        "merge" => Ok(Directive::Merge),
        other => Err(Error::UnknownDirective { directive: other.to_owned(), pos: value.pos }),
    }
}

/// The directive of a list and its text: an element that has nothing but the directive.
///
/// Only the first element that has a directive at all is looked at.
fn list_directive(items: &[Node]) -> Result<Option<(Directive, &str)>, Error> {
    let mut maps = items.iter().filter_map(Node::as_map);
    let Some((map, value)) = maps.find_map(|map| Some((map, map.get(DIRECTIVE)?))) else {
        return Ok(None);
    };
    if map.len() > 1 {
        return Ok(None);
    }
    Ok(Some((parse_directive(value)?, value.as_str().unwrap_or_default())))
}

/// Whether an element goes together with the list directive `text`: it has the same one, or it is
/// empty.
fn is_elided(item: &Node, text: &str) -> bool {
    if is_blank(item) {
        return true;
    }
    item.get(DIRECTIVE).is_some_and(|value| value.as_str().unwrap_or_default() == text)
}

/// Null, or a mapping without fields.
fn is_blank(node: &Node) -> bool {
    node.is_null() || node.as_map().is_some_and(Map::is_empty)
}

/// Gives `new` the style of the scalar that it replaces; in quotes, everything is a string.
fn keep_style(style: Style, new: &mut Scalar) {
    new.style = style;
    if style != Style::Plain && new.tag != Tag::Binary {
        new.tag = Tag::Str;
    }
}

/// `Vec::retain_mut` for a predicate that may fail.
fn retain(
    map: &mut Map,
    mut keep: impl FnMut(&mut Entry) -> Result<bool, Error>,
) -> Result<(), Error> {
    let mut result = Ok(());
    map.entries_mut().retain_mut(|entry| {
        if result.is_err() {
            return true;
        }
        keep(entry).unwrap_or_else(|error| {
            result = Err(error);
            true
        })
    });
    result
}

/// Where the keys of a patch are, without looking through all of them for each key of the target.
enum Positions<'p> {
    Scan,
    Hash(HashMap<&'p str, usize>),
}

impl<'p> Positions<'p> {
    fn new(fields: &Map, changes: &'p Map) -> Self {
        if fields.len().saturating_mul(changes.len()) <= SCAN_LIMIT {
            return Self::Scan;
        }
        let keys = changes.iter().enumerate().map(|(position, change)| (&*change.key, position));
        Self::Hash(keys.collect())
    }

    fn of(&self, key: &str, changes: &Map) -> Option<usize> {
        match self {
            Self::Scan => changes.iter().position(|change| change.key == *key),
            Self::Hash(positions) => positions.get(key).copied(),
        }
    }
}
