//! A resource: a manifest and what the build has to remember about it.
//!
//! kustomize keeps its memory (former names, prefixes, generator behaviour) in annotations of the
//! manifest and removes them at the end. Here it stands beside the tree, which makes it cheap; the few
//! places where the annotations would be visible ask [`Resource::has_build_annotations`].

use std::{cell::OnceCell, sync::Arc};

use flumen_object::{Gvk, Origin};
use flumen_patch::Hints;
use flumen_schema::Schema;
use flumen_yaml::{Entry, Map, Node, Pos, Text, Value};

use crate::{
    id::{self, ResId},
    links::Links,
};

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an annotation of kustomize's")]
pub(crate) struct Resource {
    node: Node,
    /// The current id, computed when asked for and forgotten when the tree may have changed.
    id: OnceCell<ResId>,
    previous: Vec<PreviousId>,
    pub(crate) prefixes: Vec<Text>,
    pub(crate) suffixes: Vec<Text>,
    /// Set on resources that come out of a generator.
    pub(crate) behavior: Option<Behavior>,
    pub(crate) needs_hash: bool,
    /// Set on patches: whether they may change the name or the kind of what they are applied to.
    pub(crate) allow_name_change: bool,
    pub(crate) allow_kind_change: bool,
    /// Whether another resource refers to this one by name.
    pub(crate) is_referenced: bool,
    /// Names of the `vars` that read from this resource.
    pub(crate) var_names: Vec<Text>,
    /// Which of its scalars are one and the same to kustomize.
    pub(crate) links: Links,
    pub(crate) origin: Origin,
    /// What merging must know of the file besides the tree; mostly nothing.
    pub(crate) hints: Option<Arc<Hints>>,
}

/// A name, namespace and kind that the resource had before a transformation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PreviousId {
    pub(crate) name: Text,
    /// The effective namespace at that time.
    pub(crate) namespace: Text,
    pub(crate) kind: Text,
}

/// What a generated resource does to one of the same id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// Nothing was said; it acts as `create`.
    #[default]
    Unspecified,
    Create,
    Replace,
    Merge,
}

impl Behavior {
    pub(crate) fn parse(text: &str) -> Self {
        match text {
            "replace" => Self::Replace,
            "merge" => Self::Merge,
            "create" => Self::Create,
            _ => Self::Unspecified,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unspecified => "unspecified",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Merge => "merge",
        }
    }
}

impl Resource {
    pub(crate) fn new(node: Node, origin: Origin) -> Self {
        Self {
            node,
            id: OnceCell::new(),
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            behavior: None,
            needs_hash: false,
            allow_name_change: false,
            allow_kind_change: false,
            is_referenced: false,
            var_names: Vec::new(),
            links: Links::default(),
            origin,
            hints: None,
        }
    }

    pub(crate) const fn node(&self) -> &Node {
        &self.node
    }

    /// The tree, for a change that may touch the id.
    pub(crate) fn node_mut(&mut self) -> &mut Node {
        self.id.take();
        &mut self.node
    }

    /// The tree, for a change that leaves `apiVersion`, `kind`, name and namespace alone.
    pub(crate) const fn body_mut(&mut self) -> &mut Node {
        &mut self.node
    }

    pub(crate) fn into_node(self) -> Node {
        self.node
    }

    /// Lets a change of one of several linked scalars show in all of them.
    ///
    /// To be called after any change of single values; see [`crate::links`].
    pub(crate) fn settle_links(&mut self) {
        if !self.links.is_empty() {
            self.links.settle(&mut self.node);
        }
    }

    /// The id by what the manifest says now.
    pub(crate) fn id(&self, schema: &Schema) -> &ResId {
        self.id.get_or_init(|| ResId::of(&self.node, schema))
    }

