//! Name prefixes, and what they have in common with suffixes.

use flumen_yaml::{Node, Tag, Text};

use crate::{
    config::FieldSpec,
    error::Result,
    fieldspec::{Create, Fields},
    id::ResId,
    resmap::ResMap,
    resource::Resource,
    scalar,
    transform::Scene,
};

pub(crate) fn transform(
    resources: &mut ResMap,
    prefix: &Text,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    rename(
        resources,
        specs,
        scene,
        |resource| {
            if !prefix.is_empty() {
                resource.prefixes.push(prefix.clone());
                resource.store_previous_id(scene.schema);
            }
        },
        |name| format!("{prefix}{name}"),
    )
}

/// Puts a new text into every field that the specifications reach.
///
/// `remember` is called first for a resource whose name is about to change, because references to it
/// are found by its former name and by what was put around it.
pub(super) fn rename(
    resources: &mut ResMap,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
    remember: impl Fn(&mut Resource),
    new_text: impl Fn(&str) -> String,
) -> Result<()> {
    let fields = Fields::new(specs);
    for resource in resources.resources_mut() {
        let original = resource.original_id(scene.schema);
        if keeps_its_name(&original) {
            continue;
        }
        for field in fields.iter().filter(|field| field.selects(&original.gvk)) {
            if field.spec.path == "metadata/name" {
                remember(resource);
            }
            let create = Create::Scalar(Tag::Str);
            field.visit(resource, create, scene.schema, |node: &mut Node, _| {
                let text = new_text(scalar::text(node));
                scalar::set_untagged(node, text.into())
            })?;
        }
        resource.settle_links();
    }
    Ok(())
}

/// Kinds whose names mean something to the cluster.
fn keeps_its_name(id: &ResId) -> bool {
    match id.gvk.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => true,
        "APIService" => id.gvk.group == *"apiregistration.k8s.io",
        _ => false,
    }
}
