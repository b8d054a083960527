//! Applying one patch to one resource.

use std::path::Path;

use flumen_patch::{Hints, Outcome, Rules, strategic_merge_with};
use flumen_schema::Schema;
use flumen_yaml::{Map, Node, Pos, Tag, Text, Value};

use super::{Scene, json_form::normalise, load::Json};
use crate::{
    build_annotations::{self, INTERNAL},
    error::{Error, Result},
    id::ResId,
    resource::{Resource, field_map_mut},
    scalar,
};

/// Whether a change may have moved the id of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applied {
    SameId,
    IdMayDiffer,
    /// Nothing is left of the resource. Its id stays in the index until empty ones are dropped.
    Deleted,
}

/// A strategic merge patch with its options.
#[derive(Clone, Debug)]
pub(super) struct MergePatch {
    patch: Resource,
    /// Whether it can remove or replace all annotations of its target.
    sees_annotations: bool,
    /// Whether the target gives its `apiVersion` to the patch.
    takes_api_version: bool,
}

impl MergePatch {
    pub(super) fn new(
        mut patch: Resource,
        allow_name_change: bool,
        allow_kind_change: bool,
    ) -> Self {
        if allow_name_change || allow_kind_change {
            // kustomize writes its permission down among the annotations, all of which become
            // strings on that occasion: one that is null does not remove anything any more.
            stringify(patch.node_mut(), "annotations");
        }
        patch.allow_name_change = allow_name_change;
        patch.allow_kind_change = allow_kind_change;
        let sees_annotations = sees_annotations(patch.node());
        Self { patch, sees_annotations, takes_api_version: false }
    }

    /// The form in which a patch is applied to resources that were selected: labels and annotations
    /// are strings, and it is of the version of each target.
    pub(super) fn for_selected(mut self) -> Self {
        stringify(self.patch.node_mut(), "labels");
        stringify(self.patch.node_mut(), "annotations");
        self.sees_annotations = sees_annotations(self.patch.node());
        self.takes_api_version = true;
        self
    }

    pub(super) fn id(&self, schema: &Schema) -> ResId {
        self.patch.original_id(schema)
    }

    /// Where the patch is written.
    pub(super) fn place(&self) -> Option<(&Path, Pos)> {
        Some((self.patch.origin.file.as_deref()?, self.patch.origin.pos))
    }
}

/// Makes strings of all values of a mapping in `metadata`; an empty one goes away.
fn stringify(node: &mut Node, field: &str) {
    let Some(meta) = node.get_mut("metadata").and_then(Node::as_map_mut) else { return };
    let Some(map) = meta.get_mut(field) else { return };
    match map.as_map_mut() {
        Some(map) if !map.is_empty() => {
            map.iter_mut().for_each(|entry| make_string(&mut entry.value));
        }
        _ => {
            meta.remove(field);
        }
    }
}

fn make_string(node: &mut Node) {
    match &mut node.value {
        Value::Scalar(scalar) => scalar.tag = Tag::Str,
        _ => *node = Node::string(Text::default()),
    }
}

/// Whether merging can do anything to annotations besides adding some.
fn sees_annotations(patch: &Node) -> bool {
    let has_directive = |map: &Map| map.contains("$patch");
    let Some(root) = patch.as_map() else { return true };
    let Some(meta) = root.get("metadata") else { return has_directive(root) };
    let Some(meta) = meta.as_map() else { return true };
    let annotations = match meta.get("annotations") {
        None => false,
        Some(annotations) => annotations.as_map().is_none_or(|map| {
            has_directive(map) || map.iter().any(|entry| entry.key.starts_with(INTERNAL))
        }),
    };
    annotations || has_directive(root) || has_directive(meta)
}

