//! An `OpenAPI` document of the user's own, as the `openapi.path` field brings it.
//!
//! Such documents are often whole dumps of a cluster, megabytes of which a build needs three
//! definitions. So the document stays a tree; only the names of definitions, the kinds and the
//! scopes are indexed, and not before somebody asks. A broken document is no error until then:
//! that is how kustomize behaves, and builds rely on it.

use std::{collections::HashMap, sync::OnceLock};

use flumen_yaml::{Budget, Map, Node, Pos, Text, Value};

use crate::Error;

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";

/// References may point to references; kustomize follows a loop of them for ever.
const MAX_HOPS: usize = 64;

#[derive(Debug)]
pub(crate) struct Document {
    text: Text,
    index: OnceLock<Result<Index, Error>>,
}

#[derive(Debug)]
struct Index {
    definitions: Map,
    by_name: HashMap<Text, usize>,
    by_kind: HashMap<String, usize>,
    namespaced: HashMap<String, bool>,
}

impl Document {
    pub(crate) const fn new(text: Text) -> Self {
        Self { text, index: OnceLock::new() }
    }

    /// What is wrong with the document, if it was needed and is broken.
    pub(crate) fn problem(&self) -> Option<&Error> {
        self.index.get()?.as_ref().err()
    }

    pub(crate) fn root(&self, api_version: &str, kind: &str) -> Option<&Node> {
        let index = self.index()?;
        index.at(*index.by_kind.get(&kind_key(api_version, kind))?)
    }

    pub(crate) fn is_namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        self.index()?.namespaced.get(&kind_key(api_version, kind)).copied()
    }

    pub(crate) fn definition(&self, name: &str) -> Option<&Node> {
        let index = self.index()?;
        index.at(*index.by_name.get(name)?)
    }

    fn index(&self) -> Option<&Index> {
        self.index.get_or_init(|| Index::read(&self.text)).as_ref().ok()
    }
}

impl Index {
    fn read(text: &Text) -> Result<Self, Error> {
        let mut documents = flumen_yaml::read(text, 1, &Budget::default())
            .map_err(|error| Error::Unreadable { pos: error.pos(), message: error.to_string() })?;
        if documents.is_empty() {
            let (message, pos) = ("the document is empty".to_owned(), Pos::new(1, 1));
            return Err(Error::Unreadable { message, pos });
        }
        // Kustomize, too, looks at the first document only.
        let mut root = documents.swap_remove(0);
        if !root.is_map() {
            return Err(malformed("an OpenAPI document is a mapping", &root));
        }
        let definitions = match root.as_map_mut().and_then(|map| map.remove("definitions")) {
            Some(Node { value: Value::Map(definitions), .. }) => definitions,
            Some(other) if !other.is_null() => {
                return Err(malformed("`definitions` must be a mapping", &other));
            }
            _ => Map::new(),
        };
        let mut by_name = HashMap::with_capacity(definitions.len());
        let mut by_kind = HashMap::new();
        for (position, entry) in definitions.iter().enumerate() {
            by_name.insert(entry.key.clone(), position);
            let Some(definition) = mapping(&entry.value, &entry.key)? else { continue };
            if let Some(properties) = definition.get("properties") {
                mapping(properties, "properties")?;
            }
            let kinds = definition.get(GROUP_VERSION_KIND).and_then(Node::as_seq);
            for kind in kinds.into_iter().flatten().filter(|kind| kind.is_map()) {
                by_kind.insert(group_version_kind(kind)?, position);
            }
        }
        let paths = match root.get("paths") {
            Some(paths) => mapping(paths, "paths")?,
            None => None,
        };
        let mut namespaced = HashMap::new();
        for entry in paths.into_iter().flat_map(Map::iter) {
            let kind = entry.value.get("get").and_then(|get| get.get(GROUP_VERSION_KIND));
            let Some(kind) = kind.filter(|kind| kind.is_map()) else { continue };
            let has_namespace = entry.key.contains("namespaces/{namespace}");
            *namespaced.entry(group_version_kind(kind)?).or_default() |= has_namespace;
        }
        Ok(Self { definitions, by_name, by_kind, namespaced })
    }

