//! Name suffixes.

use flumen_yaml::Text;

use crate::{
    config::FieldSpec,
    error::Result,
    resmap::ResMap,
    transform::{
        Scene,
        prefix::{check_length, rename},
    },
};

pub(crate) fn transform(
    resources: &mut ResMap,
    suffix: &Text,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    check_length("suffix", suffix)?;
    rename(
        resources,
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
