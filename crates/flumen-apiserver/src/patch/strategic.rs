//! Strategic merge patches: lists are merged by the keys that the types name, and directives in the
//! patch say what else to do.

mod order;

use flumen_fields::go;
use flumen_schema::api::{Api as Facts, Form, Patch, Type, TypeId};
use serde_json::{Map, Value};

use self::order::in_order;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// Why a patch does not apply.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StrategicError {
    #[error("invalid patch format of primitive list")]
    PrimitiveList,
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// What the server takes for a failure of its own.
    #[error("{0}")]
    Other(String),
}

type Result<T> = std::result::Result<T, StrategicError>;

/// Merges a patch into an object of a type.
pub(crate) fn strategic_merge(
    object: Value,
    patch: Map<String, Value>,
    of: TypeId,
) -> Result<Value> {
    let Value::Object(object) = object else { return Ok(Value::Object(patch)) };
    merge_map(object, patch, Shape::Struct(of)).map(Value::Object)
}

/// What is known of the values of a map.
#[derive(Clone, Copy)]
enum Shape {
    Struct(TypeId),
    /// A map whose values have a form.
    Map(&'static Form),
    /// A struct of Go without fields that JSON has.
    Raw,
    /// Anything.
    Free,
}

impl Shape {
    /// The shape and the strategy of a member.
    fn member(self, key: &str) -> Result<(Self, Patch)> {
        match self {
            Self::Struct(of) => {
                let of: &'static Type = Facts::get().type_of(of);
                let field = of.field(key).ok_or_else(|| {
                    StrategicError::Other(format!(
                        "unable to find api field in struct {} for the json field {key:?}",
                        of.go_name()
                    ))
                })?;
                Ok((Self::of(&field.form), field.patch))
            }
            Self::Map(form) => Ok((Self::of(form), Patch::default())),
            Self::Raw => Err(StrategicError::Other(format!(
                "unable to find api field in struct RawExtension for the json field {key:?}"
            ))),
            Self::Free => Ok((Self::Free, Patch::default())),
        }
    }

    /// The shape of a value of a form; of a list it is that of its items.
    fn of(form: &'static Form) -> Self {
        match form {
            Form::Struct(of) => Self::Struct(*of),
            Form::Map(of) => Self::Map(of),
            Form::List(of) => Self::of(of),
            Form::Raw => Self::Raw,
            _ => Self::Free,
        }
    }
}

fn merge_map(
    mut object: Map<String, Value>,
    mut patch: Map<String, Value>,
    shape: Shape,
) -> Result<Map<String, Value>> {
    if let Some(directive) = patch.get(PATCH) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(PATCH);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(&patch)),
        };
    }
    retain_keys(&mut object, &mut patch)?;
    set_orders(&mut object, &mut patch, shape)?;
    for (key, value) in patch {
        let (key, deletes) = match key.strip_prefix(DELETE_FROM) {
            Some(rest) => {
                let key = rest.strip_prefix('/').ok_or(StrategicError::PrimitiveList)?;
                (key.to_owned(), true)
            }
            None => (key, false),
        };
        if value.is_null() {
            object.remove(&key);
            continue;
        }
        let Some(present) = object.get_mut(&key).filter(|present| same_type(present, &value))
        else {
            if !deletes {
                put(&mut object, key, value);
            }
            continue;
        };
        match (present, value) {
            (Value::Object(present), Value::Object(value)) => {
                let (shape, strategy) = shape.member(&key)?;
                *present = if strategy.replace {
                    value
                } else {
                    merge_map(std::mem::take(present), value, shape)?
                };
            }
            (Value::Array(present), Value::Array(value)) => {
                let (shape, strategy) = shape.member(&key)?;
                let items = std::mem::take(present);
                *present = merge_list(items, value, shape, strategy, deletes)?;
            }
            (_, value) => put(&mut object, key, value),
        }
    }
    Ok(object)
}

/// Takes a value of the patch as it is, without directives and nulls.
fn put(object: &mut Map<String, Value>, key: String, mut value: Value) {
    discard_nulls(&mut value);
    match without_directives(value) {
        Some(value) => object.insert(key, value),
        None => object.remove(&key),
    };
}

