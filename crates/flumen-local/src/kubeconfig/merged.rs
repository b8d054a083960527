//! Adds a cluster to the user's own kubeconfig, and leaves everything else in it unchanged.

use std::{
    io::{self, Write as _},
    path::Path,
};

use flumen_yaml::{Budget, Entry, Node, Pos, Value};
use tempfile::NamedTempFile;

use crate::Error;

/// A kubeconfig has a few kilobytes for each cluster.
const MAX_BYTES: u64 = 1 << 20;
/// The lists of a kubeconfig whose items have names.
const LISTS: [&str; 3] = ["clusters", "contexts", "users"];

/// Adds a context of the kubeconfig `from` to the kubeconfig `to` under the name `name`, and makes it the current one.
pub fn merge_kubeconfig(from: &Path, context: &str, to: &Path, name: &str) -> Result<(), Error> {
    let mut ours = read(&read_text(from)?, from)?;
    rename(&mut ours, context, name);
    let merged = match read_text(to) {
        Ok(text) => merged(read(&text, to)?, &ours, name),
        Err(Error::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => ours,
        Err(error) => return Err(error),
    };
    write(to, &merged)
}

fn read_text(path: &Path) -> Result<String, Error> {
    flumen_fs::read_text(path, MAX_BYTES)
        .map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn read(text: &str, path: &Path) -> Result<Node, Error> {
    let documents = flumen_yaml::read(&text.into(), 1, &Budget::default())
        .map_err(|error| Error::Yaml { path: path.to_owned(), error })?;
    match documents.into_iter().next() {
        Some(node) if matches!(node.value, Value::Map(_)) => Ok(node),
        None => Ok(Node::new(Pos::default(), Value::Map(Vec::new().into()))),
        Some(_) => Err(Error::NotAKubeconfig { path: path.to_owned() }),
    }
}

/// Renames a context, its cluster and its user.
fn rename(config: &mut Node, from: &str, to: &str) {
    let set = |slot: Option<&mut Node>| {
        if let Some(slot) = slot.filter(|slot| slot.as_str() == Some(from)) {
            *slot = Node::string(to);
        }
    };
    for list in LISTS {
        let Some(Value::Seq(items)) = config.get_mut(list).map(|list| &mut list.value) else {
            continue;
        };
        for item in items {
            set(item.at_mut(&["name"]));
            set(item.at_mut(&["context", "cluster"]));
            set(item.at_mut(&["context", "user"]));
        }
    }
    set(config.get_mut("current-context"));
}

/// Returns `theirs` with the items of this name from `ours`.
fn merged(mut theirs: Node, ours: &Node, name: &str) -> Node {
    for list in LISTS {
        let Some(Value::Seq(items)) = ours.get(list).map(|list| &list.value) else { continue };
        let Some(new) = items.iter().find(|item| is_named(item, name)) else { continue };
        let Value::Map(map) = &mut theirs.value else { continue };
        match map.get_mut(list).map(|list| &mut list.value) {
            Some(Value::Seq(items)) => match items.iter_mut().find(|item| is_named(item, name)) {
                Some(old) => *old = new.clone(),
                None => items.push(new.clone()),
            },
            _ => map.set(list, Node::new(Pos::default(), Value::Seq(vec![new.clone()]))),
        }
    }
    if let Value::Map(map) = &mut theirs.value {
        for (key, value) in [("apiVersion", "v1"), ("kind", "Config")] {
            if !map.contains(key) {
                map.push(Entry::new(key, Node::string(value)));
            }
        }
        map.set("current-context", Node::string(name));
    }
    theirs
}

fn is_named(item: &Node, name: &str) -> bool {
    item.get("name").and_then(Node::as_str) == Some(name)
}

/// Writes the whole file or nothing; a temporary file is readable for its owner alone from the start.
fn write(file: &Path, config: &Node) -> Result<(), Error> {
    let mut text = Vec::new();
    flumen_yaml::emit(config, &mut text)?;
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = || -> io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut scratch = NamedTempFile::new_in(directory)?;
        scratch.write_all(&text)?;
        // A symbolic link stays one.
        scratch.persist(file.canonicalize().unwrap_or_else(|_| file.to_owned()))?;
        Ok(())
    };
    written().map_err(|source| Error::Write { path: file.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_gets_another_name_with_all_that_it_names() {
        let ours = "\
contexts:
- name: flumen
  context: {cluster: flumen, user: flumen}
current-context: flumen
users:
- name: flumen
  user: {token: flumen}
";
        let mut ours = read(ours, Path::new("config")).expect("readable");
        rename(&mut ours, "flumen", "other");
        let mut text = Vec::new();
        flumen_yaml::emit(&ours, &mut text).expect("printable");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "\
contexts:
- context:
    cluster: other
    user: other
  name: other
current-context: other
users:
- name: other
  user:
    token: flumen
"
        );
    }

    #[test]
    fn other_clusters_stay() {
        let theirs = "\
contexts:
- name: work
  context: {cluster: work}
- name: flumen
  context: {cluster: old}
current-context: work
";
        let ours = "\
contexts:
- name: flumen
  context: {cluster: flumen}
users:
- name: flumen
  user: {token: t}
";
        let path = Path::new("config");
        let theirs = read(theirs, path).expect("readable");
        let ours = read(ours, path).expect("readable");
        let mut text = Vec::new();
        flumen_yaml::emit(&merged(theirs, &ours, "flumen"), &mut text).expect("printable");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "\
apiVersion: v1
contexts:
- context:
    cluster: work
  name: work
- context:
    cluster: flumen
  name: flumen
current-context: flumen
kind: Config
users:
- name: flumen
  user:
    token: t
"
        );
    }
}
