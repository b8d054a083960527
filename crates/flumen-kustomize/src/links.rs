//! Labels and annotations that are one value in several places.
//!
//! When kustomize adds a label to the metadata, the selector and the pod template of a workload, all
//! three refer to the same node in memory, and they keep doing so through all later layers. So an
//! overlay that patches the label in the metadata alone changes the selector as well. People have
//! repositories that build only because of this, so it is reproduced: a resource remembers which of
//! its places hold one value, and [`Links::settle`] spreads a change of one of them.

use std::sync::Arc;

use flumen_yaml::{Node, Scalar, Text, Value};

use crate::fieldspec::{FieldPath, Place};

/// The linked scalars of one resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    links: Vec<Link>,
}

/// Pairs that one transformation added to several mappings.
#[derive(Clone, Debug)]
struct Link {
    /// What each pair holds, as far as is known.
    pairs: Arc<[(Text, Scalar)]>,
    mappings: Vec<Mapping>,
}

#[derive(Clone, Debug)]
struct Mapping {
    path: FieldPath,
    indices: Box<[u32]>,
    /// Indices of the pairs that are not linked here, because the key was there before.
    apart: Vec<usize>,
}

/// Collects the mappings that one transformation of one resource reaches.
#[derive(Debug, Default)]
pub(crate) struct Linking {
    mappings: Vec<Mapping>,
}

impl Linking {
    /// Notes that pairs were added to the mapping at `place`, except those in `apart`.
    pub(crate) fn add(&mut self, place: Place<'_>, apart: Vec<usize>) {
        let Place { path, indices } = place;
        self.mappings.push(Mapping { path: path.clone(), indices: indices.into(), apart });
    }

    /// Links what was noted, and begins anew.
    pub(crate) fn finish(&mut self, links: &mut Links, pairs: &Arc<[(Text, Scalar)]>) {
        let mappings = std::mem::take(&mut self.mappings);
        if mappings.len() > 1 {
            links.links.push(Link { pairs: Arc::clone(pairs), mappings });
        }
    }
}

impl Links {
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Forgets all links: the tree was made anew.
    pub(crate) fn clear(&mut self) {
        self.links.clear();
    }

    /// Forgets the links of the mapping at a path, because it was made anew.
    pub(crate) fn forget(&mut self, path: &[&str]) {
        for link in &mut self.links {
            link.mappings.retain(|mapping| !mapping.path.is(path));
        }
        self.links.retain(|link| link.mappings.len() > 1);
    }

    /// Where one of several linked scalars was changed, changes the others too.
    pub(crate) fn settle(&mut self, root: &mut Node) {
        self.links.retain_mut(|link| {
            for index in 0..link.pairs.len() {
                link.settle(index, root);
            }
            link.mappings.len() > 1
        });
    }
}

impl Link {
    fn settle(&mut self, index: usize, root: &mut Node) {
        let Some((key, known)) = self.pairs.get(index) else { return };
        let mut changed = None;
        for mapping in &mut self.mappings {
            if mapping.apart.contains(&index) {
                continue;
            }
            let parent = mapping.path.find(root, &mapping.indices);
            match parent.and_then(|parent| parent.get(key)).map(|node| &node.value) {
                Some(Value::Scalar(scalar)) => {
                    if scalar.text != known.text || scalar.tag != known.tag {
                        changed = Some(scalar.clone());
                    }
                }
                // Removed, or no longer something that can be shared.
                _ => mapping.apart.push(index),
            }
        }
        let Some(changed) = changed else { return };
        for mapping in &self.mappings {
            if !mapping.apart.contains(&index)
                && let Some(parent) = mapping.path.find(root, &mapping.indices)
                && let Some(node) = parent.get_mut(key)
            {
                node.value = Value::Scalar(changed.clone());
            }
        }
        if let Some((_, known)) = Arc::make_mut(&mut self.pairs).get_mut(index) {
            *known = changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Node, Tag, Text};

    use crate::{
        config::TransformerConfig,
        resource::Resource,
        scalar,
        transform::{
            labels,
            stage::{spec, transformed},
        },
    };

    /// Labels a deployment, changes it, and shows the three places of the label.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Resource), expected: [&str; 3]) {
        let input = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}";
        let mut places = Vec::new();
        transformed(input, |resources, scene| {
            let config = TransformerConfig::builtin();
            let pairs = vec![(Text::from("app"), Text::from("base"))];
            labels::transform(resources, &pairs, &config.common_labels, scene)?;
            let resource = &mut resources.bodies_mut()[0];
            change(resource);
            resource.settle_links();
            let over = vec![(Text::from("other"), Text::from("x"))];
            labels::transform(resources, &over, &[spec("metadata/labels", true)], scene)?;
            for path in PLACES {
                let value = resources.resources()[0].node().at(path).and_then(Node::as_str);
                places.push(value.unwrap_or("-").to_owned());
            }
            Ok(())
        });
        assert_eq!(places, expected);
    }

    const PLACES: [&[&str]; 3] = [
        &["metadata", "labels", "app"],
        &["spec", "selector", "matchLabels", "app"],
        &["spec", "template", "metadata", "labels", "app"],
    ];

    fn set(resource: &mut Resource, place: &[&str], text: &str) {
        let node = resource.body_mut().at_mut(place).expect("it was added");
        scalar::set(node, text.into(), Tag::Str).expect("it is a scalar");
    }

    #[test]
    fn a_change_of_one_place_shows_in_all() {
        check(|_| (), ["base"; 3]);
        check(|resource| set(resource, PLACES[2], "new"), ["new"; 3]);
    }

    #[test]
    fn what_was_removed_stays_away_and_comes_back_alone() {
        let remove = |resource: &mut Resource| {
            let labels = resource.body_mut().at_mut(&["metadata", "labels"]);
            labels.and_then(Node::as_map_mut).expect("it was added").remove("app");
        };
        check(remove, ["-", "base", "base"]);
        check(
            |resource| {
                remove(resource);
                resource.settle_links();
                let labels = resource.body_mut().at_mut(&["metadata", "labels"]);
                labels
                    .and_then(Node::as_map_mut)
                    .expect("it was added")
                    .set("app", Node::string("x"));
            },
            ["x", "base", "base"],
        );
    }

    #[test]
    fn forgotten_links_spread_nothing() {
        check(
            |resource| {
                resource.links.clear();
                set(resource, PLACES[0], "new");
            },
            ["new", "base", "base"],
        );
        check(
            |resource| {
                resource.links.forget(&["metadata", "labels"]);
                set(resource, PLACES[1], "new");
            },
            ["base", "new", "new"],
        );
    }
}