/// Merges a patch into a resource. One that is deleted becomes an empty tree.
pub(super) fn merge(
    resource: &mut Resource,
    merge: &MergePatch,
    scene: &Scene<'_>,
) -> Result<Applied> {
    let before = resource.id(scene.schema).clone();
    let patch = &merge.patch;
    let may_change = patch.allow_name_change || patch.allow_kind_change;
    if may_change {
        resource.store_previous_id(scene.schema);
    }
    if merge.sees_annotations {
        build_annotations::write(resource);
    }
    let adapted = merge.takes_api_version.then(|| with_api_version(patch.node(), resource.node()));
    let tree = adapted.as_ref().and_then(Option::as_ref).unwrap_or(patch.node());
    let none = Hints::default();
    let target_hints = resource.hints.clone();
    let rules = Rules {
        schema: scene.schema,
        target_hints: target_hints.as_deref().unwrap_or(&none),
        patch_hints: patch.hints.as_deref().unwrap_or(&none),
    };
    let outcome = strategic_merge_with(resource.node_mut(), tree, rules)
        .map_err(|error| explain(error.to_string(), resource, merge, scene))?;
    if outcome == Outcome::Deleted || resource.node().is_nil_or_empty() {
        *resource.body_mut() = Node::null();
        return Ok(Applied::Deleted);
    }
    if merge.sees_annotations {
        build_annotations::absorb(resource);
    }
    if !patch.allow_kind_change
        && let Some(root) = resource.node_mut().as_map_mut()
    {
        restore(root, "kind", &before.gvk.kind, Some(tree))?;
    }
    if let Some(meta) =
        resource.node_mut().as_map_mut().and_then(|root| field_map_mut(root, "metadata"))
    {
        if !patch.allow_name_change {
            restore(meta, "name", &before.name, tree.get("metadata"))?;
        }
        if before.namespace.is_empty() {
            meta.remove("namespace");
        } else {
            restore(meta, "namespace", &before.namespace, tree.get("metadata"))?;
        }
    }
    resource.settle_links();
    resource.allow_name_change |= patch.allow_name_change;
    resource.allow_kind_change |= patch.allow_kind_change;
    let is_same = !merge.sees_annotations && *resource.id(scene.schema) == before;
    Ok(if is_same { Applied::SameId } else { Applied::IdMayDiffer })
}

/// The patch with the `apiVersion` of its target, unless it has that already.
fn with_api_version(patch: &Node, target: &Node) -> Option<Node> {
    let wanted = target.get("apiVersion").and_then(Node::text).cloned().unwrap_or_default();
    if patch.get("apiVersion").and_then(Node::text) == Some(&wanted) {
        return None;
    }
    let mut patch = patch.clone();
    if let Some(root) = patch.as_map_mut() {
        root.set(Text::literal("apiVersion"), Node::string(wanted));
    }
    Some(patch)
}

/// Puts a text back that the patch has changed. kustomize keeps the quotes that were there before, or
/// none, and does not say that the text is a string.
fn restore(map: &mut Map, key: &'static str, text: &Text, patch: Option<&Node>) -> Result<()> {
    let is_patched = patch.and_then(|patch| patch.get(key)).is_some();
    match map.get_mut(key) {
        Some(node) if node.is_scalar() && !node.is_null() && !is_patched => Ok(()),
        Some(node) if node.is_scalar() => scalar::set_untagged(node, text.clone()),
        _ => {
            map.set(Text::literal(key), scalar::new_string(text.clone()));
            Ok(())
        }
    }
}

/// Applies a JSON patch to a resource.
///
/// Whatever the patch does to kustomize's own annotations, they are put back. The others are strings
/// afterwards, and an empty mapping of them is gone.
pub(super) fn json(resource: &mut Resource, json: &Json, scene: &Scene<'_>) -> Result<Applied> {
    let before = resource.id(scene.schema).clone();
    let memory = json.sees_annotations.then(|| build_annotations::of(resource));
    build_annotations::write_pairs(resource.node_mut(), memory.as_deref().unwrap_or_default());
    json.patch.apply(resource.node_mut()).map_err(|error| {
        Error::new(error.to_string())
            .hint(format!("while patching {before} from {}", resource.origin))
    })?;
    normalise(resource.node_mut());
    resource.links.clear();
    if let Some(root) = resource.node_mut().as_map_mut()
        && !root.contains("metadata")
    {
        root.set(Text::literal("metadata"), Node::map());
    }
    if let Some(memory) = &memory {
        build_annotations::write_pairs(resource.node_mut(), memory);
        build_annotations::absorb(resource);
    }
    stringify(resource.node_mut(), "annotations");
    if resource.node().is_nil_or_empty() {
        return Ok(Applied::Deleted);
    }
    let is_same = *resource.id(scene.schema) == before
        && memory.is_none_or(|memory| build_annotations::of(resource) == memory);
    Ok(if is_same { Applied::SameId } else { Applied::IdMayDiffer })
}

fn explain(problem: String, resource: &Resource, merge: &MergePatch, scene: &Scene<'_>) -> Error {
    let error = Error::new(problem).hint(format!(
        "while patching {} from {}",
        resource.id(scene.schema),
        resource.origin
    ));
    match merge.place() {
        Some((file, pos)) => error.at(file, pos),
        None => error,
    }
}
