//! The annotations in which kustomize keeps its memory, for the few who look at them.
//!
//! The memory stands in the fields of [`Resource`]. A patch can still see the annotations: it can
//! add below them, remove them, replace them, or copy them elsewhere. For the time of such a patch
//! they are written into the tree with [`write`] and read back afterwards with [`absorb`].

use flumen_yaml::{Entry, Map, Node, Tag, Text};

use crate::resource::{Behavior, PreviousId, Resource, field_map_mut, scalar_text};

pub(crate) const INTERNAL: &str = "internal.config.kubernetes.io/";
const PREVIOUS_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
const PREVIOUS_NAMES: &str = "internal.config.kubernetes.io/previousNames";
const PREVIOUS_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
const REFERENCED_BY: &str = "internal.config.kubernetes.io/refBy";
const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";
const ALLOW_NAME_CHANGE: &str = "internal.config.kubernetes.io/allowNameChange";
const ALLOW_KIND_CHANGE: &str = "internal.config.kubernetes.io/allowKindChange";
const ENABLED: &str = "enabled";

/// Annotations that belong to the build and never leave it, even where a manifest has them.
pub(crate) const NEVER_PRINTED: [&str; 19] = [
    PREVIOUS_KINDS,
    PREVIOUS_NAMES,
    PREFIXES,
    SUFFIXES,
    PREVIOUS_NAMESPACES,
    ALLOW_NAME_CHANGE,
    ALLOW_KIND_CHANGE,
    REFERENCED_BY,
    BEHAVIOR,
    NEEDS_HASH,
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "internal.config.kubernetes.io/helm-generated",
];

/// What kustomize would have written on the resource by now.
pub(crate) fn of(resource: &Resource) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    if !resource.has_build_annotations() {
        return pairs;
    }
    let previous = resource.previous();
    if !previous.is_empty() {
        pairs.push((PREVIOUS_KINDS, join(previous.iter().map(|id| &id.kind))));
        pairs.push((PREVIOUS_NAMES, join(previous.iter().map(|id| &id.name))));
        pairs.push((PREVIOUS_NAMESPACES, join(previous.iter().map(|id| &id.namespace))));
    }
    if !resource.prefixes.is_empty() {
        pairs.push((PREFIXES, join(resource.prefixes.iter())));
    }
    if !resource.suffixes.is_empty() {
        pairs.push((SUFFIXES, join(resource.suffixes.iter())));
    }
    if let Some(behavior) = resource.behavior {
        pairs.push((BEHAVIOR, behavior.as_str().to_owned()));
    }
    let switches = [
        (NEEDS_HASH, resource.needs_hash),
        (ALLOW_NAME_CHANGE, resource.allow_name_change),
        (ALLOW_KIND_CHANGE, resource.allow_kind_change),
        (REFERENCED_BY, resource.is_referenced),
    ];
    pairs.extend(switches.into_iter().filter(|(_, on)| *on).map(|(key, _)| (key, ENABLED.into())));
    pairs
}

fn join<'a>(texts: impl Iterator<Item = &'a Text>) -> String {
    let texts: Vec<&str> = texts.map(Text::as_str).collect();
    texts.join(",")
}

/// Writes the memory into the annotations of the tree.
pub(crate) fn write(resource: &mut Resource) {
    let pairs = of(resource);
    write_pairs(resource.body_mut(), &pairs);
}

/// Writes pairs among the annotations of a tree.
pub(crate) fn write_pairs(node: &mut Node, pairs: &[(&'static str, String)]) {
    if pairs.is_empty() {
        return;
    }
    let Some(root) = node.as_map_mut() else { return };
    let annotations =
        field_map_mut(root, "metadata").and_then(|meta| field_map_mut(meta, "annotations"));
    if let Some(annotations) = annotations {
        for (key, value) in pairs {
            annotations.set(*key, Node::string(value.as_str()));
        }
    }
}

/// Reads the memory back from the annotations of the tree and removes it there. What is not there
/// any more is forgotten.
pub(crate) fn absorb(resource: &mut Resource) {
    let found = take(resource);
    let value = |key: &str| found.iter().find(|entry| entry.key == *key).map(text);
    let list = |key: &str| -> Vec<Text> {
        value(key).map(|list| list.split(',').map(Text::from).collect()).unwrap_or_default()
    };
    let is_on = |key: &str| value(key).is_some_and(|value| value == ENABLED);

    let (names, namespaces, kinds) =
        (list(PREVIOUS_NAMES), list(PREVIOUS_NAMESPACES), list(PREVIOUS_KINDS));
    let previous = names.into_iter().zip(namespaces).zip(kinds);
    resource.set_history(
        previous.map(|((name, namespace), kind)| PreviousId { name, namespace, kind }).collect(),
    );
    resource.prefixes = list(PREFIXES);
    resource.suffixes = list(SUFFIXES);
    resource.behavior = value(BEHAVIOR).map(Behavior::parse);
    resource.needs_hash = is_on(NEEDS_HASH);
    resource.allow_name_change = is_on(ALLOW_NAME_CHANGE);
    resource.allow_kind_change = is_on(ALLOW_KIND_CHANGE);
    resource.is_referenced = value(REFERENCED_BY).is_some();
}

fn text(entry: &Entry) -> &str {
    scalar_text(&entry.value)
}

/// Takes the entries of the memory out of the tree.
fn take(resource: &mut Resource) -> Vec<Entry> {
    const KEYS: [&str; 10] = [
        PREVIOUS_KINDS,
        PREVIOUS_NAMES,
        PREVIOUS_NAMESPACES,
        PREFIXES,
        SUFFIXES,
        REFERENCED_BY,
        BEHAVIOR,
        NEEDS_HASH,
        ALLOW_NAME_CHANGE,
        ALLOW_KIND_CHANGE,
    ];
    let Some(meta) = resource.body_mut().get_mut("metadata").and_then(Node::as_map_mut) else {
        return Vec::new();
    };
    let Some(annotations) = meta.get_mut("annotations").and_then(Node::as_map_mut) else {
        return Vec::new();
    };
    let is_ours =
        |entry: &Entry| entry.key.starts_with(INTERNAL) && KEYS.contains(&entry.key.as_str());
    if !annotations.iter().any(is_ours) {
        return Vec::new();
    }
    let (ours, theirs): (Vec<Entry>, Vec<Entry>) =
        std::mem::take(annotations.entries_mut()).into_iter().partition(is_ours);
    if theirs.is_empty() {
        meta.remove("annotations");
    } else {
        *annotations = Map::from(theirs);
    }
    ours
}

/// Removes kustomize's internal annotations and makes every value a string, as it does at the end
/// of a build. Without any annotation left the field goes away.
pub(crate) fn finish(node: &mut Node, drop: &[&str]) {
    let Some(meta) = node.get_mut("metadata").and_then(Node::as_map_mut) else { return };
    let Some(annotations) = meta.get_mut("annotations") else { return };
    let is_empty = match annotations.as_map_mut() {
        Some(map) => {
            map.retain(|entry| !drop.contains(&entry.key.as_str()));
            map.iter_mut().for_each(make_string);
            map.is_empty()
        }
        None => true,
    };
    if is_empty {
        meta.remove("annotations");
    }
}

fn make_string(entry: &mut Entry) {
    match entry.value.as_scalar_mut() {
        Some(scalar) => scalar.tag = Tag::Str,
        None => entry.value = Node::string(Text::default()),
    }
}