fn same_type(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Whole and broken numbers are different types.
        (Value::Number(a), Value::Number(b)) => a.is_f64() == b.is_f64(),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Leaves only the members that the patch lists.
fn retain_keys(object: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Result<()> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let keys = keys.as_array().ok_or(StrategicError::RetainKeys)?;
    let is_kept = |key: &str| keys.iter().any(|kept| kept.as_str() == Some(key));
    let is_unlisted = patch.iter().any(|(key, value)| {
        let is_directive = key.starts_with(DELETE_FROM) || key.starts_with(ELEMENT_ORDER);
        !value.is_null() && !is_directive && !is_kept(key)
    });
    if is_unlisted {
        return Err(StrategicError::RetainKeys);
    }
    object.retain(|key, _| is_kept(key));
    Ok(())
}

/// Merges the lists whose order the patch gives.
fn set_orders(
    object: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    shape: Shape,
) -> Result<()> {
    let directives: Vec<String> =
        patch.keys().filter(|key| key.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let order = patch.remove(&directive).unwrap_or_default();
        let Value::Array(order) = order else { return Err(not_a_list(&order)) };
        let key = directive[ELEMENT_ORDER.len()..].strip_prefix('/');
        let key = key.ok_or(StrategicError::ElementOrder)?;
        let list = |map: &mut Map<String, Value>| match map.remove(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(other) => Err(not_a_list(&other)),
        };
        let (present, wanted) = (list(object)?, list(patch)?);
        let (shape, strategy) = shape.member(key)?;
        if let Some(wanted) = &wanted {
            check_order(wanted, &order, strategy.key)?;
        }
        let server_order = present.clone().unwrap_or_default();
        let merged = match (present, wanted) {
            (None, None) => continue,
            (Some(present), None) => present,
            (None, Some(wanted)) => wanted.into_iter().filter_map(without_directives).collect(),
            (Some(present), Some(wanted)) => merge_list(present, wanted, shape, strategy, false)?,
        };
        let items = in_order(merged, &order, &server_order, strategy.key)?;
        object.insert(key.to_owned(), Value::Array(items));
    }
    Ok(())
}

/// Items of the patch must be in the list of the order, in the same order.
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<()> {
    if order.is_empty() || patch.is_empty() {
        return Ok(());
    }
    let mut order_left = order.iter();
    for item in patch.iter().filter(|item| item.get(PATCH).is_none()) {
        let wanted = order::key_of(item, key)?;
        let mut found = false;
        for next in order_left.by_ref() {
            if order::key_of(next, key)? == wanted {
                found = true;
                break;
            }
        }
        if !found {
            let (patch, order) = (Value::from(patch), Value::from(order));
            return Err(StrategicError::Other(format!(
                "The order in patch list:\n{}\n doesn't match {ELEMENT_ORDER} list:\n{}\n",
                go::plain(&patch),
                go::plain(&order)
            )));
        }
    }
    Ok(())
}

fn merge_list(
    present: Vec<Value>,
    patch: Vec<Value>,
    shape: Shape,
    strategy: Patch,
    deletes: bool,
) -> Result<Vec<Value>> {
    if !strategy.merge && !deletes {
        return Ok(patch);
    }
    if present.is_empty() && patch.is_empty() {
        return Ok(present);
    }
    let is_of_maps = check_items(&present, &patch)?;
    if !is_of_maps {
        if deletes {
            return Ok(present.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged: Vec<Value> = Vec::with_capacity(present.len() + patch.len());
        for item in present.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        return in_order(merged, &patch, &present, None);
    }
    let Some(key) = strategy.key else {
        return Err(StrategicError::Other("cannot merge lists without merge key".to_owned()));
    };
    let (present, patch) = special_items(present, patch, key)?;
    let mut merged = present.clone();
    for item in &patch {
        let Value::Object(item) = item else { continue };
        let wanted = item.get(key).ok_or_else(|| no_key(item, key))?;
        match merged.iter_mut().find(|other| other.get(key) == Some(wanted)) {
            Some(Value::Object(found)) => {
                *found = merge_map(std::mem::take(found), item.clone(), shape)?;
            }
            _ => merged.push(Value::Object(item.clone())),
        }
    }
    in_order(merged, &patch, &present, Some(key))
}

/// Whether the items are maps; all must be of one type.
fn check_items(present: &[Value], patch: &[Value]) -> Result<bool> {
    let mut first: Option<&Value> = None;
    for item in present.iter().chain(patch) {
        match first {
            None if item.is_array() => return Err(StrategicError::ListOfLists),
            Some(first) if !same_type(first, item) => {
                let lists = Value::from(vec![present.to_vec(), patch.to_vec()]);
                let lists = go::plain(&lists);
                return Err(StrategicError::Other(format!(
                    "list element types are not identical: {lists}"
                )));
            }
            _ => first = Some(item),
        }
    }
    Ok(first.is_some_and(Value::is_object))
}

/// Obeys items that are directives. Returns the present items that are left and those of the patch.
fn special_items(
    mut present: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Some(directive) = item.get(PATCH) else {
            plain.push(item);
            continue;
        };
        let map = item.as_object().cloned().unwrap_or_default();
        match directive.as_str() {
            Some("delete") => {
                let gone = map.get(key).ok_or_else(|| no_key(&map, key))?;
                present.retain(|other| other.get(key) != Some(gone));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                let why = "merging lists cannot yet be specified in the patch";
                return Err(StrategicError::Other(why.to_owned()));
            }
            _ => return Err(unknown_directive(&map)),
        }
    }
    Ok(if replaces { (plain, Vec::new()) } else { (present, plain) })
}

/// A value of the patch without directives; nothing if it is one.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) => {
            if map.contains_key(PATCH) {
                return None;
            }
            let kept =
                map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        other => Some(other),
    }
}

fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

fn unknown_directive(map: &Map<String, Value>) -> StrategicError {
    let directive = map.get(PATCH).cloned().unwrap_or_default();
    let map = Value::Object(map.clone());
    StrategicError::Other(format!(
        "unknown patch type: {} in map: {}",
        go::as_text(&directive),
        go::plain(&map)
    ))
}

fn no_key(map: &Map<String, Value>, key: &str) -> StrategicError {
    let map = Value::Object(map.clone());
    StrategicError::Other(format!(
        "map: {} does not contain declared merge key: {key}",
        go::plain(&map)
    ))
}

fn not_a_list(value: &Value) -> StrategicError {
    let found = match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    StrategicError::Other(format!("expected a []interface {{}}, but received a {found}"))
}

#[cfg(test)]
mod tests;
