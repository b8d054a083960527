//! JSON patches, RFC 6902 with the liberties of the server's library: `replace` adds what is missing,
//! indices may count from the end.

use serde_json::{Map, Value};

/// Operations in their order.
#[derive(Clone, Debug)]
pub(crate) struct JsonPatch(Vec<Map<String, Value>>);

/// A patch that does not apply. What is wrong is not told to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DoesNotApply;

/// Copies may not make a document larger than this in all.
const MAX_COPIED: usize = 3 << 20;

impl JsonPatch {
    /// Operations are looked at when they are applied.
    pub(crate) fn new(operations: Vec<Map<String, Value>>) -> Self {
        Self(operations)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The containers that the paths lead through, as a tree of objects. In it is the pointer to where something was
    /// copied from, if nothing was changed in it, and true for what the patch brought.
    pub(crate) fn touched(&self) -> Value {
        let mut tree = Value::Object(Map::new());
        for operation in &self.0 {
            let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
            let brought = match text("op") {
                "add" | "replace" => Value::Bool(true),
                "copy" | "move" => match tree.pointer(text("from")) {
                    None | Some(Value::Null) => text("from").into(),
                    Some(Value::String(first)) => first.as_str().into(),
                    Some(_) => Value::Bool(true),
                },
                _ => Value::Null,
            };
            let Some((containers, last)) = text("path").rsplit_once('/') else { continue };
            let mut place = &mut tree;
            for key in containers.split('/').skip(1).map(unescape) {
                place = &mut place[key];
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
            }
            if !brought.is_null() {
                place[unescape(last)] = brought;
            }
        }
        tree
    }

    pub(crate) fn apply(&self, document: &mut Value) -> Result<(), DoesNotApply> {
        let mut copied = 0;
        for operation in &self.0 {
            apply(document, operation, &mut copied)?;
        }
        Ok(())
    }
}

fn apply(
    document: &mut Value,
    operation: &Map<String, Value>,
    copied: &mut usize,
) -> Result<(), DoesNotApply> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).ok_or(DoesNotApply);
    let value = || operation.get("value").cloned().unwrap_or_default();
    let path = text("path");
    match text("op")? {
        "add" => find(document, path?)?.add(value()),
        "remove" => find(document, path?)?.remove().map(drop),
        "replace" if path?.is_empty() => match value() {
            value @ (Value::Object(_) | Value::Array(_)) => {
                *document = value;
                Ok(())
            }
            _ => Err(DoesNotApply),
        },
        "replace" => find(document, path?)?.set(value()),
        "move" => {
            let value = find(document, text("from")?)?.remove()?;
            find(document, path?)?.add(value)
        }
        "copy" => {
            let value = find(document, text("from")?)?.get()?.cloned().unwrap_or_default();
            *copied += value.to_string().len();
            if *copied > MAX_COPIED {
                return Err(DoesNotApply);
            }
            find(document, path?)?.add(value)
        }
        "test" => {
            let expected = operation.get("value").unwrap_or(&Value::Null);
            let path = path?;
            let found =
                if path.is_empty() { Some(&*document) } else { find(document, path)?.get()? };
            let is_equal = found.unwrap_or(&Value::Null) == expected;
            if is_equal { Ok(()) } else { Err(DoesNotApply) }
        }
        _ => Err(DoesNotApply),
    }
}

/// A container and the key in it that a path leads to.
struct Place<'a> {
    container: &'a mut Value,
    key: String,
}

/// The place of a path, which begins with a slash.
fn find<'a>(document: &'a mut Value, path: &str) -> Result<Place<'a>, DoesNotApply> {
    let (_, parts) = path.split_once('/').ok_or(DoesNotApply)?;
    let mut parts = parts.split('/').map(unescape).peekable();
    let mut container = document;
    while let Some(key) = parts.next() {
        if parts.peek().is_none() {
            return Ok(Place { container, key });
        }
        container = match container {
            Value::Object(map) => map.get_mut(&key),
            Value::Array(items) => {
                let index = index(&key, items.len())?;
                items.get_mut(index)
            }
            _ => None,
        }
        .filter(|next| !next.is_null())
        .ok_or(DoesNotApply)?;
    }
    Err(DoesNotApply)
}

fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// A place in a list; a negative one counts from the end.
fn index(key: &str, length: usize) -> Result<usize, DoesNotApply> {
    let number: isize = key.parse().map_err(|_| DoesNotApply)?;
    if number >= 0 {
        return Ok(number.unsigned_abs());
    }
    length.checked_sub(number.unsigned_abs()).ok_or(DoesNotApply)
}

