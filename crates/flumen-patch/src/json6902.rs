//! JSON patches (RFC 6902), as the Go library inside kustomize applies them.
//!
//! It is more liberal than the standard: indices may be negative, `replace` and `copy` of a missing
//! key of a mapping succeed, a missing `value` is null, and whatever stands before the first slash of
//! a pointer is ignored. Unlike the library this works in place, so that changing one leaf of
//! a large document costs a walk to that leaf; and it bounds what `copy` can make of a small document.

use flumen_yaml::{Map, Node, Pos, Value, same_value};

use crate::Error;

/// Nodes that the `copy` operations of one patch may add to a document.
const COPY_BUDGET: usize = 1_000_000;

/// Bytes of text that they may add.
const COPY_BYTES: usize = 64 << 20;

/// Levels of nesting, the same limit that reading has.
const MAX_DEPTH: usize = 1_000;

/// A sequence of operations.
#[derive(Clone, Debug)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

#[derive(Clone, Debug)]
struct Operation {
    name: String,
    path: Option<Pointer>,
    from: Option<Pointer>,
    /// Null if it was not given.
    value: Node,
    has_value: bool,
    pos: Pos,
}

/// A JSON pointer: how it is written, and its parts.
#[derive(Clone, Debug)]
struct Pointer {
    text: String,
    /// The way to the container; none if the pointer means the whole document.
    target: Option<(Vec<String>, String)>,
}

impl Pointer {
    fn parse(text: &str) -> Self {
        let mut parts: Vec<String> = text
            .split('/')
            .skip(1)
            .map(|part| part.replace("~1", "/").replace("~0", "~"))
            .collect();
        let target = parts.pop().map(|key| (parts, key));
        Self { text: text.to_owned(), target }
    }

    fn len(&self) -> usize {
        self.target.as_ref().map_or(0, |(parts, _)| parts.len() + 1)
    }
}

impl JsonPatch {
    /// Reads a patch from a sequence of mappings.
    pub fn parse(node: &Node) -> Result<Self, Error> {
        let Some(items) = node.as_seq() else {
            return Err(Error::json(
                format!("cannot unmarshal {} into Go value of type jsonpatch.Patch", go_type(node)),
                node.pos,
            ));
        };
        let operations = items.iter().map(Operation::parse).collect::<Result<_, _>>()?;
        Ok(Self { operations })
    }

    /// Applies all operations in order. After an error the document is half patched.
    pub fn apply(&self, document: &mut Node) -> Result<(), Error> {
        let mut copied = Copied::default();
        self.operations.iter().try_for_each(|operation| {
            operation
                .apply(document, &mut copied)
                .map_err(|message| Error::json(message, operation.pos))
        })
    }
}

/// The type of a value as Go's JSON decoder names it.
fn go_type(node: &Node) -> &'static str {
    use flumen_yaml::Tag;
    match &node.value {
        Value::Map(_) => "object",
        Value::Seq(_) => "array",
        Value::Scalar(scalar) => match scalar.tag {
            Tag::Int | Tag::Float => "number",
            Tag::Bool => "bool",
            Tag::Null => "null",
            _ => "string",
        },
    }
}

impl Operation {
    fn parse(node: &Node) -> Result<Self, Error> {
        let Some(map) = node.as_map() else {
            return Err(Error::json(
                format!(
                    "cannot unmarshal {} into Go value of type jsonpatch.Operation",
                    go_type(node)
                ),
                node.pos,
            ));
        };
        let string = |key: &str| {
            let value = map.get(key)?;
            (go_type(value) == "string").then(|| value.as_str()).flatten()
        };
        let value = map.get("value");
        Ok(Self {
            name: string("op").unwrap_or("unknown").to_owned(),
            path: string("path").map(Pointer::parse),
            from: string("from").map(Pointer::parse),
            value: value.cloned().unwrap_or_else(Node::null),
            has_value: value.is_some(),
            pos: node.pos,
        })
    }

