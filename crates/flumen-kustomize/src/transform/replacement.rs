//! `replacements`: copying a value from one resource into fields of others.
//!
//! A replacement reads its value when its turn comes, so it sees what earlier ones wrote. Sources and
//! targets are chosen by any id that a resource has or had; here, unlike elsewhere, namespaces are
//! compared as written and nothing is known about kinds without a namespace.

mod embedded;
mod matches;
mod restyle;
mod source;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use flumen_object::Gvk;
use flumen_yaml::{Node, Tag, Text, Value};

use self::{
    matches::{Created, Matches},
    source::Source,
};
use super::Scene;
use crate::{
    build_annotations,
    decode::{Mode, decode, first_document},
    error::{Context, Error, Result},
    field_path,
    kustomization::{
        fields::{
            FieldOptions, Located, Replacement, ReplacementField, ReplacementTarget, Selector,
        },
        tables,
    },
    resmap::ResMap,
    resource::Resource,
    select::Matcher,
};

const DEFAULT_FIELD_PATH: &str = "metadata.name";

/// Applies replacements, one after the other.
pub(crate) fn transform(
    resources: &mut ResMap,
    entries: &[ReplacementField],
    scene: &Scene<'_>,
) -> Result<()> {
    for entry in entries {
        for replacement in load(entry, scene)?.iter() {
            apply(resources, replacement, scene)
                .map_err(|error| error.at(scene.file, replacement.pos))?;
        }
    }
    Ok(())
}

/// The replacements of an entry: its own, or those of a file.
fn load<'a>(entry: &'a ReplacementField, scene: &Scene<'_>) -> Result<Cow<'a, [Replacement]>> {
    let inline = &entry.replacement;
    if entry.path.is_empty() {
        return Ok(Cow::Borrowed(std::slice::from_ref(inline)));
    }
    if inline.source.is_some() || !inline.targets.is_empty() {
        return Err(
            Error::new("cannot specify both path and inline replacement").at(scene.file, entry.pos)
        );
    }
    let file = scene.loader.read(&entry.path).map_err(|error| error.at(scene.file, entry.pos))?;
    let node = first_document(&file.content, &file.path)?;
    let read = |node: &Node| decode(node, &file.path, Mode::AUXILIARY, tables::replacement);
    let list = match &node.value {
        Value::Seq(items) => items.iter().map(read).collect::<Result<Vec<_>>>()?,
        Value::Map(_) => vec![read(&node)?],
        Value::Scalar(scalar) => {
            let found = match scalar.tag {
                Tag::Null => "invalid",
                Tag::Bool => "bool",
                Tag::Int | Tag::Float => "float64",
                _ => "string",
            };
            return Err(Error::new(format!(
                "unsupported replacement type encountered within replacement path: {found}"
            ))
            .at(&file.path, node.pos)
            .hint("the file must hold a replacement or a list of them"));
        }
    };
    // What goes wrong later is wrong in this file, not in the kustomization.
    Ok(Cow::Owned(list))
}

fn apply(resources: &mut ResMap, replacement: &Replacement, scene: &Scene<'_>) -> Result<()> {
    let has_source = replacement.source.is_some() || replacement.source_value.is_some();
    if !has_source || replacement.targets.is_empty() {
        return Err(Error::new("replacements must specify a source and at least one target"));
    }
    let mut value = match (&replacement.source, &replacement.source_value) {
        (Some(_), Some(_)) => {
            return Err(Error::new("value and resource selectors are mutually exclusive"));
        }
        (Some(source), None) => source::read(resources, source, scene)?,
        (None, value) => {
            Source { value: Node::plain(value.clone().unwrap_or_default()), origin: None }
        }
    };
    check_size(&value.value)?;
    replacement
        .targets
        .iter()
        .try_for_each(|target| write_target(resources, &mut value, target, scene))
}

/// Nodes of a value that is copied. A mapping that is copied into itself again and again doubles
/// each time.
const MAX_NODES: usize = 100_000;

/// Names in a path. Each one may make a mapping, and trees are read with the same limit.
const MAX_PATH: usize = 1_000;

