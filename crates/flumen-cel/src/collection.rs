//! Lists and mappings: those of an object, with what is known of them, and those that are made.

use std::{collections::BTreeMap, rc::Rc};

use flumen_yaml::Node;
use serde_json::Value as Json;

use crate::{
    Budget, Fault,
    shape::{Identity, Shape, ShapeKind},
    value::Value,
};

#[derive(Clone, Debug)]
pub enum List<'a> {
    Nodes(&'a [Node]),
    /// With the shape of the list, if it is known.
    Json(&'a [Json], Option<&'a Shape>),
    Made(Rc<Vec<Value<'a>>>),
}

#[derive(Clone, Debug)]
pub enum Entries<'a> {
    Nodes(&'a flumen_yaml::Map),
    /// With the shape of the mapping, if it is known.
    Json(&'a serde_json::Map<String, Json>, Option<&'a Shape>),
    Made(Rc<Vec<(Value<'a>, Value<'a>)>>),
}

impl<'a> List<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nodes(nodes) => nodes.len(),
            Self::Json(items, _) => items.len(),
            Self::Made(values) => values.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Nodes(nodes) => nodes.get(index).map(Value::from),
            Self::Json(items, shape) => items.get(index).map(|item| part(item, element(*shape))),
            Self::Made(values) => values.get(index).cloned(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Value<'a>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// The shape of the list, where it is known and its elements are not told apart by their places.
    fn unordered(&self) -> Option<(&'a [Json], &'a Shape, &'a Identity)> {
        match self {
            Self::Json(items, Some(shape)) => match &shape.kind {
                ShapeKind::List { identity: Identity::Place, .. } => None,
                ShapeKind::List { identity, .. } => Some((items, shape, identity)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Equality of lists whose order does not count; `None` where it does.
    pub(crate) fn equals_unordered(
        &self,
        other: &Self,
        budget: &mut Budget,
    ) -> Result<Option<bool>, Fault> {
        let Some((items, shape, identity)) = self.unordered() else { return Ok(None) };
        let Self::Json(others, _) = other else { return Ok(None) };
        budget.spend(2 * self.len() as u64)?;
        let known: BTreeMap<String, &Json> =
            items.iter().map(|item| (identity.of(item), item)).collect();
        for item in *others {
            let Some(same) = known.get(&identity.of(item)) else { return Ok(Some(false)) };
            let shape = element(Some(shape));
            if !part(same, shape).equals(&part(item, shape), budget)? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// Two lists as one. Where elements are told apart, the second list replaces and adds.
    pub(crate) fn joined(&self, other: &Self) -> Vec<Value<'a>> {
        let (Some((items, shape, identity)), Self::Json(others, _)) = (self.unordered(), other)
        else {
            return self.iter().chain(other.iter()).collect();
        };
        let mut places: BTreeMap<String, usize> =
            items.iter().enumerate().map(|(place, item)| (identity.of(item), place)).collect();
        let mut joined: Vec<&Json> = items.iter().collect();
        for item in *others {
            let place = *places.entry(identity.of(item)).or_insert(joined.len());
            if place == joined.len() {
                joined.push(item);
            } else {
                joined[place] = item;
            }
        }
        joined.into_iter().map(|item| part(item, element(Some(shape)))).collect()
    }

    /// Whether an element equals a value.
    pub(crate) fn contains(&self, value: &Value<'a>, budget: &mut Budget) -> Result<bool, Fault> {
        for element in self.iter() {
            if element.equals(value, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<'a> Entries<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nodes(map) => map.len(),
            Self::Json(map, _) => map.len(),
            Self::Made(entries) => entries.len(),
        }
    }

    /// The value of a key. Most mappings are searched from the start, and that has its price.
    pub(crate) fn get(
        &self,
        key: &Value<'a>,
        budget: &mut Budget,
    ) -> Result<Option<Value<'a>>, Fault> {
        match self {
            Self::Nodes(map) => {
                budget.spend(1 + map.len() as u64 / 16)?;
                let Value::Text(key) = key else { return Ok(None) };
                Ok(map.get(key).map(Value::from))
            }
            Self::Json(map, shape) => {
                budget.spend(1)?;
                let Value::Text(key) = key else { return Ok(None) };
                let (name, shape) = match shape {
                    Some(Shape { kind: ShapeKind::Map(value), .. }) => {
                        (key.as_str(), Some(value.as_ref()))
                    }
                    Some(shape) => match shape.field(key) {
                        Some(field) => (field.name.as_str(), Some(field.shape.as_ref())),
                        None => return Ok(None),
                    },
                    None => (key.as_str(), None),
                };
                Ok(map.get(name).map(|value| part(value, shape)))
            }
            Self::Made(entries) => {
                for (candidate, value) in entries.iter() {
                    if candidate.equals(key, budget)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
        }
    }

    /// All entries. Steps are paid for beforehand, by [`Entries::len`].
    pub(crate) fn to_vec(&self) -> Vec<(Value<'a>, Value<'a>)> {
        match self {
            Self::Nodes(map) => map
                .entries()
                .iter()
                .map(|entry| (Value::text(entry.key.as_str()), Value::from(&entry.value)))
                .collect(),
            Self::Json(map, shape) => map
                .iter()
                .map(|(key, value)| {
                    let shape = shape.and_then(|shape| shape.field_of_json(key));
                    (Value::text(key.as_str()), part(value, shape))
                })
                .collect(),
            Self::Made(entries) => entries.as_ref().clone(),
        }
    }
}

fn part<'a>(json: &'a Json, shape: Option<&'a Shape>) -> Value<'a> {
    match shape {
        Some(shape) => Value::shaped(json, shape),
        None => Value::from(json),
    }
}

fn element(shape: Option<&Shape>) -> Option<&Shape> {
    shape.and_then(Shape::element).map(AsRef::as_ref)
}

impl Identity {
    fn of(&self, item: &Json) -> String {
        match self {
            Self::Keys(keys) => {
                let mut text = String::new();
                for key in keys {
                    text.push_str(&item.get(key).unwrap_or(&Json::Null).to_string());
                    text.push('\0');
                }
                text
            }
            Self::Place | Self::Value => item.to_string(),
        }
    }
}
