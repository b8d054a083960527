//! Puts what somebody applies into what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Shape, item_element, items, same_element, shape};
use crate::{
    Element,
    schema::{List, ListMerge, Map, NodeId, Schema},
};

/// The live value with everything that the configuration says. Nothing is removed. A map keeps its
/// other fields; a list of items with keys keeps its other items, and the order of the configuration
/// wins. The managed fields of the live object are not part of the answer.
pub(crate) fn merge(schema: &Schema, live: &Value, config: &Value) -> Value {
    both(schema, schema.root(), live, config)
}

/// An item that is there more than once takes no part in a merge; as if it were null.
const REPEATED: &Value = &Value::Null;

fn both(schema: &Schema, node: NodeId, live: &Value, config: &Value) -> Value {
    match shape(schema.node(node), config) {
        Shape::Map(map) if !map.is_atomic() => {
            fields(schema, map, live, config).unwrap_or_else(|| config.clone())
        }
        Shape::List(list) if !matches!(list.merge, ListMerge::Atomic) => {
            list_items(schema, list, live, config).unwrap_or_else(|| config.clone())
        }
        _ => config.clone(),
    }
}

/// None if neither has fields, so that an empty map and null stay what they are.
fn fields(schema: &Schema, map: &Map, live: &Value, config: &Value) -> Option<Value> {
    let live = live.as_object().filter(|map| !map.is_empty());
    let config = config.as_object().filter(|map| !map.is_empty());
    if live.is_none() && config.is_none() {
        return None;
    }
    let managed = |name: &str| map.field(name).is_some_and(|node| schema.is_managed(node));
    let mut out = serde_json::Map::new();
    for (name, value) in live.into_iter().flatten() {
        if config.is_none_or(|config| !config.contains_key(name)) && !managed(name) {
            out.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in config.into_iter().flatten() {
        if managed(name) {
            continue;
        }
        let merged = match (live.and_then(|live| live.get(name)), map.field(name)) {
            (Some(live), Some(node)) => both(schema, node, live, value),
            _ => value.clone(),
        };
        out.insert(name.clone(), merged);
    }
    Some(Value::Object(out))
}

/// None if neither has items.
fn list_items(schema: &Schema, list: &List, live: &Value, config: &Value) -> Option<Value> {
    let (live, config) = (items(Some(live)), items(Some(config)));
    let same_order = !config.is_empty() && live.len() == config.len();
    if same_order && live.iter().zip(config).all(|(live, config)| same_element(list, live, config))
    {
        let merged = live.iter().zip(config);
        return Some(
            merged.map(|(live, config)| both(schema, list.element, live, config)).collect(),
        );
    }
    let (live, config) = (Items::of(list, live), Items::of(list, config));
    if live.order.is_empty() && config.order.is_empty() {
        return None;
    }
    let merged = |element: &Element| -> Value {
        match (live.by_element.get(element), config.by_element.get(element)) {
            (Some(live), Some(config)) => both(schema, list.element, live, config),
            (None, Some(item)) | (Some(item), None) => (*item).clone(),
            (None, None) => Value::Null,
        }
    };
    // Both lists are walked side by side. Items that only one of them has are taken where they
    // stand; of those that both have, the configuration says which is next.
    let mut shared =
        config.order.iter().map(|(element, _)| element).filter(|e| live.by_element.contains_key(e));
    let mut next_shared = shared.next();
    let mut taken: BTreeSet<&Element> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.order.len().max(config.order.len()));
    let (mut l, mut c) = (0, 0);
    while l < live.order.len() || c < config.order.len() {
        if let (Some((of_live, _)), Some((of_config, _))) = (live.order.get(l), config.order.get(c))
        {
            if of_live == of_config {
                out.push(merged(of_config));
                taken.insert(of_config);
                next_shared = shared.next();
                (l, c) = (l + 1, c + 1);
                continue;
            }
            let turn = next_shared.is_none_or(|next| next == of_live);
            if config.by_element.contains_key(of_live) && !turn {
                l += 1;
                continue;
            }
        }
        if let Some((element, item)) = live.order.get(l) {
            if !config.by_element.contains_key(element) {
                out.push((*item).clone());
                l += 1;
                continue;
            }
            if taken.contains(element) {
                l += 1;
            }
        }
        if let Some((element, _)) = config.order.get(c) {
            out.push(merged(element));
            taken.insert(element);
            c += 1;
            if next_shared == Some(element) {
                next_shared = shared.next();
            }
        }
    }
    Some(Value::Array(out))
}

/// The items of a list in their order and by their keys.
struct Items<'a> {
    order: Vec<(Element, &'a Value)>,
    by_element: BTreeMap<Element, &'a Value>,
}

impl<'a> Items<'a> {
    fn of(list: &List, items: &'a [Value]) -> Self {
        let mut of = Self { order: Vec::with_capacity(items.len()), by_element: BTreeMap::new() };
        for item in items {
            let Ok(element) = item_element(list, item) else { continue };
            of.by_element.entry(element.clone()).and_modify(|of| *of = REPEATED).or_insert(item);
            of.order.push((element, item));
        }
        of
    }
}
