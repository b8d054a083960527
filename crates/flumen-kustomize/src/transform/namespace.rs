//! The namespace of resources, and of what refers to a namespace.
//!
//! Three places are not left to the field specifications. `metadata.namespace` is set on everything
//! that is not known to be cluster-wide. `metadata.name` of a `Namespace` is set only if it is the
//! core kind. And in role bindings only some subjects belong to the namespace.

use flumen_yaml::{Entry, Node, Tag, Text, Value};
use rustc_hash::FxHashMap;

use crate::{
    config::FieldSpec,
    error::{Context, Error, Result},
    fieldspec::{Create, Field, Fields, wrong_kind},
    resmap::ResMap,
    resource::{Resource, field_map_mut},
    scalar,
    transform::Scene,
};

/// Set by a chart renderer on what it rendered: the chart has its own idea of namespaces.
const HELM_GENERATED: &str = "internal.config.kubernetes.io/helm-generated";

/// What the plugin can choose; a kustomization has the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Leaves namespaces alone that are set already.
    pub(crate) unset_only: bool,
    pub(crate) subjects: Subjects,
}

/// Which subjects of role bindings belong to the namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Those named `default`.
    #[default]
    DefaultOnly,
    AllServiceAccounts,
    None,
}

impl Subjects {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match text {
            "" | "defaultOnly" => Ok(Self::DefaultOnly),
            "allServiceAccounts" => Ok(Self::AllServiceAccounts),
            "none" => Ok(Self::None),
            _ => Err(Error::new(format!(
                "invalid value {text:?} for setRoleBindingSubjects: \
                 must be one of \"defaultOnly\", \"none\" or \"allServiceAccounts\""
            ))),
        }
    }
}

pub(crate) fn transform(
    resources: &mut ResMap,
    namespace: &Text,
    specs: &[FieldSpec],
    scene: &Scene<'_>,
) -> Result<()> {
    transform_with(resources, namespace, specs, Options::default(), scene)
}

pub(crate) fn transform_with(
    resources: &mut ResMap,
    namespace: &Text,
    specs: &[FieldSpec],
    options: Options,
    scene: &Scene<'_>,
) -> Result<()> {
    if namespace.is_empty() {
        return Ok(());
    }
    let change = Change { namespace, options, fields: Fields::new(specs) };
    for resource in resources.resources_mut() {
        if resource.node().is_nil_or_empty() || resource.annotation(HELM_GENERATED) == Some("true")
        {
            continue;
        }
        resource.store_previous_id(scene.schema);
        change.apply(resource, scene)?;
    }
    check_conflicts(resources, scene)
}

/// Sets the namespace of one resource and nothing else, as the plugin for values does.
pub(crate) fn set(resource: &mut Resource, namespace: &Text, scene: &Scene<'_>) -> Result<()> {
    let change = Change { namespace, options: Options::default(), fields: Fields::new(&[]) };
    change.apply(resource, scene)
}

struct Change<'a> {
    namespace: &'a Text,
    options: Options,
    fields: Fields<'a>,
}

impl Change<'_> {
    fn apply(&self, resource: &mut Resource, scene: &Scene<'_>) -> Result<()> {
        let schema = scene.schema;
        let is_core = resource.node().get("apiVersion").and_then(Node::as_str) == Some("v1");
        if !resource.id(schema).cluster_scoped {
            self.set_own(resource.node_mut()).map_err(|error| {
                let id = resource.id(schema);
                error.within(format!("considering field 'metadata/namespace' of object {id}"))
            })?;
        }
        let is_binding = is_role_binding(resource.kind());
        if is_binding {
            self.set_subjects(resource.body_mut())?;
        }
        for field in self.fields.iter() {
            if is_handled_apart(field, is_core, is_binding) {
                continue;
            }
            field
                .visit(resource, Create::Scalar(Tag::Str), schema, |node, _| self.set_value(node))
                .within(|| "namespace transformation failed")?;
        }
        resource.settle_links();
        Ok(())
    }

    /// Sets `metadata.namespace`.
    fn set_own(&self, root: &mut Node) -> Result<()> {
        let Value::Map(map) = &mut root.value else {
            return Err(Error::new("expected sequence or mapping node"));
        };
        let is_usable = map.get("metadata").is_none_or(|meta| meta.is_map() || meta.is_null());
        let Some(meta) = field_map_mut(map, "metadata").filter(|_| is_usable) else {
            return Err(Error::new("expected sequence or mapping node"));
        };
        match meta.get_mut("namespace") {
            // The text of a null that is written out counts as a value here.
            Some(node) if node.is_null() && self.options.unset_only => {
                if scalar::text(node).is_empty() {
                    scalar::set(node, self.namespace.clone(), Tag::Str)?;
                }
                Ok(())
            }
            Some(node) => self.set_value(node),
            None => {
                let value = Node::string(self.namespace.clone());
                meta.push(Entry::new(Text::literal("namespace"), value));
                Ok(())
            }
        }
    }

    fn set_subjects(&self, root: &mut Node) -> Result<()> {
        let (key, wanted) = match self.options.subjects {
            Subjects::None => return Ok(()),
            Subjects::DefaultOnly => ("name", "default"),
            Subjects::AllServiceAccounts => ("kind", "ServiceAccount"),
        };
        let Some(subjects) = root.get_mut("subjects").filter(|node| !node.is_null()) else {
            return Ok(());
        };
        let Value::Seq(items) = &mut subjects.value else {
            return Err(wrong_kind("SequenceNode", subjects));
        };
        items
            .iter_mut()
            .filter(|subject| !subject.is_null())
            .try_for_each(|subject| self.set_subject(subject, key, wanted))
            .within(|| "setting namespace on (cluster)role binding subjects")
    }

    fn set_subject(&self, subject: &mut Node, key: &str, wanted: &str) -> Result<()> {
        let Value::Map(map) = &mut subject.value else {
            return Err(wrong_kind("MappingNode", subject));
        };
        match map.get(key) {
            Some(value) if value.is_null() => return Ok(()),
            Some(value) if !value.is_scalar() => return Err(wrong_kind("ScalarNode", value)),
            Some(value) if value.as_str() == Some(wanted) => {}
            _ => return Ok(()),
        }
        if let Some(node) = map.get_mut("namespace") {
            return self.set_value(node);
        }
        let value = Node::string(self.namespace.clone());
        map.push(Entry::new(Text::literal("namespace"), value));
        Ok(())
    }

    fn set_value(&self, node: &mut Node) -> Result<()> {
        if self.options.unset_only && has_value(node) {
            return Ok(());
        }
        scalar::set(node, self.namespace.clone(), Tag::Str)
            .within(|| "namespace field specs must target scalar nodes")
    }
}

