//! Labels: string pairs added to every mapping that the field specifications reach.

use std::sync::Arc;

use flumen_yaml::{Entry, Node, Scalar, Text, Value};

use crate::{
    config::FieldSpec,
    error::Result,
    fieldspec::{Create, Fields, wrong_kind},
    kustomization::fields::Pairs,
    links::{self, Linking},
    resmap::ResMap,
    transform::Scene,
};

pub(crate) fn transform(
    resources: &mut ResMap,
    pairs: &Pairs,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    add_pairs(resources, pairs, specs, scene)
}

/// Sets string pairs in mappings; annotations are added the same way.
pub(crate) fn add_pairs(
    resources: &mut ResMap,
    pairs: &Pairs,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let fields = Fields::new(specs);
    let mut pairs: Vec<_> = pairs.iter().map(|(key, value)| links::string_pair(key, value)).collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let pairs: Arc<[(Text, Scalar)]> = pairs.into();
    let mut linking = Linking::default();
    // A mapping of strings is no part of an id, wherever it is.
    for resource in resources.bodies_mut() {
        fields.visit(resource, Create::Mapping, scene.schema, |node, place| {
            let apart = set_pairs(node, &pairs)?;
            if apart.len() < pairs.len() {
                linking.add(place, apart);
            }
            Ok(())
        })?;
        resource.settle_links();
        linking.finish(&mut resource.links, &pairs);
    }
    Ok(())
}

/// Sets all pairs and returns the indices of those whose key was there before.
fn set_pairs(node: &mut Node, pairs: &[(Text, Scalar)]) -> Result<Vec<usize>> {
    if node.is_null() {
        // Not to be made here, and nothing to add to.
        return Ok((0..pairs.len()).collect());
    }
    let Value::Map(map) = &mut node.value else { return Err(wrong_kind("MappingNode", node)) };
    if pairs.iter().any(|(key, _)| key.is_empty()) {
        return Err(wrong_kind("ScalarNode", node));
    }
    let mut apart = Vec::new();
    for (index, (key, value)) in pairs.iter().enumerate() {
        match map.get_mut(key) {
            Some(old) => {
                let style = old.as_scalar().map_or(value.style, |scalar| scalar.style);
                old.value = Value::Scalar(Scalar { style, ..value.clone() });
                apart.push(index);
            }
            None => map.push(Entry::new(
                key.clone(),
                Node::new(flumen_yaml::Pos::default(), Value::Scalar(value.clone())),
            )),
        }
    }
    Ok(apart)
}
