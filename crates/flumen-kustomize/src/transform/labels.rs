//! Labels: string pairs added to every mapping that the field specifications reach.

use std::sync::Arc;

use flumen_yaml::{Entry, Node, Pos, Scalar, Text, Value};

use crate::{
    config::FieldSpec,
    error::Result,
    fieldspec::{Create, Fields, wrong_kind},
    kustomization::fields::Pairs,
    links::Linking,
    resmap::ResMap,
    scalar::{self, new_string_scalar},
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
    let pair = |(key, value): &(Text, Text)| (key.clone(), new_string_scalar(value.clone()));
    let mut pairs: Vec<_> = pairs.iter().map(pair).collect();
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
        if let Some(old) = map.get_mut(key) {
            let style = old.as_scalar().map_or(value.style, |scalar| scalar.style);
            old.value = Value::Scalar(Scalar { style, ..value.clone() });
            apart.push(index);
        } else {
            scalar::check_new_key(key)?;
            let value = Node::new(Pos::default(), Value::Scalar(value.clone()));
            map.push(Entry::new(key.clone(), value));
        }
    }
    Ok(apart)
}

#[cfg(test)]
mod tests {
    use flumen_yaml::Text;

    use super::transform;
    use crate::{
        config::{FieldSpec, TransformerConfig},
        kustomization::fields::Pairs,
        transform::stage::{spec, transformed},
    };

    fn pairs(pairs: &[(&str, &str)]) -> Pairs {
        pairs.iter().map(|(key, value)| (Text::from(*key), Text::from(*value))).collect()
    }

    #[track_caller]
    fn check(input: &str, labels: &[(&str, &str)], specs: &[FieldSpec], expected: &str) {
        let actual = transformed(input, |resources, scene| {
            transform(resources, &pairs(labels), specs, scene)
        });
        assert_eq!(actual, expected);
    }

    #[test]
    fn selectors_and_templates_are_made_and_nulls_filled() {
        check(
            "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: d
  labels: null
spec:
  selector: {matchLabels: {a: 5}}
  template:
    metadata:
      labels:
    spec:
      topologySpreadConstraints:
      - labelSelector: {matchLabels: {}}
      - labelSelector: {matchLabels: null}
      - labelSelector: {}
",
            &[("b", "true"), ("a", "1")],
            &TransformerConfig::builtin().common_labels,
            "\
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    a: \"1\"
    b: \"true\"
  name: d
spec:
  selector:
    matchLabels:
      a: \"1\"
      b: \"true\"
  template:
    metadata:
      labels:
        a: \"1\"
        b: \"true\"
    spec:
      topologySpreadConstraints:
      - labelSelector:
          matchLabels:
            a: \"1\"
            b: \"true\"
      - labelSelector:
          matchLabels: null
      - labelSelector: {}
",
        );
    }

    #[test]
    fn sequences_are_entered_at_any_depth() {
        check(
            "{apiVersion: a/v1, kind: D, spec: {list: [{}, {y: {b: c}}, null, [{z: 1}]]}}",
            &[("a", "1")],
            &[spec("spec/x", true), spec("spec/list/y", true), spec("/m/a\\/b/c", true)],
            "\
apiVersion: a/v1
kind: D
m:
  a/b:
    c:
      a: \"1\"
spec:
  list:
  - \"y\":
      a: \"1\"
  - \"y\":
      a: \"1\"
      b: c
  - null
  - - \"y\":
        a: \"1\"
      z: 1
  x:
    a: \"1\"
",
        );
    }

    #[test]
    fn what_cannot_hold_labels_is_named() {
        let input = "{apiVersion: a/v1, kind: D, metadata: {name: d}, spec: [1], text: x}";
        check(
            input,
            &[("a", "1")],
            &[spec("spec/x", true)],
            "error: considering field 'spec/x' of object D.v1.a/d.[noNs]: \
             visit traversal on path: [x]: expected sequence or mapping node\n",
        );
        check(
            input,
            &[("a", "1")],
            &[spec("text", true)],
            "error: considering field 'text' of object D.v1.a/d.[noNs]: \
             wrong node kind: expected MappingNode but got ScalarNode\n",
        );
        check(
            input,
            &[("on", "1"), ("1", "1")],
            &[spec("new", true)],
            "error: considering field 'new' of object D.v1.a/d.[noNs]: \
             cannot add the key '1': kustomize takes it for a number\n",
        );
    }
}
