//! Names for the files of single objects, as kustomize gives them.

use std::collections::BTreeSet;

use flumen_object::Object;
use flumen_schema::Schema;
use flumen_yaml::Node;

use crate::error::CommandError;

/// What kustomize takes for the namespace of an object that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// `[group_]version_kind_name`, and the namespace in front as soon as there are two of them.
pub(super) fn for_objects(
    objects: &[Object],
    extension: &str,
) -> Result<Vec<String>, CommandError> {
    let schema = Schema::builtin();
    let namespaces: Vec<_> = objects.iter().map(|object| namespace(object, &schema)).collect();
    let distinct: BTreeSet<&str> = namespaces.iter().flatten().copied().collect();
    let has_several = distinct.len() > 1;
    let name = |object, namespace: Option<_>| {
        for_object(object, namespace.filter(|_| has_several).unwrap_or_default(), extension)
    };
    objects.iter().zip(namespaces).map(|(object, namespace)| name(object, namespace)).collect()
}

fn for_object(object: &Object, namespace: &str, extension: &str) -> Result<String, CommandError> {
    let id = object.id();
    let mut name = String::new();
    for part in [namespace, &id.gvk.group, &id.gvk.version, &id.gvk.kind] {
        if !part.is_empty() {
            push_lower(&mut name, part);
            name.push('_');
        }
    }
    push_lower(&mut name, &id.name);
    if name.contains(['/', '\0']) {
        return Err(CommandError::FileName {
            message: format!("{id} has no file name: `{name}` is no name of a file"),
        });
    }
    name.push('.');
    name.push_str(extension);
    Ok(name)
}

/// The effective namespace; `None` for kinds that are known to be cluster-wide.
fn namespace<'o>(object: &'o Object, schema: &Schema) -> Option<&'o str> {
    let field = |key| object.node.get(key).and_then(Node::as_str).unwrap_or_default();
    if schema.is_cluster_scoped(field("apiVersion"), field("kind")) {
        return None;
    }
    let namespace = object.node.at(&["metadata", "namespace"]).and_then(Node::as_str);
    Some(namespace.filter(|namespace| !namespace.is_empty()).unwrap_or(DEFAULT_NAMESPACE))
}

/// One character for each character, as Go maps them: no final sigma, no dot above.
fn push_lower(out: &mut String, text: &str) {
    out.extend(text.chars().filter_map(|c| c.to_lowercase().next()));
}
