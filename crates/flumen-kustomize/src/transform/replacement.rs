//! Replacements: not joined yet.

use crate::{
    error::{Error, Result},
    kustomization::fields::ReplacementField,
    resmap::ResMap,
    transform::Scene,
};

pub(crate) fn transform(
    _: &mut ResMap,
    _: &[ReplacementField],
    _: &Scene<'_>,
) -> Result<()> {
    Err(Error::new("replacements are not available yet"))
}
