//! Image names, tags and digests.
//!
//! kustomize passes over everything twice for each entry of `images`: once for `containers` and
//! `initContainers` wherever they stand, once for the configured fields. A field that both reach is
//! changed twice, which shows with `tagSuffix`. Here the fields of a resource are found once, with how
//! often each way reaches them, and all entries are applied to each field in turn.

mod name;

use flumen_yaml::{Node, Value};
use rustc_hash::FxHashMap;

use self::name::ImageName;
use crate::{
    config::FieldSpec,
    error::{Error, Result},
    fieldspec::{Create, Fields, wrong_kind},
    kustomization::fields::Image,
    resmap::ResMap,
    resource::Resource,
    scalar,
    transform::Scene,
};

pub(crate) fn transform(
    resources: &mut ResMap,
    images: &[Image],
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    let entries = images
        .iter()
        .map(|image| match ImageName::parse(&image.name) {
            Some(name) => Ok((name, image)),
            None => Err(Error::new(format!(
                "image name '{}' is not a valid regular expression",
                image.name
            ))
            .at(scene.file, image.pos)),
        })
        .collect::<Result<Vec<_>>>()?;
    let fields = Fields::new(specs);
    for resource in resources.bodies_mut() {
        if resource.kind() != "CustomResourceDefinition" {
            update(resource, &entries, &fields, scene)?;
        }
    }
    Ok(())
}

/// How often a field is reached by either way.
#[derive(Default)]
struct Visits {
    containers: usize,
    specs: usize,
}

fn update(
    resource: &mut Resource,
    entries: &[(ImageName, &Image)],
    fields: &Fields<'_>,
    scene: &Scene<'_>,
) -> Result<()> {
    // Nothing is added or removed between the walks, so a node's address tells it from the others.
    let mut visits: FxHashMap<usize, Visits> = FxHashMap::default();
    find_containers(resource.body_mut(), &mut |image| {
        if !image.is_scalar() {
            return Err(wrong_kind("ScalarNode", image));
        }
        visits.entry(address(image)).or_default().containers += 1;
        Ok(())
    })?;
    fields.visit(resource, Create::Never, scene.schema, |image, _| {
        if !image.is_scalar() {
            return Err(wrong_kind("ScalarNode", image));
        }
        visits.entry(address(image)).or_default().specs += 1;
        Ok(())
    })?;
    if visits.is_empty() {
        return Ok(());
    }
    let mut change = |image: &mut Node| -> Result<()> {
        // The first to reach a field makes all changes.
        let Some(visits) = visits.remove(&address(image)) else { return Ok(()) };
        let times = visits.containers + visits.specs;
        for (name, entry) in entries {
            for _ in 0..times {
                let value = scalar::text(image);
                if name.matches(value) {
                    let value = name::replaced(value, entry);
                    scalar::set_untagged(image, value.into())?;
                }
            }
        }
        Ok(())
    };
    find_containers(resource.body_mut(), &mut change)?;
    fields.visit(resource, Create::Never, scene.schema, |image, _| change(image))?;
    resource.settle_links();
    Ok(())
}

fn address(node: &Node) -> usize {
    std::ptr::from_ref(node).addr()
}

/// Calls `found` on the `image` of every element of a sequence called `containers` or
/// `initContainers`, at any depth.
fn find_containers(node: &mut Node, found: &mut impl FnMut(&mut Node) -> Result<()>) -> Result<()> {
    match &mut node.value {
        Value::Scalar(_) => Ok(()),
        Value::Seq(items) => items.iter_mut().try_for_each(|item| find_containers(item, found)),
        Value::Map(map) => {
            for entry in map.iter_mut() {
                find_containers(&mut entry.value, found)?;
                if !matches!(entry.key.as_str(), "containers" | "initContainers") {
                    continue;
                }
                let Some(containers) = entry.value.as_seq_mut() else { continue };
                for container in containers {
                    if !container.is_map() && !container.is_null() {
                        return Err(wrong_kind("MappingNode", container));
                    }
                    if let Some(image) = container.get_mut("image").filter(|image| !image.is_null())
                    {
                        found(image)?;
                    }
                }
            }
            Ok(())
        }
    }
}
