//! From YAML or JSON text to objects.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use flumen_object::{Object, ObjectSet, Origin};
use flumen_yaml::{Budget, Node, Value};

use crate::Error;

/// Lists within lists; a tree is never deeper than the reader allows, and this is far below.
const MAX_LIST_DEPTH: usize = 16;

/// Configuration of kustomize is no object of the cluster.
const KUSTOMIZE_GROUP: &str = "kustomize.config.k8s.io/";

/// Reads a text all of whose documents must be objects. Nothing about the text is changed by this:
/// what is packaged is the text itself.
pub fn check_documents(text: &[u8], name: &str) -> Result<ObjectSet, Error> {
    objects_from(read(text, Path::new(name))?, name)
}

/// Takes documents that were read already; all of them must be objects.
pub fn objects_from(documents: Vec<Node>, name: &str) -> Result<ObjectSet, Error> {
    let file: Arc<Path> = Path::new(name).into();
    let mut objects = Vec::new();
    for (index, node) in documents.into_iter().enumerate() {
        if !node.is_null() {
            require_object(node, index + 1, &file, 0, &mut objects)?;
        }
    }
    if objects.is_empty() {
        return Err(Error::NoObjects { file: PathBuf::from(name) });
    }
    Ok(objects.into_iter().collect())
}

/// The objects of a text that may hold other documents too, as Flux reads it: lists are taken apart,
/// what is no object is passed over, and so are kustomizations.
pub fn objects_of(text: &[u8], name: &Path) -> Result<ObjectSet, Error> {
    let mut objects = Vec::new();
    collect(text, name, &mut objects)?;
    Ok(objects.into_iter().collect())
}

/// The objects among those of a build; the rules are those of [`objects_of`].
pub(crate) fn objects_among(built: Vec<Object>) -> ObjectSet {
    let mut objects = Vec::with_capacity(built.len());
    for Object { node, origin } in built {
        take_object(node, &|_| origin.clone(), 0, &mut objects);
    }
    objects.into_iter().collect()
}

pub(crate) fn collect(text: &[u8], name: &Path, objects: &mut Vec<Object>) -> Result<(), Error> {
    let file: Arc<Path> = name.into();
    for node in read(text, &file)? {
        take_object(node, &|node| origin(node, &file), 0, objects);
    }
    Ok(())
}

fn read(text: &[u8], file: &Path) -> Result<Vec<Node>, Error> {
    let malformed = |error| Error::Malformed { file: file.to_owned(), error };
    let text = flumen_yaml::decode(text).map_err(malformed)?;
    flumen_yaml::read(&text, 1, &Budget::default()).map_err(malformed)
}

fn take_object(
    node: Node,
    origin_of: &impl Fn(&Node) -> Origin,
    depth: usize,
    objects: &mut Vec<Object>,
) {
    if is_list(&node) {
        if depth < MAX_LIST_DEPTH {
            for item in items(node) {
                take_object(item, origin_of, depth + 1, objects);
            }
        }
    } else if missing_field(&node).is_none() && !is_kustomize_configuration(&node) {
        objects.push(Object { origin: origin_of(&node), node });
    }
}

fn require_object(
    node: Node,
    number: usize,
    file: &Arc<Path>,
    depth: usize,
    objects: &mut Vec<Object>,
) -> Result<(), Error> {
    let fail = |problem: String| {
        Err(Error::Document { number, problem, file: file.to_path_buf(), pos: node.pos })
    };
    if !node.is_map() {
        return fail("invalid YAML format: it is not a mapping".to_owned());
    }
    if is_list(&node) {
        if depth >= MAX_LIST_DEPTH {
            return fail("lists within lists go too deep".to_owned());
        }
        for item in items(node) {
            require_object(item, number, file, depth + 1, objects)?;
        }
        return Ok(());
    }
    if let Some(field) = missing_field(&node) {
        return fail(format!("manifest missing required field: {field}"));
    }
    objects.push(Object { origin: origin(&node, file), node });
    Ok(())
}

