//! Annotations: like labels, but in fields of their own.

use crate::{
    config::FieldSpec,
    error::Result,
    kustomization::fields::Pairs,
    resmap::ResMap,
    transform::{Scene, labels::add_pairs},
};

pub(crate) fn transform(
    resources: &mut ResMap,
    pairs: &Pairs,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    add_pairs(resources, pairs, specs, scene)
}
