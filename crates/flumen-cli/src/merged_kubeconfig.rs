//! Adds a cluster to the user's own kubeconfig, and leaves all else in it as it is.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use flumen_yaml::{Budget, Entry, Node, Pos, Value};
use tempfile::NamedTempFile;

use crate::{
    env,
    error::{CommandError, Failure},
    key_files::{read_text, read_text_if_any},
};

/// The lists of a kubeconfig whose items have names.
const LISTS: [&str; 3] = ["clusters", "contexts", "users"];

/// Puts a context of `from` under a name of its own into the first file that kubectl reads, and makes it the current one.
pub(crate) fn merge(from: &Path, context: &str, name: &str) -> Result<PathBuf, CommandError> {
    let Some(file) = env::kubeconfigs().into_iter().next() else {
        return Err(Failure::new("there is no place for a kubeconfig").hint("set `HOME`").into());
    };
    let mut ours = read(&read_text(from)?, from)?;
    rename(&mut ours, context, name);
    let merged = match read_text_if_any(&file)? {
        Some(text) => merged(read(&text, &file)?, &ours, name),
        None => ours,
    };
    write(&file, &merged)?;
    Ok(file)
}

fn read(text: &str, path: &Path) -> Result<Node, CommandError> {
    let documents = flumen_yaml::read(&text.into(), 1, &Budget::default())
        .map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))?;
    match documents.into_iter().next() {
        Some(node) if matches!(node.value, Value::Map(_)) => Ok(node),
        None => Ok(Node::new(Pos::default(), Value::Map(Vec::new().into()))),
        Some(_) => Err(Failure::new(format!("`{}` is no kubeconfig", path.display())).into()),
    }
}

/// Gives a context another name, and its cluster and user.
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

/// `theirs` with the items of `ours` that bear the name.
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

/// Whole or not at all; a temporary file is its owner's alone from the start.
fn write(file: &Path, config: &Node) -> Result<(), CommandError> {
    let mut text = Vec::new();
    flumen_yaml::emit(config, &mut text).map_err(|error| Failure::new(error.to_string()))?;
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = || -> std::io::Result<()> {
        std::fs::create_dir_all(directory)?;
        let mut scratch = NamedTempFile::new_in(directory)?;
        scratch.write_all(&text)?;
        // A link to a file elsewhere stays one.
        scratch.persist(file.canonicalize().unwrap_or_else(|_| file.to_owned()))?;
        Ok(())
    };
    written()
        .map_err(|error| Failure::new(format!("cannot write `{}`: {error}", file.display())).into())
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
        let mut ours = read(ours, Path::new("config")).unwrap_or_else(|_| panic!("it is readable"));
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
        let theirs = read(theirs, path).unwrap_or_else(|_| panic!("it is readable"));
        let ours = read(ours, path).unwrap_or_else(|_| panic!("it is readable"));
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
