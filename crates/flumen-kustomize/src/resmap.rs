//! The ordered collection of resources that a kustomization accumulates.

use std::cell::OnceCell;

use flumen_schema::Schema;
use flumen_yaml::{Entry, Node, Pos, Text, Value};
use rustc_hash::FxHashMap;

use crate::{
    build_metadata::ORIGIN,
    error::{Error, Result},
    id::ResId,
    resource::{Behavior, Resource, scalar_text},
};

/// Resources in the order in which they were added; no two have the same current id.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResMap {
    resources: Vec<Resource>,
    /// Where each id is. Built when asked for, forgotten when ids may have changed: adding many
    /// resources or absorbing many generators looks each of them up once.
    index: OnceCell<Index>,
    /// Where each current or former name is, for the same reason.
    names: OnceCell<FxHashMap<Text, Vec<usize>>>,
    /// Whether a resource was deleted since empty ones were last dropped. Looking at all of them after
    /// each of many patches would be quadratic.
    has_empties: bool,
}

#[derive(Clone, Debug, Default)]
struct Index {
    current: FxHashMap<ResId, usize>,
    /// Current and former ids.
    any: FxHashMap<ResId, Vec<usize>>,
}

impl Index {
    fn add(&mut self, position: usize, resource: &Resource, schema: &Schema) {
        let id = resource.id(schema).clone();
        for previous in resource.previous_ids().chain([id.clone()]) {
            let places = self.any.entry(previous).or_default();
            if places.last() != Some(&position) {
                places.push(position);
            }
        }
        self.current.insert(id, position);
    }
}

impl ResMap {
    pub(crate) fn len(&self) -> usize {
        self.resources.len()
    }

    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.resources.iter()
    }

    /// All resources, for changes of any kind.
    pub(crate) fn resources_mut(&mut self) -> &mut Vec<Resource> {
        self.index.take();
        self.names.take();
        &mut self.resources
    }

    /// All resources, for changes that leave every id alone.
    pub(crate) fn bodies_mut(&mut self) -> &mut [Resource] {
        &mut self.resources
    }

    pub(crate) fn into_resources(self) -> Vec<Resource> {
        self.resources
    }

    /// Says that the tree of a resource has become empty.
    pub(crate) const fn expect_empties(&mut self) {
        self.has_empties = true;
    }

    /// Drops resources whose tree has become empty. The index is corrected, because many patches may
    /// each delete one resource.
    pub(crate) fn drop_empties(&mut self) {
        if !std::mem::take(&mut self.has_empties) {
            return;
        }
        let is_empty = |resource: &Resource| resource.node().is_nil_or_empty();
        let mut kept = 0;
        let moves: Vec<Option<usize>> = self
            .resources
            .iter()
            .map(|resource| {
                (!is_empty(resource)).then(|| {
                    kept += 1;
                    kept - 1
                })
            })
            .collect();
        let new_place = |place: usize| moves.get(place).copied().flatten();
        // The index knows one place for each id; with two of the same it must be made anew.
        if self.index.get().is_some_and(|index| index.current.len() != self.resources.len()) {
            self.index.take();
        }
        if let Some(index) = self.index.get_mut() {
            index.current.retain(|_, place| new_place(*place).map(|new| *place = new).is_some());
            index.any.retain(|_, places| move_places(places, new_place));
        }
        if let Some(names) = self.names.get_mut() {
            names.retain(|_, places| move_places(places, new_place));
        }
        self.resources.retain(|resource| !is_empty(resource));
    }

    fn index(&self, schema: &Schema) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (position, resource) in self.resources.iter().enumerate() {
                index.add(position, resource, schema);
            }
            index
        })
    }

    /// Adds a resource whose id must be new.
    pub(crate) fn append(&mut self, resource: Resource, schema: &Schema) -> Result<()> {
        let id = resource.id(schema);
        if let Some(&first) = self.index(schema).current.get(id) {
            let hint = match self.resources.get(first) {
                Some(other) => {
                    format!("defined in {} and again in {}", other.origin, resource.origin)
                }
                None => String::new(),
            };
            return Err(Error::new(format!(
                "may not add resource with an already registered id: {id}"
            ))
            .hint(hint));
        }
        self.push(resource, schema);
        Ok(())
    }

    fn push(&mut self, resource: Resource, schema: &Schema) {
        if let Some(index) = self.index.get_mut() {
            index.add(self.resources.len(), &resource, schema);
        }
        self.names.take();
        self.resources.push(resource);
    }

    pub(crate) fn append_all(&mut self, other: Self, schema: &Schema) -> Result<()> {
        if self.resources.is_empty() {
            *self = other;
            return Ok(());
        }
        other.resources.into_iter().try_for_each(|resource| self.append(resource, schema))
    }

    /// Fails if two resources have the same current id, as after a patch that renames.
    pub(crate) fn check_unique(&self, schema: &Schema) -> Result<()> {
        let index = self.index(schema);
        if index.current.len() == self.resources.len() {
            return Ok(());
        }
        for (position, resource) in self.resources.iter().enumerate() {
            let id = resource.id(schema);
            if index.current.get(id) != Some(&position) {
                return Err(Error::new(format!(
                    "may not add resource with an already registered id: {id}"
                )));
            }
        }
        Ok(())
    }

    /// The resources that have or had the id, in order.
    pub(crate) fn by_any_id(&self, id: &ResId, schema: &Schema) -> &[usize] {
        self.index(schema).any.get(id).map_or(&[], Vec::as_slice)
    }

    /// The resources that have or had the name, in order.
    pub(crate) fn by_name(&self, name: &str, schema: &Schema) -> &[usize] {
        let names = self.names.get_or_init(|| {
            let mut names: FxHashMap<Text, Vec<usize>> = FxHashMap::default();
            for (position, resource) in self.resources.iter().enumerate() {
                let previous = resource.previous().iter().map(|previous| &previous.name);
                for name in previous.chain([&resource.id(schema).name]) {
                    let places = names.entry(name.clone()).or_default();
                    if places.last() != Some(&position) {
                        places.push(position);
                    }
                }
            }
            names
        });
        names.get(name).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn by_current_id(&self, id: &ResId, schema: &Schema) -> Option<usize> {
        self.index(schema).current.get(id).copied()
    }

    /// Adds generated resources; each may replace or be merged into one of the same id.
    pub(crate) fn absorb_all(&mut self, other: Self, schema: &Schema) -> Result<()> {
        other.resources.into_iter().try_for_each(|resource| self.absorb(resource, schema))
    }

    fn absorb(&mut self, mut resource: Resource, schema: &Schema) -> Result<()> {
        let behavior = resource.behavior.unwrap_or_default();
        let id = resource.id(schema).clone();
        let place = match self.by_any_id(&id, schema) {
            [] => {
                return match behavior {
                    Behavior::Merge | Behavior::Replace => Err(Error::new(format!(
                        "id {} does not exist; cannot merge or replace",
                        go_syntax(&id)
                    ))
                    .hint("`behavior: merge` and `replace` need a generator of the same name in a base")),
                    _ => self.append(resource, schema),
                };
            }
            [place] => *place,
            _ => {
                return Err(Error::new(format!(
                    "found multiple objects that could accept merge of {id}"
                )));
            }
        };
        let Some(old) = self.resources.get(place) else { return Ok(()) };
        match behavior {
            Behavior::Replace => take_metadata(&mut resource, old),
            Behavior::Merge => {
                take_metadata(&mut resource, old);
                merge_data(&mut resource, old, "data");
                merge_data(&mut resource, old, "binaryData");
                if let Some(origin) = old.annotation(ORIGIN) {
                    let origin = Text::from(origin);
                    resource.set_annotation(ORIGIN, origin);
                }
            }
            _ => {
                return Err(Error::new(format!(
                    "id {} exists; can not use behavior: '{}', behavior must be merge or replace",
                    go_syntax(&id),
                    behavior.as_str()
                ))
                .hint(format!("the other one comes from {}", old.origin)));
            }
        }
        // Name and namespace are those of the old resource now, and so are its former ids.
        self.resources[place] = resource;
        Ok(())
    }
}

