//! The `fieldsV1` of managed fields: a tree of objects whose keys are elements.

use serde_json::{Map, Value};

use crate::{
    FieldSet,
    element::{self, ElementError},
    set::Node,
};

/// Deeper than any object that is read; a bound for the stack all the same.
const MAX_DEPTH: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    #[error("parsing key as path element: {0}")]
    Element(#[from] ElementError),
    #[error("expect {{ or n")]
    NotAnObject,
    #[error("exceeded max depth")]
    Deep,
}

impl FieldSet {
    /// Reads the tree. Keys of unknown kinds are left out, a malformed one makes all of it invalid.
    pub fn from_fields_v1(fields: &Value) -> Result<Self, FieldsError> {
        Ok(read(fields, MAX_DEPTH)?.1)
    }

    pub fn to_fields_v1(&self) -> Value {
        write(self, false)
    }
}

/// Whether the value says that its own place is a member, and what is below.
fn read(fields: &Value, depth: usize) -> Result<(bool, FieldSet), FieldsError> {
    let map = match fields {
        Value::Object(map) => map,
        Value::Null => return Ok((true, FieldSet::new())),
        _ => return Err(FieldsError::NotAnObject),
    };
    let depth = depth.checked_sub(1).ok_or(FieldsError::Deep)?;
    let mut member = false;
    let mut nodes = Vec::with_capacity(map.len());
    for (key, value) in map {
        if key == "." {
            member = true;
            continue;
        }
        let Some(element) = element::parse(key)? else { continue };
        let (member, children) = read(value, depth)?;
        nodes.extend(Node { element, member, children }.kept());
    }
    let children = FieldSet::of_nodes(nodes);
    Ok((member || children.is_empty(), children))
}

fn write(set: &FieldSet, member: bool) -> Value {
    let own = (member && !set.is_empty()).then(|| (".".to_owned(), Value::Object(Map::new())));
    let nodes = set.nodes().iter();
    let below =
        nodes.map(|node| (element::text_of(&node.element), write(&node.children, node.member)));
    Value::Object(own.into_iter().chain(below).collect())
}