    /// Every id the resource had before, oldest first.
    pub(crate) fn previous_ids(&self) -> impl Iterator<Item = ResId> + '_ {
        let api_version = self.node.get("apiVersion").and_then(Node::text).cloned();
        let api_version = api_version.unwrap_or_default();
        self.previous.iter().map(move |previous| ResId {
            gvk: Gvk::new(&api_version, previous.kind.clone()),
            name: previous.name.clone(),
            namespace: previous.namespace.clone(),
            // The namespace stored is the effective one already.
            cluster_scoped: previous.namespace == id::NOT_A_NAMESPACE,
        })
    }

    pub(crate) fn previous(&self) -> &[PreviousId] {
        &self.previous
    }

    /// The id the resource had when it was read or generated.
    pub(crate) fn original_id(&self, schema: &Schema) -> ResId {
        self.previous_ids().next().unwrap_or_else(|| self.id(schema).clone())
    }

    /// Name and effective namespace of [`Resource::original_id`], without copying.
    pub(crate) fn original_name(&self) -> &str {
        match self.previous.first() {
            Some(previous) => &previous.name,
            None => self.name(),
        }
    }

    pub(crate) fn original_namespace<'a>(&'a self, schema: &Schema) -> &'a str {
        match self.previous.first() {
            Some(previous) => &previous.namespace,
            None => self.id(schema).effective_namespace(),
        }
    }

    /// Remembers the present id, before a transformation changes it.
    pub(crate) fn store_previous_id(&mut self, schema: &Schema) {
        let id = self.id(schema);
        let namespace = match id.effective_namespace() {
            namespace if namespace == id.namespace.as_str() => id.namespace.clone(),
            namespace => Text::from(namespace),
        };
        let previous = PreviousId { name: id.name.clone(), namespace, kind: id.gvk.kind.clone() };
        self.previous.push(previous);
    }

    /// Takes over the former ids of `other`, which this resource replaces.
    pub(crate) fn take_history_of(&mut self, other: &Self) {
        self.previous.clone_from(&other.previous);
        self.prefixes.clone_from(&other.prefixes);
        self.suffixes.clone_from(&other.suffixes);
    }

    pub(crate) fn set_history(&mut self, previous: Vec<PreviousId>) {
        self.previous = previous;
    }

    pub(crate) fn kind(&self) -> &str {
        self.node.get("kind").and_then(Node::as_str).unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.meta("name")
    }

    pub(crate) fn namespace(&self) -> &str {
        self.meta("namespace")
    }

    fn meta(&self, key: &str) -> &str {
        let value = self.node.get("metadata").and_then(|meta| meta.get(key));
        value.filter(|value| !value.is_null()).and_then(Node::as_str).unwrap_or_default()
    }

    pub(crate) fn set_name(&mut self, name: impl Into<Text>) {
        if let Some(meta) = self.metadata_mut() {
            meta.set(Text::literal("name"), Node::string(name));
        }
    }

    /// Sets the namespace; an empty one drops the field.
    pub(crate) fn set_namespace(&mut self, namespace: &Text) {
        if namespace.is_empty() {
            if let Some(meta) = self.node_mut().get_mut("metadata").and_then(Node::as_map_mut) {
                meta.remove("namespace");
            }
        } else if let Some(meta) = self.metadata_mut() {
            meta.set(Text::literal("namespace"), Node::string(namespace.clone()));
        }
    }

    fn metadata_mut(&mut self) -> Option<&mut Map> {
        field_map_mut(self.node_mut().as_map_mut()?, "metadata")
    }

    /// The entries of `metadata.annotations`, or none.
    pub(crate) fn annotations(&self) -> &[Entry] {
        self.metadata_entries("annotations")
    }

    pub(crate) fn labels(&self) -> &[Entry] {
        self.metadata_entries("labels")
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations()
            .iter()
            .find(|entry| entry.key == *key)
            .map(|entry| scalar_text(&entry.value))
    }

    fn metadata_entries(&self, field: &str) -> &[Entry] {
        let map = self.node.at(&["metadata", field]).and_then(Node::as_map);
        map.map_or(&[], |map| map.entries())
    }

    pub(crate) fn set_annotation(&mut self, key: &str, value: impl Into<Text>) {
        // kustomize writes all annotations anew here.
        self.links.forget(&["metadata", "annotations"]);
        if let Some(annotations) =
            self.metadata_mut().and_then(|meta| field_map_mut(meta, "annotations"))
        {
            annotations.set(key, Node::string(value));
        }
    }

    /// Replaces `metadata.labels` or `metadata.annotations` by strings, sorted by key; with none the
    /// field goes away.
    pub(crate) fn set_metadata_strings(&mut self, field: &str, mut pairs: Vec<(Text, Text)>) {
        let Some(meta) = self.metadata_mut() else { return };
        if pairs.is_empty() {
            meta.remove(field);
            return;
        }
        pairs.sort();
        let entries = pairs.into_iter().map(|(key, value)| Entry::new(key, Node::string(value)));
        let map = Node::new(Pos::default(), Value::Map(entries.collect()));
        meta.remove(field);
        meta.push(Entry::new(field, map));
    }

    /// Whether kustomize would have annotations of its own on this resource at this point.
    ///
    /// It matters where their presence shows: a JSON patch that adds below `/metadata/annotations`
    /// succeeds although the manifest has none, and an empty mapping goes away at the end.
    pub(crate) fn has_build_annotations(&self) -> bool {
        !self.previous.is_empty()
            || !self.prefixes.is_empty()
            || !self.suffixes.is_empty()
            || self.behavior.is_some()
            || self.needs_hash
            || self.allow_name_change
            || self.allow_kind_change
            || self.is_referenced
    }
}

/// The text of a scalar; mappings and sequences have none.
pub(crate) fn scalar_text(node: &Node) -> &str {
    node.as_str().unwrap_or_default()
}

/// The mapping below `key`, made if it is missing or null.
pub(crate) fn field_map_mut<'a>(map: &'a mut Map, key: &'static str) -> Option<&'a mut Map> {
    let index = map.iter().position(|entry| entry.key == *key);
    let index = index.unwrap_or_else(|| {
        map.push(Entry::new(Text::literal(key), Node::map()));
        map.len() - 1
    });
    let value = &mut map.entries_mut().get_mut(index)?.value;
    if value.is_null() {
        *value = Node::map();
    }
    value.as_map_mut()
}
