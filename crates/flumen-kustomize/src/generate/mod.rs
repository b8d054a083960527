//! Generators: resources made from literals and files.

mod config_map;
mod iam;
mod pairs;
mod secret;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use flumen_object::Origin;
use flumen_yaml::{Entry, Map, Node, Pos, Tag, Text, Value};

pub(crate) use self::{
    config_map::config_map,
    iam::{IamPolicyArgs, iam_policy},
    secret::secret,
};
use crate::{
    error::{Error, Result},
    kustomization::fields::{GeneratorArgs, GeneratorOptions, Pairs},
    resmap::ResMap,
    resource::{Behavior, Resource},
    scalar::{self, new_string},
    transform::Scene,
};

/// The manifest that generators of both kinds begin with.
fn manifest(kind: &'static str, args: &GeneratorArgs) -> Result<Map> {
    if args.name.is_empty() {
        return Err(Error::new("a configmap must have a name")
            .hint(format!("give the generated {kind} a `name`")));
    }
    let mut metadata = Map::new();
    metadata.push(Entry::new(Text::literal("name"), new_string(args.name.clone())));
    if !args.namespace.is_empty() {
        metadata.push(Entry::new(Text::literal("namespace"), new_string(args.namespace.clone())));
    }
    let mut map = Map::new();
    map.push(Entry::new(Text::literal("apiVersion"), Node::string(Text::literal("v1"))));
    map.push(Entry::new(Text::literal("kind"), Node::string(Text::literal(kind))));
    map.push(Entry::new(Text::literal("metadata"), mapping(metadata)));
    Ok(map)
}

/// Adds what the options ask for, and makes the manifest a resource.
fn finish(
    mut map: Map,
    args: &GeneratorArgs,
    shared: Option<&GeneratorOptions>,
    scene: &Scene<'_>,
) -> Result<ResMap> {
    let own = args.options.as_ref();
    if let Some(metadata) = map.get_mut("metadata").and_then(Node::as_map_mut) {
        let labels = merged(own, shared, |options| &options.labels);
        add_strings(metadata, "labels", &labels)?;
        let annotations = merged(own, shared, |options| &options.annotations);
        add_strings(metadata, "annotations", &annotations)?;
    }
    let is_on = |switch: fn(&GeneratorOptions) -> bool| {
        own.is_some_and(switch) || shared.is_some_and(switch)
    };
    if is_on(|options| options.immutable) {
        let value = Node::scalar(Text::literal("true"), Tag::Bool);
        map.push(Entry::new(Text::literal("immutable"), value));
    }
    let origin = Origin { file: Some(Arc::clone(scene.file)), pos: args.pos, ..Origin::default() };
    let mut resource = Resource::new(mapping(map), origin);
    resource.behavior = Some(Behavior::parse(&args.behavior));
    resource.needs_hash = !is_on(|options| options.disable_name_suffix_hash);
    let mut resources = ResMap::default();
    resources.append(resource, scene.schema)?;
    Ok(resources)
}

/// The pairs of both, sorted by key; those of the generator itself win.
fn merged(
    own: Option<&GeneratorOptions>,
    shared: Option<&GeneratorOptions>,
    pairs: fn(&GeneratorOptions) -> &Pairs,
) -> Pairs {
    let mut all: Pairs = own.into_iter().chain(shared).flat_map(pairs).cloned().collect();
    // Stable, so that of equal keys the first is the generator's own.
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all.dedup_by(|(later, _), (earlier, _)| later == earlier);
    all
}

fn add_strings(metadata: &mut Map, field: &'static str, pairs: &Pairs) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let mut strings = Map::new();
    for (key, value) in pairs {
        scalar::check_new_key(key)?;
        strings.push(Entry::new(key.clone(), new_string(value.clone())));
    }
    metadata.push(Entry::new(Text::literal(field), mapping(strings)));
    Ok(())
}

const fn mapping(map: Map) -> Node {
    Node::new(Pos { line: 0, column: 0 }, Value::Map(map))
}