    fn at(&self, position: usize) -> Option<&Node> {
        self.definitions.entries().get(position).map(|entry| &entry.value)
    }
}

fn kind_key(api_version: &str, kind: &str) -> String {
    format!("{api_version} {kind}")
}

fn group_version_kind(node: &Node) -> Result<String, Error> {
    let get = |key: &str| node.get(key).and_then(Node::as_str);
    let (Some(version), Some(kind)) = (get("version"), get("kind")) else {
        let message = format!("`{GROUP_VERSION_KIND}` needs `version` and `kind`");
        return Err(malformed(&message, node));
    };
    Ok(match get("group") {
        Some(group) if !group.is_empty() => format!("{group}/{version} {kind}"),
        _ => kind_key(version, kind),
    })
}

/// The mapping that a node is; none for null, as in Go.
fn mapping<'a>(node: &'a Node, what: &str) -> Result<Option<&'a Map>, Error> {
    match node.as_map() {
        None if !node.is_null() => Err(malformed(&format!("`{what}` must be a mapping"), node)),
        map => Ok(map),
    }
}

fn malformed(message: &str, node: &Node) -> Error {
    Error::Malformed { message: message.to_owned(), pos: node.pos }
}

/// The schema of a field: a property of that name, or else of any name.
pub(crate) fn field<'a>(schema: &'a Node, name: &str) -> Option<&'a Node> {
    let property = schema.get("properties").and_then(|properties| properties.get(name));
    property.or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_map()))
}

/// The schema of the elements of an array.
pub(crate) fn element(schema: &Node) -> Option<&Node> {
    let kind = schema.get("type")?;
    let kind = match kind.as_seq() {
        Some(kinds) if kinds.len() == 1 => kinds.first()?.as_str(),
        _ => kind.as_str(),
    };
    if kind != Some("array") {
        return None;
    }
    schema.get("items").filter(|items| items.is_map())
}

/// The keys by which the elements of a list merge; empty for a list of scalars.
pub(crate) fn merge_keys(schema: &Node) -> Option<Vec<&str>> {
    let strategy = schema.get("x-kubernetes-patch-strategy")?.as_str()?;
    if !strategy.split(',').any(|part| part == "merge") {
        return None;
    }
    if let Some(keys) = schema.get("x-kubernetes-list-map-keys").and_then(Node::as_seq) {
        return Some(keys.iter().filter_map(Node::as_str).collect());
    }
    Some(schema.get("x-kubernetes-patch-merge-key").and_then(Node::as_str).into_iter().collect())
}

/// Where following a reference led.
pub(crate) enum Target<'a, T> {
    /// A schema that refers no further.
    Schema(&'a Node),
    /// A definition of someone else's.
    Elsewhere(T),
    /// The document itself, which is a schema without facts.
    Document,
}

/// Follows the references of `schema`, asking `definition` for what they name.
pub(crate) fn follow<'a, T>(
    mut schema: &'a Node,
    definition: impl Fn(&str) -> Option<Result<&'a Node, T>>,
) -> Option<Target<'a, T>> {
    for _ in 0..MAX_HOPS {
        let reference = match schema.get("$ref").and_then(Node::as_str) {
            Some(reference) if !reference.is_empty() => reference,
            _ => return Some(Target::Schema(schema)),
        };
        let (_, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if pointer.is_empty() {
            return Some(Target::Document);
        }
        let mut tokens = pointer.strip_prefix("/definitions/")?.split('/');
        schema = match definition(&unescape(tokens.next()?))? {
            Ok(node) => tokens.try_fold(node, |node, token| {
                let token = unescape(token);
                match node.as_seq() {
                    Some(items) => items.get(token.parse::<usize>().ok()?),
                    None => node.get(&token),
                }
            })?,
            Err(elsewhere) => return Some(Target::Elsewhere(elsewhere)),
        };
    }
    None
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