fn origin(node: &Node, file: &Arc<Path>) -> Origin {
    Origin { file: Some(Arc::clone(file)), pos: node.pos, kustomizations: Vec::new() }
}

fn is_list(node: &Node) -> bool {
    let kind = node.get("kind").and_then(Node::as_str);
    kind.is_some_and(|kind| kind.ends_with("List")) && node.get("items").is_some_and(Node::is_seq)
}

fn items(mut list: Node) -> Vec<Node> {
    match list.as_map_mut().and_then(|map| map.remove("items")) {
        Some(Node { value: Value::Seq(items), .. }) => items,
        _ => Vec::new(),
    }
}

pub(crate) fn missing_field(node: &Node) -> Option<&'static str> {
    let has_text = |path: &[&str]| {
        let scalar = node.at(path).filter(|value| !value.is_null()).and_then(Node::as_str);
        scalar.is_some_and(|text| !text.is_empty())
    };
    if !has_text(&["kind"]) {
        Some("kind")
    } else if !has_text(&["apiVersion"]) {
        Some("apiVersion")
    } else if !node.get("metadata").is_some_and(Node::is_map) {
        Some("metadata")
    } else if !has_text(&["metadata", "name"]) {
        Some("metadata.name")
    } else {
        None
    }
}

fn is_kustomize_configuration(node: &Node) -> bool {
    let api_version = node.get("apiVersion").and_then(Node::as_str);
    api_version.is_some_and(|api_version| api_version.starts_with(KUSTOMIZE_GROUP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(objects: &ObjectSet) -> String {
        let shown = |object: &Object| format!("{}@{}", object.id(), object.origin.pos.line);
        objects.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match check_documents(text.as_bytes(), "inline") {
            Ok(objects) => names(&objects),
            Err(error) => {
                let line = error.location().map_or(0, |(_, pos)| pos.line);
                format!("{line}: {error}")
            }
        };
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_lenient(text: &str, expected: &str) {
        let objects = objects_of(text.as_bytes(), Path::new("file.yaml")).expect("readable");
        assert_eq!(names(&objects), expected);
    }

    #[test]
    fn every_document_must_be_an_object() {
        check("apiVersion: v1\nkind: A\nmetadata: {name: a}\n", "A/a@1");
        check(
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# nothing\n---\n{\"apiVersion\": \"v1\", \
             \"kind\": \"B\", \"metadata\": {\"name\": \"b\"}}\n",
            "A/a@1 B/b@7",
        );
        check("", "0: no Kubernetes objects in `inline`");
        check("- a\n", "1: document 1: invalid YAML format: it is not a mapping");
        check(
            "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\nkind: B\n",
            "5: document 2: manifest missing required field: apiVersion",
        );
        check("apiVersion: v1\n", "1: document 1: manifest missing required field: kind");
        check(
            "apiVersion: v1\nkind: A\n",
            "1: document 1: manifest missing required field: metadata",
        );
        check("a: [\n", "2: yaml: line 1: did not find expected node content");
    }

    #[test]
    fn acceptance_04_a_document_without_name_is_named_by_number_and_line() {
        check(
            "\napiVersion: v1\nkind: A\nmetadata: {}\n",
            "2: document 1: manifest missing required field: metadata.name",
        );
    }

    #[test]
    fn lists_are_taken_apart() {
        let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n\
                    - {apiVersion: v1, kind: BList, items: [{apiVersion: v1, kind: B, metadata: {name: b}}]}\n";
        check(list, "A/a@4 B/b@5");
        check_lenient(list, "A/a@4 B/b@5");
    }

    #[test]
    fn other_documents_are_passed_over_in_files() {
        check_lenient(
            "just: data\n---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: \
             {name: k}\n---\n- list\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n",
            "A/a@9",
        );
    }
}
