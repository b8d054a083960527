//! The order of a merged list: items of the patch in the order of the patch, those that only the
//! server has between them where they were.

use serde_json::Value;

use super::{StrategicError, no_key};

/// What tells items apart: the value of the key, or the item itself.
pub(super) fn key_of<'a>(item: &'a Value, key: Option<&str>) -> Result<&'a Value, StrategicError> {
    match (key, item) {
        (None, item) => Ok(item),
        (Some(key), Value::Object(map)) => map.get(key).ok_or_else(|| no_key(map, key)),
        (Some(_), _) => Err(StrategicError::ElementOrder),
    }
}

fn is_in(order: &[Value], item: &Value, key: Option<&str>) -> bool {
    place(order, item, key).is_some()
}

fn place(order: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    let wanted = key_of(item, key).ok()?;
    order.iter().position(|other| key_of(other, key).is_ok_and(|other| other == wanted))
}

pub(super) fn in_order(
    merged: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, StrategicError> {
    for item in merged.iter().chain(patch_order).chain(server_order) {
        key_of(item, key)?;
    }
    let (patch, server): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| is_in(patch_order, item, key));
    let (patch, server) = (sorted(patch, patch_order, key), sorted(server, server_order, key));
    let mut all = Vec::with_capacity(patch.len() + server.len());
    let (mut patch, mut server) = (patch.into_iter().peekable(), server.into_iter().peekable());
    loop {
        let takes_server = match (server.peek(), patch.peek()) {
            (None, None) => return Ok(all),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(server), Some(patch)) => {
                match (place(server_order, server, key), place(server_order, patch, key)) {
                    (Some(server), Some(patch)) => server < patch,
                    _ => false,
                }
            }
        };
        all.extend(if takes_server { server.next() } else { patch.next() });
    }
}

/// What the order does not name comes first.
fn sorted(items: Vec<Value>, order: &[Value], key: Option<&str>) -> Vec<Value> {
    let mut placed: Vec<(Option<usize>, Value)> =
        items.into_iter().map(|item| (place(order, &item, key), item)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, item)| item).collect()
}