    fn apply(&self, document: &mut Node, copied: &mut Copied) -> Result<(), String> {
        match self.name.as_str() {
            "add" => self.add(document),
            "remove" => self.remove(document),
            "replace" => self.replace(document),
            "move" => self.move_value(document),
            "copy" => self.copy(document, copied),
            "test" => self.test(document),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn path(&self) -> Result<&Pointer, String> {
        self.path.as_ref().ok_or_else(|| {
            let name = &self.name;
            format!("{name} operation failed to decode path: operation missing path field: missing value")
        })
    }

    fn from(&self) -> Result<&Pointer, String> {
        self.from.as_ref().ok_or_else(|| {
            let name = &self.name;
            format!("{name} operation failed to decode from: operation, missing from field: missing value")
        })
    }

    fn add(&self, document: &mut Node) -> Result<(), String> {
        let path = self.path()?;
        check_depth(path, &self.value)?;
        let text = &path.text;
        let (container, key) = find(document, path).ok_or_else(|| {
            format!("add operation does not apply: doc is missing path: \"{text}\": missing value")
        })?;
        container
            .add(key, self.value.clone())
            .map_err(|error| format!("error in add for path: '{text}': {error}"))
    }

    fn remove(&self, document: &mut Node) -> Result<(), String> {
        let path = self.path()?;
        let text = &path.text;
        let (container, key) = find(document, path).ok_or_else(|| {
            format!(
                "remove operation does not apply: doc is missing path: \"{text}\": missing value"
            )
        })?;
        container
            .remove(key)
            .map(drop)
            .map_err(|error| format!("error in remove for path: '{text}': {error}"))
    }

    fn replace(&self, document: &mut Node) -> Result<(), String> {
        let path = self.path()?;
        check_depth(path, &self.value)?;
        let text = &path.text;
        if text.is_empty() {
            if self.value.is_scalar() {
                return Err("replace operation value must be object or array".to_owned());
            }
            *document = self.value.clone();
            return Ok(());
        }
        let (container, key) = find(document, path).ok_or_else(|| {
            format!("replace operation does not apply: doc is missing path: {text}: missing value")
        })?;
        container.replace(key, self.value.clone()).map_err(|_| {
            format!("replace operation does not apply: doc is missing key: {text}: missing value")
        })
    }

    fn move_value(&self, document: &mut Node) -> Result<(), String> {
        let from = self.from()?;
        let (container, key) = find(document, from).ok_or_else(|| {
            let from = &from.text;
            format!(
                "move operation does not apply: doc is missing from path: {from}: missing value"
            )
        })?;
        let value = container
            .remove(key)
            .map_err(|error| format!("error in move for path: '{key}': {error}"))?;
        let path = self.path()?;
        check_depth(path, &value)?;
        let text = &path.text;
        let (container, key) = find(document, path).ok_or_else(|| {
            format!(
                "move operation does not apply: doc is missing destination path: {text}: missing value"
            )
        })?;
        container
            .add(key, value)
            .map_err(|error| format!("error in move for path: '{text}': {error}"))
    }

    fn copy(&self, document: &mut Node, copied: &mut Copied) -> Result<(), String> {
        let from = self.from()?;
        let from_text = &from.text;
        let (container, key) = find(document, from).ok_or_else(|| {
            format!("copy operation does not apply: doc is missing from path: {from_text}: missing value")
        })?;
        let value = container
            .get(key)
            .map_err(|error| format!("error in copy for from: '{from_text}': {error}"))?;
        let value = match value {
            Some(value) => {
                copied.count(value)?;
                value.clone()
            }
            None => Node::null(),
        };
        let path = self.path()?;
        check_depth(path, &value)?;
        let text = &path.text;
        let (container, key) = find(document, path).ok_or_else(|| {
            format!(
                "copy operation does not apply: doc is missing destination path: {text}: missing value"
            )
        })?;
        container
            .add(key, value)
            .map_err(|error| format!("error while adding value during copy: {error}"))
    }

    fn test(&self, document: &mut Node) -> Result<(), String> {
        let path = self.path()?;
        let text = &path.text;
        let failed = || Err(format!("testing value {text} failed: test failed"));
        if text.is_empty() {
            return if same_value(document, &self.value) { Ok(()) } else { failed() };
        }
        let (container, key) = find(document, path).ok_or_else(|| {
            format!("test operation does not apply: is missing path: {text}: missing value")
        })?;
        let found = container
            .get(key)
            .map_err(|error| format!("error in test for path: '{text}': {error}"))?
            .filter(|found| !found.is_null());
        match found {
            None if self.value.is_null() => Ok(()),
            Some(found) if self.has_value && same_value(found, &self.value) => Ok(()),
            _ => failed(),
        }
    }
}

/// What `copy` has added so far.
#[derive(Debug, Default)]
struct Copied {
    nodes: usize,
    bytes: usize,
}

impl Copied {
    fn count(&mut self, node: &Node) -> Result<(), String> {
        self.nodes += 1;
        match &node.value {
            Value::Scalar(scalar) => self.bytes += scalar.text.len(),
            Value::Seq(items) => items.iter().try_for_each(|item| self.count(item))?,
            Value::Map(map) => map.iter().try_for_each(|entry| self.count(&entry.value))?,
        }
        if self.nodes > COPY_BUDGET || self.bytes > COPY_BYTES {
            return Err("the copy operations of the patch make the document too large".to_owned());
        }
        Ok(())
    }
}

fn check_depth(path: &Pointer, value: &Node) -> Result<(), String> {
    if path.len() + depth(value) > MAX_DEPTH {
        return Err(format!("the value at '{}' is nested too deeply", path.text));
    }
    Ok(())
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::Seq(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(map) => 1 + map.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0),
    }
}

/// The collection that a pointer leads to, and the key in it.
fn find<'n, 'p>(document: &'n mut Node, path: &'p Pointer) -> Option<(Container<'n>, &'p str)> {
    let (parts, key) = path.target.as_ref()?;
    let mut node = document;
    for part in parts {
        node = match &mut node.value {
            Value::Map(map) => map.get_mut(part)?,
            Value::Seq(items) => {
                let index = index_of(part, items.len()).ok()?;
                items.get_mut(index)?
            }
            Value::Scalar(_) => return None,
        };
    }
    match &mut node.value {
        Value::Map(map) => Some((Container::Map(map), key)),
        Value::Seq(items) => Some((Container::Seq(items), key)),
        Value::Scalar(_) => None,
    }
}

enum Container<'n> {
    Map(&'n mut Map),
    Seq(&'n mut Vec<Node>),
}

impl Container<'_> {
    /// None for a missing key of a mapping, which is not an error yet.
    fn get(&self, key: &str) -> Result<Option<&Node>, String> {
        match self {
            Self::Map(map) => Ok(map.get(key)),
            Self::Seq(items) => Ok(items.get(index_of(key, items.len())?)),
        }
    }

    fn add(self, key: &str, value: Node) -> Result<(), String> {
        match self {
            Self::Map(map) => map.set(key, value),
            Self::Seq(items) if key == "-" => items.push(value),
            Self::Seq(items) => {
                let index = parse_index(key).map_err(|error| {
                    format!("value was not a proper array index: '{key}': {error}")
                })?;
                let index = resolve_index(index, items.len() + 1)?;
                items.insert(index, value);
            }
        }
        Ok(())
    }

    fn replace(self, key: &str, value: Node) -> Result<(), String> {
        match self {
            Self::Map(map) => map.set(key, value),
            Self::Seq(items) => {
                let index = index_of(key, items.len())?;
                items[index] = value;
            }
        }
        Ok(())
    }

    fn remove(self, key: &str) -> Result<Node, String> {
        match self {
            Self::Map(map) => map
                .remove(key)
                .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
            Self::Seq(items) => {
                let index = index_of(key, items.len())?;
                Ok(items.remove(index))
            }
        }
    }
}

/// The index of an element that exists. Negative ones count from the end.
fn index_of(key: &str, len: usize) -> Result<usize, String> {
    resolve_index(parse_index(key)?, len)
}

fn parse_index(key: &str) -> Result<i64, String> {
    key.parse().map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))
}

