//! Fields of the specification, merged into the kustomization file.

use flumen_api::{BuildMetadata, Image, KustomizationSpec, Patch, Target};
use flumen_yaml::{Entry, Map, Node, Pos, Value};

use super::{BuildError, Stage, text_at};

/// What a component may not begin with. A longer text begins with it; the prefix alone is a path.
const REMOTE: [&str; 8] =
    ["git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"];

/// Keeps a file valid that has no resources: kustomize refuses one that says nothing.
pub(super) fn keep_valid(kustomization: &mut Node) {
    set_build_metadata(kustomization, &[BuildMetadata::OriginAnnotations]);
}

/// Changes a kustomization file as the specification says; `exists` tells whether a component does.
pub(super) fn merge(
    kustomization: &mut Node,
    spec: &KustomizationSpec,
    exists: impl Fn(&str) -> bool,
) -> Result<(), BuildError> {
    let texts = [
        ("namespace", &spec.target_namespace),
        ("namePrefix", &spec.name_prefix),
        ("nameSuffix", &spec.name_suffix),
    ];
    for (key, text) in texts {
        if let (Some(text), Some(fields)) = (text, kustomization.as_map_mut()) {
            fields.set(key, Node::string(text.as_str()));
        }
    }
    append(kustomization, "patches", spec.patches.iter().map(patch).collect());
    let mut components = Vec::new();
    for component in &spec.components {
        if !is_local_and_relative(component) {
            let message = format!("component path '{component}' must be local and relative");
            return Err(BuildError::new(Stage::Generate, message));
        }
        if !spec.ignore_missing_components || exists(component) {
            components.push(Node::string(component.as_str()));
        }
    }
    append(kustomization, "components", components);
    for image in &spec.images {
        merge_image(kustomization, image);
    }
    if !spec.build_metadata.is_empty() {
        set_build_metadata(kustomization, &spec.build_metadata);
    }
    Ok(())
}

fn patch(patch: &Patch) -> Node {
    let mut node = texts([("patch", Some(&patch.patch))]);
    if let (Some(target), Some(fields)) = (&patch.target, node.as_map_mut()) {
        fields.push(Entry::new("target", selector(target)));
    }
    node
}

fn selector(target: &Target) -> Node {
    texts([
        ("group", target.group.as_ref()),
        ("version", target.version.as_ref()),
        ("kind", target.kind.as_ref()),
        ("name", target.name.as_ref()),
        ("namespace", target.namespace.as_ref()),
        ("labelSelector", target.label_selector.as_ref()),
        ("annotationSelector", target.annotation_selector.as_ref()),
    ])
}

fn merge_image(kustomization: &mut Node, image: &Image) {
    let listed = kustomization.get_mut("images").and_then(Node::as_seq_mut);
    let mut listed = listed.into_iter().flatten();
    let same = listed.find(|node| text_at(node, &["name"]).unwrap_or_default() == image.name);
    let Some(fields) = same.and_then(Node::as_map_mut) else {
        let node = texts([
            ("name", Some(&image.name)),
            ("newName", image.new_name.as_ref()),
            ("newTag", image.new_tag.as_ref()),
            ("digest", image.digest.as_ref()),
        ]);
        return append(kustomization, "images", vec![node]);
    };
    if let Some(name) = &image.new_name {
        fields.set("newName", Node::string(name.as_str()));
    }
    // Both choose the version, so that one of them does away with the other.
    if image.new_tag.is_some() || image.digest.is_some() {
        for (key, text) in [("newTag", &image.new_tag), ("digest", &image.digest)] {
            match text {
                Some(text) => fields.set(key, Node::string(text.as_str())),
                None => drop(fields.remove(key)),
            }
        }
    }
}

fn set_build_metadata(kustomization: &mut Node, wishes: &[BuildMetadata]) {
    let wishes = wishes.iter().map(|wish| match wish {
        BuildMetadata::OriginAnnotations => Node::string("originAnnotations"),
        BuildMetadata::TransformerAnnotations => Node::string("transformerAnnotations"),
    });
    if let Some(fields) = kustomization.as_map_mut() {
        fields.set("buildMetadata", Node::seq(wishes.collect()));
    }
}

fn append(kustomization: &mut Node, key: &str, items: Vec<Node>) {
    let Some(fields) = kustomization.as_map_mut().filter(|_| !items.is_empty()) else { return };
    match fields.get_mut(key).and_then(Node::as_seq_mut) {
        Some(list) => list.extend(items),
        None => fields.set(key, Node::seq(items)),
    }
}

/// A mapping of those texts that say something.
fn texts<const N: usize>(texts: [(&'static str, Option<&String>); N]) -> Node {
    let given = texts.into_iter().filter_map(|(key, text)| Some((key, text?)));
    let filled = given.filter(|(_, text)| !text.is_empty());
    let fields = filled.map(|(key, text)| Entry::new(key, Node::string(text.as_str())));
    Node::new(Pos::default(), Value::Map(fields.collect::<Map>()))
}

fn is_local_and_relative(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let is_remote =
        REMOTE.iter().any(|prefix| lower.starts_with(prefix) && lower.len() > prefix.len());
    let local = lower.strip_prefix("file://").unwrap_or(&lower);
    !is_remote && !lower.starts_with('/') && !local.starts_with('/')
}
