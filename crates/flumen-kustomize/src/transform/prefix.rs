//! Name prefixes, and what they have in common with suffixes.

use flumen_yaml::{Node, Tag, Text};

use crate::{
    config::FieldSpec,
    error::{Error, Result},
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
    check_length("prefix", prefix)?;
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

/// Refuses what no name can hold, before it is put into every resource.
pub(super) fn check_length(what: &str, text: &str) -> Result<()> {
    const MAX: usize = 4096;
    if text.len() > MAX {
        return Err(Error::new(format!("the name {what} is too long: {} bytes", text.len()))
            .hint("names of objects have at most 253 characters"));
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::transform;
    use crate::{
        config::TransformerConfig,
        transform::{
            stage::{spec, transformed},
            suffix,
        },
    };

    #[track_caller]
    fn check(prefix: &str, suffix: &str, object: &str, expected: &str) {
        let actual = transformed(object, |resources, scene| {
            let config = TransformerConfig::builtin();
            transform(resources, &prefix.into(), &config.name_prefix, scene)?;
            suffix::transform(resources, &suffix.into(), &config.name_suffix, scene)?;
            let resource = &resources.resources()[0];
            let changed = !expected.contains("name: same");
            assert_eq!(resource.prefixes.len() + resource.suffixes.len(), usize::from(changed) * 2);
            assert_eq!(resource.previous().len(), usize::from(changed) * 2);
            Ok(())
        });
        let name = actual.lines().find(|line| line.contains("name:")).unwrap_or_default();
        assert_eq!(name.trim(), expected);
    }

    #[test]
    fn quotes_decide_whether_a_name_stays_a_string() {
        check("a-", "-z", "{apiVersion: v1, kind: D, metadata: {name: m}}", "name: a-m-z");
        check("1", "0", "{apiVersion: v1, kind: D, metadata: {name: 2}}", "name: 120");
        check("1", "0", "{apiVersion: v1, kind: D, metadata: {name: \"3\"}}", "name: \"130\"");
        check("1", "0", "{apiVersion: v1, kind: D, metadata: {name: e}}", "name: 1");
    }

    #[test]
    fn some_kinds_keep_their_names() {
        for (api_version, kind, name, expected) in [
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "same", "name: same"),
            ("other/v1", "Namespace", "same", "name: same"),
            ("apiregistration.k8s.io/v1", "APIService", "same", "name: same"),
            ("other/v1", "APIService", "x", "name: a-x-z"),
        ] {
            let object =
                format!("{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: {name}}}}}");
            check("a-", "-z", &object, expected);
        }
    }

    #[test]
    fn what_no_name_can_hold_is_refused() {
        let specs = TransformerConfig::builtin().name_prefix;
        let long = "p".repeat(1 << 20);
        let actual = transformed("{kind: D, metadata: {name: x}}", |resources, scene| {
            transform(resources, &long.as_str().into(), &specs, scene)
        });
        assert_eq!(actual, "error: the name prefix is too long: 1048576 bytes\n");
    }

    #[test]
    fn a_null_is_made_a_text() {
        let specs = [spec("data/a", true), spec("data/b", true)];
        let actual = transformed("{kind: D, data: {a: null}}", |resources, scene| {
            transform(resources, &"p-".into(), &specs, scene)
        });
        assert_eq!(actual, "data:\n  a: p-null\n  b: p-\nkind: D\n");
    }
}