fn has_value(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.tag != Tag::Null && !scalar.text.is_empty())
}

fn is_role_binding(kind: &str) -> bool {
    matches!(kind, "RoleBinding" | "ClusterRoleBinding")
}

/// Whether the field is one of those that are not left to the specifications.
fn is_handled_apart(field: &Field<'_>, is_core: bool, is_binding: bool) -> bool {
    match &*field.spec.path {
        "metadata/namespace" => true,
        "metadata/name" => !is_core,
        "subjects/namespace" => is_binding && is_role_binding(&field.spec.kind),
        _ => false,
    }
}

/// Fails when the new namespace has made two resources one.
fn check_conflicts(resources: &ResMap, scene: &Scene<'_>) -> Result<()> {
    let mut seen = FxHashMap::default();
    for resource in resources.iter().filter(|resource| !resource.node().is_nil_or_empty()) {
        let id = resource.id(scene.schema);
        if let Some(other) = seen.insert(id, resource) {
            let (first, second) =
                (other.original_id(scene.schema), resource.original_id(scene.schema));
            return Err(Error::new(format!(
                "namespace transformation produces ID conflict: {id} was both {first} and {second}"
            ))
            .hint(format!("defined in {} and {}", other.origin, resource.origin)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Options, Subjects, transform_with};
    use crate::{config::TransformerConfig, transform::stage::transformed};

    #[track_caller]
    fn check(options: Options, input: &str, expected: &str) {
        let specs = TransformerConfig::builtin().namespace;
        let actual = transformed(input, |resources, scene| {
            transform_with(resources, &"7".into(), &specs, options, scene)
        });
        assert_eq!(actual, expected);
    }

    #[test]
    fn namespaces_of_objects_and_their_names() {
        check(
            Options::default(),
            "\
{apiVersion: a/v1, kind: D, metadata: {name: d, namespace: null}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: old}}
---
{apiVersion: other/v1, kind: Namespace, metadata: {name: old}}
---
{apiVersion: v1, kind: ConfigMap}
",
            "\
apiVersion: a/v1
kind: D
metadata:
  name: d
  namespace: \"7\"
---
apiVersion: v1
kind: Namespace
metadata:
  name: \"7\"
---
apiVersion: other/v1
kind: Namespace
metadata:
  name: old
  namespace: \"7\"
---
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: \"7\"
",
        );
    }

    const BINDING: &str = "\
kind: RoleBinding
subjects:
- {kind: ServiceAccount, name: default}
- {kind: ServiceAccount, name: other, namespace: x}
- {kind: User, name: default, namespace: null}
- null
";

    #[test]
    fn subjects_of_bindings() {
        for (mode, namespaces) in [
            ("", ["\"7\"", "x", "\"7\""]),
            ("allServiceAccounts", ["\"7\"", "\"7\"", "null"]),
            ("none", ["", "x", "null"]),
        ] {
            let options = Options {
                subjects: Subjects::parse(mode).expect("it is a mode"),
                ..Options::default()
            };
            let [first, second, third] = namespaces.map(|namespace| match namespace {
                "" => String::new(),
                namespace => format!("  namespace: {namespace}\n"),
            });
            check(
                options,
                BINDING,
                &format!(
                    "kind: RoleBinding\nmetadata:\n  namespace: \"7\"\nsubjects:\n\
                     - kind: ServiceAccount\n  name: default\n{first}\
                     - kind: ServiceAccount\n  name: other\n{second}\
                     - kind: User\n  name: default\n{third}- null\n"
                ),
            );
        }
        assert!(Subjects::parse("some").is_err());
    }

    #[test]
    fn only_what_is_unset_is_set() {
        let options = Options { unset_only: true, ..Options::default() };
        for (namespace, expected) in
            [("a", "a"), ("\"\"", "\"7\""), ("", "\"7\""), ("null", "null"), ("~", "null")]
        {
            check(
                options,
                &format!("metadata:\n  namespace: {namespace}\n"),
                &format!("metadata:\n  namespace: {expected}\n"),
            );
        }
    }

    #[test]
    fn two_that_become_one_are_refused() {
        check(
            Options::default(),
            "\
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: a}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: b}}
",
            "error: namespace transformation produces ID conflict: \
             Pod.v1.[noGrp]/p.7 was both Pod.v1.[noGrp]/p.a and Pod.v1.[noGrp]/p.b\n",
        );
    }

    #[test]
    fn charts_keep_their_namespaces() {
        let input = "\
metadata:
  annotations:
    internal.config.kubernetes.io/helm-generated: \"true\"
  name: x
";
        check(Options::default(), input, input);
    }
}