/// Moves places of the index; false if none is left.
fn move_places(places: &mut Vec<usize>, new_place: impl Fn(usize) -> Option<usize>) -> bool {
    places.retain_mut(|place| new_place(*place).map(|new| *place = new).is_some());
    !places.is_empty()
}

/// Labels, annotations, name, namespace and history of `old`; where both have a key, the newer wins.
fn take_metadata(resource: &mut Resource, old: &Resource) {
    for field in ["labels", "annotations"] {
        let merged = merge_strings(
            entries(old.node(), &["metadata", field]),
            entries(resource.node(), &["metadata", field]),
        );
        resource.set_metadata_strings(field, merged);
    }
    resource.set_name(Text::from(old.name()));
    resource.set_namespace(&Text::from(old.namespace()));
    resource.take_history_of(old);
    resource.behavior = old.behavior;
    resource.needs_hash = resource.needs_hash && old.needs_hash;
    resource.var_names.clone_from(&old.var_names);
}

fn merge_data(resource: &mut Resource, old: &Resource, field: &'static str) {
    let merged = merge_strings(entries(old.node(), &[field]), entries(resource.node(), &[field]));
    let Some(map) = resource.node_mut().as_map_mut() else { return };
    map.remove(field);
    if !merged.is_empty() {
        let entries = merged.into_iter().map(|(key, value)| Entry::new(key, Node::string(value)));
        map.push(Entry::new(field, Node::new(Pos::default(), Value::Map(entries.collect()))));
    }
}

fn entries<'a>(node: &'a Node, path: &[&str]) -> &'a [Entry] {
    node.at(path).and_then(Node::as_map).map_or(&[], |map| map.entries())
}

fn merge_strings(old: &[Entry], new: &[Entry]) -> Vec<(Text, Text)> {
    let mut merged = std::collections::BTreeMap::new();
    for entry in old.iter().chain(new) {
        merged.insert(entry.key.clone(), Text::from(scalar_text(&entry.value)));
    }
    merged.into_iter().collect()
}

/// An id as Go prints it with `%#v`, which is what kustomize's messages show.
fn go_syntax(id: &ResId) -> String {
    format!(
        "resid.ResId{{Gvk:resid.Gvk{{Group:{:?}, Version:{:?}, Kind:{:?}, isClusterScoped:{}}}, \
         Name:{:?}, Namespace:{:?}}}",
        id.gvk.group, id.gvk.version, id.gvk.kind, id.cluster_scoped, id.name, id.namespace
    )
}