fn check_size(value: &Node) -> Result<()> {
    let mut rest = vec![value];
    let mut count = 0_usize;
    while let Some(node) = rest.pop() {
        count += 1;
        match &node.value {
            Value::Scalar(_) => {}
            Value::Seq(items) => rest.extend(items),
            Value::Map(map) => rest.extend(map.iter().map(|entry| &entry.value)),
        }
        if count > MAX_NODES {
            return Err(Error::new(format!(
                "the value to copy is too large: the limit is {MAX_NODES} nodes"
            ))
            .hint("copy a smaller field; a value that contains its own target grows each time"));
        }
    }
    Ok(())
}

/// The ids a resource has or had, the current one first, with namespaces as written.
fn has_id(
    resource: &Resource,
    scene: &Scene<'_>,
    mut is_wanted: impl FnMut(&Gvk, &str, &str) -> bool,
) -> bool {
    let id = resource.id(scene.schema);
    is_wanted(&id.gvk, &id.name, &id.namespace)
        || resource.previous().iter().any(|previous| {
            let gvk = Gvk { kind: previous.kind.clone(), ..id.gvk.clone() };
            is_wanted(&gvk, &previous.name, &previous.namespace)
        })
}

/// Lets `body` see kustomize's own annotations if the path leads to all of them.
fn with_memory<T>(
    resource: &mut Resource,
    path: &[String],
    body: impl FnOnce(&mut Resource) -> Result<T>,
) -> Result<T> {
    let is_seen = match path {
        [first] => first == "metadata",
        [first, second] => first == "metadata" && second == "annotations",
        _ => false,
    };
    if is_seen {
        build_annotations::write(resource);
    }
    let result = body(resource);
    if is_seen {
        build_annotations::absorb(resource);
    }
    result
}

fn or_default(path: &Text) -> &str {
    if path.is_empty() { DEFAULT_FIELD_PATH } else { path }
}

fn not_a_scalar() -> Error {
    Error::new("delimiter option can only be used with scalar nodes")
}

/// Writes the value into every resource that a target selects.
fn write_target(
    resources: &mut ResMap,
    source: &mut Source,
    target: &ReplacementTarget,
    scene: &Scene<'_>,
) -> Result<()> {
    let Some(select) = &target.select else {
        return Err(
            Error::new("target must specify resources to select").at(scene.file, target.pos)
        );
    };
    let compile = |selector: &Selector| {
        Matcher::new(selector)
            .map_err(|error| error.at(scene.file, selector.pos))
            .within(|| "error creating target selector")
    };
    let selected = compile(select)?;
    let rejected = target
        .reject
        .iter()
        .map(|selector| Ok((compile(selector)?, Asks::of(selector))))
        .collect::<Result<Vec<_>>>()?;
    let default = [Located { text: Text::literal(DEFAULT_FIELD_PATH), pos: target.pos }];
    let paths = if target.field_paths.is_empty() { &default[..] } else { &target.field_paths };
    let paths: Vec<(&Located, Vec<String>)> =
        paths.iter().map(|path| (path, field_path::split(&path.text))).collect();
    if let Some((path, _)) = paths.iter().find(|(_, parts)| parts.len() > MAX_PATH) {
        return Err(Error::new(format!("the field path has more than {MAX_PATH} parts"))
            .at(scene.file, path.pos));
    }

    if let Some(first) = resources.iter().next() {
        // A selector that makes no sense is an error whatever the resources are called.
        is_target(first, &selected, &rejected, scene)?;
    }
    let mut ids_moved = false;
    for position in candidates(resources, selected.exact_name(), scene) {
        let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
        if !is_target(resource, &selected, &rejected, scene)? {
            continue;
        }
        let before = (resource.id(scene.schema).clone(), resource.previous().to_vec());
        for (path, parts) in &paths {
            with_memory(resource, parts, |resource| {
                let written =
                    Written { position, path: &path.text, parts, options: target.options.as_ref() };
                written.write(resource.node_mut(), source)
            })
            .map_err(|error| {
                error.at(scene.file, path.pos).hint(format!(
                    "the target is {} from {}",
                    resource.id(scene.schema),
                    resource.origin
                ))
            })?;
        }
        resource.settle_links();
        ids_moved |= before.0 != *resource.id(scene.schema) || before.1 != resource.previous();
    }
    if ids_moved {
        // Makes the collection forget where ids and names are.
        resources.resources_mut();
    }
    Ok(())
}

