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
    let entries: Vec<_> =
        images.iter().map(|image| (ImageName::parse(&image.name), image)).collect();
    let fields = Fields::new(specs);
    let list: &mut [Resource] =
        if fields.reach_ids() { resources.resources_mut() } else { resources.bodies_mut() };
    for resource in list {
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
    entries: &[(Option<ImageName>, &Image)],
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
            let Some(name) = name else {
                let message =
                    format!("image name '{}' is not a valid regular expression", entry.name);
                return Err(Error::new(message).at(scene.file, entry.pos));
            };
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

#[cfg(test)]
mod tests {
    use super::transform;
    use crate::{
        config::TransformerConfig, kustomization::fields::Image, transform::stage::transformed,
    };

    const POD: &str = "\
apiVersion: v1
kind: Pod
spec:
  containers:
  - {name: a, image: nginx}
  - {name: b, image: \"nginx:1.2\"}
  - {name: c, image: host:5000/nginx@sha256:abc}
  - {name: d, image: 5}
  - {name: e, image: null}
  - {name: f}
  initContainers: null
  volumes:
  - image: {reference: nginx:1}
";

    #[track_caller]
    fn check(images: &[Image], input: &str, expected: &str) {
        let specs = TransformerConfig::builtin().images;
        let actual =
            transformed(input, |resources, scene| transform(resources, images, &specs, scene));
        assert_eq!(actual, expected);
    }

    #[track_caller]
    fn check_pod(images: &[Image], [a, b, c, d, volume]: [&str; 5]) {
        let expected = format!(
            "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: {a}\n    name: a\n  \
             - image: {b}\n    name: b\n  - image: {c}\n    name: c\n  - image: {d}\n    name: d\n  \
             - image: null\n    name: e\n  - name: f\n  initContainers: []\n  volumes:\n  \
             - image:\n      reference: {volume}\n"
        );
        check(images, POD, &expected);
    }

    fn image(name: &str) -> Image {
        Image { name: name.into(), ..Image::default() }
    }

    #[test]
    fn entries_apply_one_after_the_other() {
        check_pod(
            &[
                Image { new_tag: "3".into(), ..image("nginx") },
                Image { new_name: "6".into(), ..image("5") },
            ],
            ["nginx:3", "nginx:3", "host:5000/nginx@sha256:abc", "6", "nginx:3"],
        );
        check_pod(
            &[
                Image { new_name: "other".into(), ..image("nginx") },
                Image { new_tag: "v9".into(), digest: "sha256:d".into(), ..image("other") },
                Image { digest: "sha256:e".into(), ..image("host:.*") },
            ],
            [
                "other:v9@sha256:d",
                "other:v9@sha256:d",
                "host:5000/nginx@sha256:e",
                "5",
                "other:v9@sha256:d",
            ],
        );
    }

    #[test]
    fn a_suffix_is_added_as_often_as_a_field_is_reached() {
        check_pod(
            &[Image { tag_suffix: "-x".into(), ..image("nginx") }],
            ["nginx:-x-x", "nginx:1.2-x-x", "host:5000/nginx@sha256:abc", "5", "nginx:1-x"],
        );
    }

    #[test]
    fn containers_are_found_at_any_depth_but_not_in_definitions() {
        let new = [Image { new_tag: "3".into(), ..image("nginx") }];
        check(
            &new,
            "{kind: Any, deep: [{containers: [{image: nginx}]}], containers: {image: nginx}}",
            "containers:\n  image: nginx\ndeep:\n- containers:\n  - image: nginx:3\nkind: Any\n",
        );
        let definition = "kind: CustomResourceDefinition\nspec:\n  containers:\n  - image: nginx\n";
        check(&new, definition, definition);
    }

    #[test]
    fn what_is_no_image_is_refused() {
        let wrong = [image("[")];
        check(&wrong, "kind: Pod\n", "kind: Pod\n");
        check(
            &wrong,
            "{kind: Pod, spec: {containers: [{image: x}]}}",
            "error: image name '[' is not a valid regular expression\n",
        );
        check(
            &[image("x")],
            "{kind: Pod, spec: {containers: [{image: [x]}]}}",
            "error: wrong node kind: expected ScalarNode but got SequenceNode\n",
        );
        check(
            &[image("x")],
            "{kind: Pod, spec: {containers: [x]}}",
            "error: wrong node kind: expected MappingNode but got ScalarNode\n",
        );
    }
}