/// An index below `len`.
fn resolve_index(index: i64, len: usize) -> Result<usize, String> {
    let size = i64::try_from(len).unwrap_or(i64::MAX);
    let resolved = if index < 0 { index + size } else { index };
    usize::try_from(resolved)
        .ok()
        .filter(|index| *index < len)
        .ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, Node, Text, emit, read};

    use super::JsonPatch;

    fn node(text: &str) -> Node {
        let mut nodes = read(&Text::from(text), 1, &Budget::default()).expect("it is YAML");
        nodes.pop().expect("it has a document")
    }

    fn patched(document: &str, patch: &str) -> String {
        let mut document = node(document);
        let outcome = JsonPatch::parse(&node(patch)).and_then(|patch| patch.apply(&mut document));
        match outcome {
            Err(error) => format!("error: {error}"),
            Ok(()) => {
                let mut out = Vec::new();
                emit(&document, &mut out).expect("it prints");
                String::from_utf8(out).expect("YAML is UTF-8").trim_end().replace('\n', "|")
            }
        }
    }

    #[track_caller]
    fn check(document: &str, patch: &str, expected: &str) {
        assert_eq!(patched(document, patch), expected);
    }

    #[test]
    fn indices_count_from_either_end() {
        let document = "{a: [x, y]}";
        check(document, "[{op: add, path: /a/0, value: n}]", "a:|- \"n\"|- x|- \"y\"");
        check(document, "[{op: add, path: /a/-, value: z}]", "a:|- x|- \"y\"|- z");
        check(document, "[{op: add, path: /a/-1, value: z}]", "a:|- x|- \"y\"|- z");
        check(document, "[{op: add, path: /a/-3, value: z}]", "a:|- z|- x|- \"y\"");
        check(document, "[{op: remove, path: /a/-1}]", "a:|- x");
        check(document, "[{op: replace, path: /a/-2, value: z}]", "a:|- z|- \"y\"");
        check(
            document,
            "[{op: add, path: /a/3, value: z}]",
            "error: error in add for path: '/a/3': Unable to access invalid index: 3: \
             invalid index referenced",
        );
        check(
            document,
            "[{op: remove, path: /a/b}]",
            "error: error in remove for path: '/a/b': strconv.Atoi: parsing \"b\": invalid syntax",
        );
    }

    #[test]
    fn missing_keys_of_mappings_may_be_replaced_and_copied_but_not_removed() {
        check("{a: 1}", "[{op: replace, path: /b, value: 2}]", "a: 1|b: 2");
        check("{a: 1}", "[{op: copy, from: /x, path: /b}]", "a: 1|b: null");
        check("{a: 1}", "[{op: add, path: /b}]", "a: 1|b: null");
        check(
            "{a: 1}",
            "[{op: remove, path: /b}]",
            "error: error in remove for path: '/b': Unable to remove nonexistent key: b: \
             missing value",
        );
        check(
            "{a: 1}",
            "[{op: add, path: /b/c, value: 2}]",
            "error: add operation does not apply: doc is missing path: \"/b/c\": missing value",
        );
    }

    #[test]
    fn pointers_have_escapes_and_ignore_what_precedes_them() {
        check("{a/b: {~c: 1}}", "[{op: remove, path: /a~1b/~0c}]", "a/b: {}");
        check("{a: {b: 1}}", "[{op: replace, path: junk/a, value: 2}]", "a: 2");
    }

    #[test]
    fn values_move_and_copies_are_bounded() {
        check("{a: {b: 1}, c: {}}", "[{op: move, from: /a/b, path: /c/d}]", "a: {}|c:|  d: 1");
        let doubling: Vec<String> =
            (0..40).map(|n| format!("{{op: copy, from: /a, path: /a/k{n}}}")).collect();
        let error = patched("{a: {b: text}}", &format!("[{}]", doubling.join(",")));
        assert!(error.contains("too large"), "{error}");
    }

    #[test]
    fn tests_compare_values() {
        check("{a: 1.0}", "[{op: test, path: /a, value: 1}]", "a: 1");
        check("{a: null}", "[{op: test, path: /a}]", "a: null");
        check("{a: null}", "[{op: test, path: /b, value: null}]", "a: null");
        check(
            "{a: b}",
            "[{op: test, path: /a, value: c}]",
            "error: testing value /a failed: test failed",
        );
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        check(
            "{a: b}",
            "[text]",
            "error: cannot unmarshal string into Go value of type jsonpatch.Operation",
        );
        check("{a: b}", "[{op: fly, path: /a}]", "error: Unexpected kind: fly");
    }
}
