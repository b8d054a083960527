//! The value of a replacement, and the one resource it is read from.

use std::fmt;

use flumen_object::Gvk;
use flumen_yaml::{Node, Text};

use super::{Scene, candidates, has_id, not_a_scalar, or_default, with_memory};
use crate::{
    error::{Error, Result},
    field_path::{self, Place},
    id::ResId,
    kustomization::fields::{FieldOptions, SourceSelector},
    resmap::ResMap,
};

/// The value that is being copied.
pub(super) struct Source {
    pub(super) value: Node,
    /// Where it stands, if it is the whole of a field: when the replacement changes that field
    /// itself, what it copies from then on is the new value.
    pub(super) origin: Option<(usize, Place)>,
}

impl Source {
    /// Takes over what stands in the field by now, if it is one of the resource at `position`.
    pub(super) fn refresh(&mut self, position: usize, root: &Node) {
        if let Some((origin, place)) = &self.origin
            && *origin == position
            && let Some(node) = field_path::follow(root, place)
        {
            self.value.clone_from(node);
        }
    }
}

/// Finds the one resource that a source means and reads its value.
pub(super) fn read(
    resources: &mut ResMap,
    source: &SourceSelector,
    scene: &Scene<'_>,
) -> Result<Source> {
    fn agrees(wanted: &str, actual: &str) -> bool {
        wanted.is_empty() || wanted == actual
    }
    fn effective(namespace: &str) -> &str {
        if namespace.is_empty() { "default" } else { namespace }
    }
    let is_wanted = |gvk: &Gvk, name: &str, namespace: &str| {
        agrees(&source.name, name)
            && agrees(&source.kind, &gvk.kind)
            && agrees(&source.group, &gvk.group)
            && agrees(&source.version, &gvk.version)
            && (source.namespace.is_empty() || effective(&source.namespace) == effective(namespace))
    };
    let mut found = None;
    for position in candidates(resources, Some(source.name.as_str()), scene) {
        let Some(resource) = resources.resources().get(position) else { continue };
        if has_id(resource, scene, is_wanted)
            && let Some(other) = found.replace(position)
        {
            let places: Vec<String> = [other, position]
                .iter()
                .filter_map(|&position| resources.resources().get(position))
                .map(|resource| format!("{} ({})", resource.id(scene.schema), resource.origin))
                .collect();
            return Err(Error::new(format!("multiple matches for selector {}", Shown(source)))
                .at(scene.file, source.pos)
                .hint(format!("it selects {}", places.join(" and "))));
        }
    }
    let found =
        found.and_then(|position| Some((position, resources.bodies_mut().get_mut(position)?)));
    let Some((position, resource)) = found else {
        return Err(
            Error::new(format!("nothing selected by {}", Shown(source))).at(scene.file, source.pos)
        );
    };
    let path_text = or_default(&source.field_path);
    let path = field_path::split(path_text);
    let value = with_memory(resource, &path, |resource| {
        let place = field_path::locate(resource.node(), &path)
            .map_err(|error| error.within("error looking up replacement source"))?;
        let node = |place: &Place| field_path::follow(resource.node(), place).cloned();
        Ok(place.and_then(|place| Some((node(&place)?, place))))
    })?;
    let Some((value, place)) = value.filter(|(value, _)| !value.is_nil_or_empty()) else {
        return Err(Error::new(format!(
            "fieldPath `{path_text}` is missing for replacement source {}",
            source_id(source)
        ))
        .at(scene.file, source.pos)
        .hint(format!("the resource is defined in {}", resource.origin)));
    };
    let is_whole = source.options.as_ref().is_none_or(|options| options.delimiter.is_empty());
    let value = refine(value, source.options.as_ref())?;
    Ok(Source { value, origin: is_whole.then_some((position, place)) })
}

/// The part of a value that the options of a source ask for.
fn refine(mut value: Node, options: Option<&FieldOptions>) -> Result<Node> {
    let Some(options) = options.filter(|options| !options.delimiter.is_empty()) else {
        return Ok(value);
    };
    let Some(scalar) = value.as_scalar_mut() else { return Err(not_a_scalar()) };
    let index = usize::try_from(options.index).ok();
    let part = index.and_then(|index| scalar.text.split(options.delimiter.as_str()).nth(index));
    match part.map(Text::from) {
        Some(part) => {
            scalar.text = part;
            Ok(value)
        }
        None => Err(Error::new(format!(
            "options.index {} is out of bounds for value {}",
            options.index, scalar.text
        ))),
    }
}

/// A source as kustomize's messages show it.
struct Shown<'a>(&'a SourceSelector);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.0;
        write!(f, "{}", source_id(source))?;
        if !source.field_path.is_empty() {
            write!(f, ":{}", source.field_path)?;
        }
        match &source.options {
            Some(options) if options.create || !options.delimiter.is_empty() => {
                let FieldOptions { delimiter, index, create, .. } = options;
                write!(f, ":{delimiter}({index}), create={create}")
            }
            _ => Ok(()),
        }
    }
}

fn source_id(source: &SourceSelector) -> ResId {
    let SourceSelector { group, version, kind, name, namespace, .. } = source;
    ResId {
        gvk: Gvk { group: group.clone(), version: version.clone(), kind: kind.clone() },
        name: name.clone(),
        namespace: namespace.clone(),
        cluster_scoped: false,
    }
}