impl<'a> Place<'a> {
    fn get(self) -> Result<Option<&'a Value>, DoesNotApply> {
        match self.container {
            Value::Object(map) => Ok(map.get(&self.key)),
            Value::Array(items) => {
                let index = index(&self.key, items.len())?;
                items.get(index).map(Some).ok_or(DoesNotApply)
            }
            _ => Err(DoesNotApply),
        }
    }

    fn add(self, value: Value) -> Result<(), DoesNotApply> {
        match self.container {
            Value::Object(map) => {
                map.insert(self.key, value);
            }
            Value::Array(items) if self.key == "-" => items.push(value),
            Value::Array(items) => {
                let index = index(&self.key, items.len() + 1)?;
                if index > items.len() {
                    return Err(DoesNotApply);
                }
                items.insert(index, value);
            }
            _ => return Err(DoesNotApply),
        }
        Ok(())
    }

    fn set(self, value: Value) -> Result<(), DoesNotApply> {
        match self.container {
            Value::Object(map) => {
                map.insert(self.key, value);
                Ok(())
            }
            Value::Array(items) => {
                let index = index(&self.key, items.len())?;
                *items.get_mut(index).ok_or(DoesNotApply)? = value;
                Ok(())
            }
            _ => Err(DoesNotApply),
        }
    }

    fn remove(self) -> Result<Value, DoesNotApply> {
        match self.container {
            Value::Object(map) => map.remove(&self.key).ok_or(DoesNotApply),
            Value::Array(items) => {
                let index = index(&self.key, items.len())?;
                if index >= items.len() {
                    return Err(DoesNotApply);
                }
                Ok(items.remove(index))
            }
            _ => Err(DoesNotApply),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{DoesNotApply, JsonPatch};

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "expectations are made in place")]
    fn check(operations: Value, expected: Result<Value, DoesNotApply>) {
        let operations = serde_json::from_value(operations).expect("operations are maps");
        let mut document = json!({"a": 1, "l": [1, 2], "m": {"x/y": {"z": 1}}});
        let done = JsonPatch::new(operations).apply(&mut document);
        assert_eq!(done.map(|()| document), expected);
    }

    #[test]
    fn what_was_copied_is_known_by_where_it_was() {
        let operations = json!([
            {"op": "copy", "from": "/spec", "path": "/metadata/labels"},
            {"op": "move", "from": "/metadata/labels", "path": "/a~1b"},
            {"op": "add", "path": "/c", "value": {}},
            {"op": "copy", "from": "/c", "path": "/d/0/e"},
            {"op": "test", "path": "/d/0/e/f", "value": 1},
        ]);
        let operations = serde_json::from_value(operations).expect("operations are maps");
        let touched = json!({
            "metadata": {"labels": "/spec"}, "a/b": "/spec", "c": true, "d": {"0": {"e": {}}},
        });
        assert_eq!(JsonPatch::new(operations).touched(), touched);
    }

    #[test]
    fn operations_apply() {
        let with = |pointer: &str, value: Value| {
            let mut document = json!({"a": 1, "l": [1, 2], "m": {"x/y": {"z": 1}}});
            *document.pointer_mut(pointer).expect("it is there") = value;
            Ok(document)
        };
        check(json!([{"op": "add", "path": "/l/-", "value": 3}]), with("/l", json!([1, 2, 3])));
        check(json!([{"op": "add", "path": "/l/0", "value": 0}]), with("/l", json!([0, 1, 2])));
        check(json!([{"op": "add", "path": "/l/-1", "value": 3}]), with("/l", json!([1, 2, 3])));
        check(json!([{"op": "remove", "path": "/l/-1"}]), with("/l", json!([1])));
        check(
            json!([{"op": "replace", "path": "/m/new", "value": 1}]),
            with("/m", json!({"x/y": {"z": 1}, "new": 1})),
        );
        check(json!([{"op": "copy", "from": "/m/x~1y/z", "path": "/a"}]), with("/a", json!(1)));
        check(
            json!([{"op": "move", "from": "/m/x~1y", "path": "/m/q"}]),
            with("/m", json!({"q": {"z": 1}})),
        );
        check(json!([{"op": "test", "path": "/none", "value": null}]), with("/a", json!(1)));
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        for operation in [
            json!({"op": "remove", "path": "/none"}),
            json!({"op": "remove", "path": "/l/9"}),
            json!({"op": "add", "path": "/none/x", "value": 1}),
            json!({"op": "add", "path": "a", "value": 1}),
            json!({"op": "test", "path": "/a", "value": 2}),
            json!({"op": "nope", "path": "/a"}),
            json!({"path": "/a"}),
            json!({"op": "add", "path": "/l/4", "value": 1}),
            json!({"op": "replace", "path": "/l/2", "value": 1}),
        ] {
            check(json!([operation]), Err(DoesNotApply));
        }
    }
}
