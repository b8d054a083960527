//! The container images that an object asks a cluster to run.

use flumen_yaml::{Node, Text, Value};

use crate::Object;

/// Lists of containers in every pod template, wherever a kind has it.
const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Images of containers and of image volumes, in the order of the tree, repeated if it repeats them.
pub fn container_images(object: &Object) -> Vec<Text> {
    let mut images = Vec::new();
    collect(&object.node, &mut images);
    images
}

fn collect(node: &Node, images: &mut Vec<Text>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                let path: &[&str] = match entry.key.as_str() {
                    key if CONTAINER_LISTS.contains(&key) => &["image"],
                    "volumes" => &["image", "reference"],
                    _ => &[],
                };
                let items = entry.value.as_seq().filter(|_| !path.is_empty()).into_iter().flatten();
                let found = items.filter_map(|item| item.at(path)?.text());
                images.extend(found.filter(|image| !image.is_empty()).cloned());
                collect(&entry.value, images);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| collect(item, images)),
        Value::Scalar(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, read};

    use super::*;
    use crate::Origin;

    fn check(yaml: &str, expected: &[&str]) {
        let node = read(&yaml.into(), 1, &Budget::default()).expect("YAML").remove(0);
        let images = container_images(&Object { node, origin: Origin::default() });
        assert_eq!(images.iter().map(Text::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_kind_of_pod_template_is_read() {
        check(
            "kind: Pod\nspec:\n  initContainers: [{image: a}]\n  containers: [{image: b}, {name: c}]\n  \
             ephemeralContainers: [{image: d}]\n  volumes: [{image: {reference: e}}, {emptyDir: {}}]\n",
            &["a", "b", "d", "e"],
        );
        check(
            "kind: CronJob\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          \
             containers: [{image: 'a:1'}]\n",
            &["a:1"],
        );
        check(
            "kind: List\nitems:\n- spec: {template: {spec: {containers: [{image: a}]}}}\n- spec: \
             {template: {spec: {containers: [{image: a}]}}}\n",
            &["a", "a"],
        );
    }

    #[test]
    fn what_only_looks_like_containers_is_left() {
        check(
            "kind: CustomResourceDefinition\nspec:\n  properties:\n    containers:\n      \
             properties: {image: {type: string}}\n",
            &[],
        );
        check("kind: ConfigMap\ndata:\n  containers: '[{image: a}]'\n", &[]);
    }
}
