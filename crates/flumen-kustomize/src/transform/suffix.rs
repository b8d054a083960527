//! Name suffixes.

use flumen_yaml::Text;

use crate::{
    config::FieldSpec,
    error::Result,
    resmap::ResMap,
    transform::{Scene, prefix::rename},
};

pub(crate) fn transform(
    resources: &mut ResMap,
    suffix: &Text,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    rename(
        resources,
        suffix,
        specs,
        scene,
        |resource| {
            if !suffix.is_empty() {
                resource.suffixes.push(suffix.clone());
                resource.store_previous_id(scene.schema);
            }
        },
        |name| format!("{name}{suffix}"),
    )
}
