//! Merge keys: `<<: *base`, `<<: [*one, *two]`, `<<: {a: b}`.
//!
//! They are resolved the way kustomize does it. The mapping's own keys come first and win, and of
//! several merged mappings the one that is named first wins. But a mapping that is merged and has
//! a merge key itself brings that along unresolved, as if it were a field, and it is resolved only at
//! the very end, weaker than everything else; of several, the first stays. Unless an alias elsewhere
//! had been replaced by that mapping before: that resolves it for good.

use std::collections::{HashMap, HashSet};

use super::{Graph, Id, Kind};
use crate::{Entry, Error, Pos, Tag, Text, compose::keys};

/// A field of a mapping that is not expanded yet.
pub(super) struct Field {
    pub(super) key: Text,
    pub(super) key_pos: Pos,
    pub(super) value: Id,
}

pub(super) struct Fields {
    pub(super) list: Vec<Field>,
    /// How many of them stand in the mapping itself.
    pub(super) own: usize,
    /// The value of the merge key, if there is one to resolve.
    pub(super) merge: Option<Id>,
}

impl Graph<'_> {
    /// The fields of a mapping after its merge key is resolved. One may be left that came with what
    /// was merged.
    pub(super) fn merged_fields(&mut self, id: Id, depth: usize) -> Result<Fields, Error> {
        let mut fields = self.own_fields(id, depth)?;
        let Some(value) = fields.merge.take() else { return Ok(fields) };
        let mut places: HashMap<_, _> = fields
            .list
            .iter()
            .enumerate()
            .map(|(index, field)| (field.key.clone(), index))
            .collect();
        for source in self.merge_sources(value)? {
            let merged = if self.vertices[source].is_settled {
                self.merged_fields(source, depth)?
            } else {
                self.own_fields(source, depth)?
            };
            for field in merged.list {
                match places.get(&field.key) {
                    Some(&index) if index < fields.own => {}
                    Some(&index) => fields.list[index] = field,
                    None => {
                        places.insert(field.key.clone(), fields.list.len());
                        fields.list.push(field);
                    }
                }
            }
            fields.merge = merged.merge.or(fields.merge);
        }
        Ok(fields)
    }

    /// The fields that stand in a mapping.
    fn own_fields(&mut self, id: Id, depth: usize) -> Result<Fields, Error> {
        let len = match &self.vertices[id].kind {
            Kind::Mapping(items) => items.len() / 2,
            _ => 0,
        };
        let mut list = Vec::with_capacity(len);
        let mut merge = None;
        for index in 0..len {
            let key = self.child(id, index * 2);
            let value = self.child(id, index * 2 + 1);
            let key_pos = self.vertices[key].pos;
            let Kind::Scalar(key) = &self.vertices[self.target(key)].kind else {
                return Err(keys::not_a_scalar(key_pos));
            };
            let key = key.clone();
            if key.text == "<<" {
                // Quoted, it merges nothing; kustomize drops it all the same.
                if key.tag == Tag::Merge && merge.replace(value).is_some() {
                    return Err(Error::new("duplicate merge key", key_pos));
                }
                continue;
            }
            if let Err(error) = self.keys.check(&key, key_pos, depth) {
                self.fail_late(error);
            }
            list.push(Field { key: key.text, key_pos, value });
        }
        Ok(Fields { own: list.len(), list, merge })
    }

    /// Resolves a merge key that was left: adds what is not there yet.
    pub(super) fn merge_late(
        &mut self,
        entries: &mut Vec<Entry>,
        value: Id,
        depth: usize,
    ) -> Result<(), Error> {
        let mut known: HashSet<_> = entries.iter().map(|entry| entry.key.clone()).collect();
        for source in self.merge_sources(value)?.into_iter().rev() {
            let merged = self.expand_mapping(source, depth)?;
            entries.extend(merged.into_iter().filter(|entry| known.insert(entry.key.clone())));
        }
        Ok(())
    }

    /// The mappings to merge, the weakest first.
    fn merge_sources(&self, value: Id) -> Result<Vec<Id>, Error> {
        let Kind::Sequence(items) = &self.vertices[value].kind else {
            return Ok(vec![self.merge_source(value)?]);
        };
        items.iter().rev().map(|&item| self.merge_source(item)).collect()
    }

    fn merge_source(&self, id: Id) -> Result<Id, Error> {
        let vertex = &self.vertices[id];
        let problem = match vertex.kind {
            Kind::Mapping(_) => return Ok(id),
            Kind::Alias { target, .. } => match self.vertices[target].kind {
                Kind::Mapping(_) => return Ok(target),
                _ => "invalid map merge: received alias for a non-map value",
            },
            Kind::Sequence(_) => "invalid map merge: received a nested sequence",
            Kind::Scalar(_) => "map merge requires map or sequence of maps as the value",
        };
        Err(Error::new(problem, vertex.pos))
    }
}
