//! Replica counts, set by the name of the workload.

use flumen_yaml::{Tag, Text};

use crate::{
    config::FieldSpec,
    error::{Error, Result},
    fieldspec::{Create, Field, Fields},
    kustomization::fields::Replica,
    resmap::ResMap,
    resource::Resource,
    scalar,
    transform::Scene,
};

/// Sets the count of every workload that has or had the name.
pub(crate) fn transform(
    resources: &mut ResMap,
    replica: &Replica,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    let count = Text::from(replica.count.to_string());
    let fields = Fields::new(specs);
    let mut found = false;
    for position in resources.by_name(&replica.name, scene.schema).to_vec() {
        let Some(resource) = resources.bodies_mut().get_mut(position) else { continue };
        for field in fields.iter() {
            if !is_selected(resource, field, &replica.name, scene) {
                continue;
            }
            found = true;
            field.visit(resource, Create::Scalar(Tag::Int), scene.schema, |node, _| {
                scalar::set(node, count.clone(), Tag::Int)
            })?;
        }
    }
    if fields.reach_ids() {
        // Makes the collection forget where ids and names are.
        resources.resources_mut();
    }
    if found { Ok(()) } else { Err(no_match(replica, specs)) }
}

/// Whether one of the ids that have the name is of a kind with a count.
fn is_selected(resource: &Resource, field: &Field<'_>, name: &str, scene: &Scene<'_>) -> bool {
    let id = resource.id(scene.schema);
    (id.name == *name && field.selects(&id.gvk))
        || resource.previous_ids().any(|id| id.name == *name && field.selects(&id.gvk))
}

fn no_match(replica: &Replica, specs: &[FieldSpec]) -> Error {
    let or = |text: &str, missing: &str| {
        if text.is_empty() { missing.to_owned() } else { text.to_owned() }
    };
    let kinds: Vec<String> = specs
        .iter()
        .map(|spec| {
            let version = or(&spec.version, "[noVer]");
            format!("{}.{version}.{}", or(&spec.kind, "[noKind]"), or(&spec.group, "[noGrp]"))
        })
        .collect();
    Error::new(format!(
        "resource with name {} does not match a config with the following GVK [{}]",
        replica.name,
        kinds.join(" ")
    ))
    .hint("`replicas` needs the name that the workload has in its own manifest, without prefix or suffix")
}

#[cfg(test)]
mod tests {
    use super::transform;
    use crate::{
        config::TransformerConfig, kustomization::fields::Replica, transform::stage::transformed,
    };

    #[track_caller]
    fn check(input: &str, expected: &str) {
        let specs = TransformerConfig::builtin().replicas;
        let replica = Replica { name: "d".into(), count: 5, ..Replica::default() };
        let actual =
            transformed(input, |resources, scene| transform(resources, &replica, &specs, scene));
        assert_eq!(actual, expected);
    }

    #[test]
    fn workloads_of_the_name_are_scaled() {
        check(
            "\
{kind: StatefulSet, metadata: {name: d}}
---
{kind: ReplicationController, metadata: {name: d}, spec: {replicas: null}}
---
{kind: DaemonSet, metadata: {name: d}}
---
{kind: Deployment, metadata: {name: e}}
",
            "\
kind: StatefulSet
metadata:
  name: d
spec:
  replicas: 5
---
kind: ReplicationController
metadata:
  name: d
spec:
  replicas: 5
---
kind: DaemonSet
metadata:
  name: d
---
kind: Deployment
metadata:
  name: e
",
        );
    }

    #[test]
    fn quotes_stay() {
        check(
            "{kind: Deployment, metadata: {name: d}, spec: {replicas: \"1\"}}",
            "kind: Deployment\nmetadata:\n  name: d\nspec:\n  replicas: \"5\"\n",
        );
    }

    #[test]
    fn a_name_that_nothing_has_is_refused() {
        check(
            "{kind: DaemonSet, metadata: {name: d}}",
            "error: resource with name d does not match a config with the following GVK \
             [Deployment.[noVer].[noGrp] StatefulSet.[noVer].[noGrp] ReplicaSet.[noVer].[noGrp] \
             ReplicationController.[noVer].[noGrp]]\n",
        );
    }
}