/// Where to look for resources of a name: all of them, if there is none to look for.
fn candidates(resources: &ResMap, name: Option<&str>, scene: &Scene<'_>) -> Vec<usize> {
    match name {
        Some(name) if !name.is_empty() => resources.by_name(name, scene.schema).to_vec(),
        _ => (0..resources.len()).collect(),
    }
}

/// Which parts a selector has.
struct Asks {
    id: bool,
    labels: bool,
}

impl Asks {
    fn of(selector: &Selector) -> Self {
        let Selector { group, version, kind, name, namespace, .. } = selector;
        Self {
            id: [group, version, kind, name, namespace].iter().any(|part| !part.is_empty()),
            labels: !selector.label_selector.is_empty() || !selector.annotation_selector.is_empty(),
        }
    }
}

/// Whether a resource is selected and not rejected. A rejection by id and labels means either.
fn is_target(
    resource: &Resource,
    selected: &Matcher,
    rejected: &[(Matcher, Asks)],
    scene: &Scene<'_>,
) -> Result<bool> {
    let has_labels = |matcher: &Matcher| {
        Ok(matcher.matches_annotations(resource)? && matcher.matches_labels(resource)?)
    };
    if !has_labels(selected)? {
        return Ok(false);
    }
    for (matcher, _) in rejected.iter().filter(|(_, asks)| asks.labels) {
        if has_labels(matcher)? {
            return Ok(false);
        }
    }
    let matches = |matcher: &Matcher| {
        has_id(resource, scene, |gvk, name, namespace| matcher.matches_id(gvk, name, namespace))
    };
    let is_rejected = rejected.iter().any(|(matcher, asks)| asks.id && matches(matcher));
    Ok(!is_rejected && matches(selected))
}

/// A field of a resource that the value is written to.
struct Written<'a> {
    position: usize,
    path: &'a str,
    parts: &'a [String],
    options: Option<&'a FieldOptions>,
}

impl Written<'_> {
    fn write(&self, root: &mut Node, source: &mut Source) -> Result<()> {
        let may_create = self.options.is_some_and(|options| options.create);
        let create = may_create.then(|| Created::like(&source.value));
        if embedded::write(root, &source.value, self.parts, create) {
            source.refresh(self.position, root);
            return Ok(());
        }
        let missing = || {
            let verb = if may_create { "find or create" } else { "find" };
            format!("unable to {verb} field {:?} in replacement target", self.path)
        };
        let matches =
            Matches::find(root, self.parts, create).map_err(|error| error.within(missing()))?;
        if matches.is_empty() {
            return Err(Error::new(missing()));
        }
        for found in &matches.places {
            source.refresh(self.position, root);
            if let Some(node) = field_path::follow_mut(root, &found.place) {
                set(node, found.is_new, &source.value, self.options)?;
            }
        }
        source.refresh(self.position, root);
        Ok(())
    }
}

/// Sets a field to the value, or to what the options make of both.
fn set(field: &mut Node, is_new: bool, value: &Node, options: Option<&FieldOptions>) -> Result<()> {
    let text = value.text().cloned().unwrap_or_default();
    let text = match options.filter(|options| !options.delimiter.is_empty()) {
        None => text,
        Some(options) => {
            let Some(old) = field.as_str() else { return Err(not_a_scalar()) };
            let delimiter = options.delimiter.as_str();
            let mut parts: Vec<&str> = old.split(delimiter).collect();
            match usize::try_from(options.index) {
                Err(_) => parts.insert(0, &text),
                Ok(index) => match parts.get_mut(index) {
                    Some(part) => *part = &text,
                    None => parts.push(&text),
                },
            }
            Text::from(parts.join(delimiter))
        }
    };
    matches::set_value(field, is_new, value, text)
}
