//! Merge keys: `<<: *base`, `<<: [*one, *two]`, `<<: {a: b}`.

use std::collections::HashMap;

use super::{Graph, Id, Kind};
use crate::{Entry, Error};

impl Graph<'_> {
    /// Adds what `value` stands for to the entries of a mapping.
    pub(super) fn merge(
        &mut self,
        entries: &mut Vec<Entry>,
        value: Id,
        depth: usize,
    ) -> Result<(), Error> {
        let own = entries.len();
        let mut places: HashMap<_, _> =
            entries.iter().enumerate().map(|(index, entry)| (entry.key.clone(), index)).collect();
        for source in self.merge_sources(value)? {
            for entry in self.expand_mapping(source, depth)? {
                match places.get(&entry.key) {
                    Some(&index) if index < own => {}
                    Some(&index) => entries[index] = entry,
                    None => {
                        places.insert(entry.key.clone(), entries.len());
                        entries.push(entry);
                    }
                }
            }
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
