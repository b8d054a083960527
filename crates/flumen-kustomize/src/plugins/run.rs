//! Running plugins.

use flumen_schema::Schema;
use flumen_yaml::{Node, same_value};

use super::{Action, Plugin};
use crate::{
    build_annotations,
    error::{Error, Result},
    generate,
    resmap::ResMap,
    resource::Resource,
    transform::{
        Scene, annotations, hash, images, labels, namespace, patch, prefix, replacement, replicas,
        suffix, value_add,
    },
};

impl Plugin {
    /// The resources of a generator.
    pub(crate) fn generate(&self, scene: &Scene<'_>) -> Result<ResMap> {
        let scene = &Scene { file: &self.file, ..*scene };
        match &self.action {
            Action::ConfigMap(args) => generate::config_map(args, None, scene),
            Action::Secret(args) => generate::secret(args, None, scene),
            Action::IamPolicy(args) => generate::iam_policy(args, scene),
            _ => Err(Error::new(format!("plugin {} not a generator", self.id))
                .within("failed to load generator")
                .within("loading generator plugins")
                .hint("list it under `transformers`")),
        }
    }

    pub(crate) fn transform(&self, resources: &mut ResMap, scene: &Scene<'_>) -> Result<()> {
        let scene = &Scene { file: &self.file, ..*scene };
        match &self.action {
            Action::Annotations(args) => {
                annotations::transform(resources, &args.pairs, &args.specs, scene)
            }
            Action::Labels(args) => labels::transform(resources, &args.pairs, &args.specs, scene),
            Action::Namespace(args, subjects) => {
                let options =
                    namespace::Options { unset_only: args.unset_only, subjects: *subjects };
                namespace::transform_with(resources, &args.namespace, &args.specs, options, scene)
            }
            Action::Prefix(args) => prefix::transform(resources, &args.text, args.specs(), scene),
            Action::Suffix(args) => suffix::transform(resources, &args.text, args.specs(), scene),
            Action::PrefixSuffix(before, after) => {
                prefix::transform(resources, &before.text, before.specs(), scene)?;
                suffix::transform(resources, &after.text, after.specs(), scene)
            }
            Action::Image(args) => {
                images::transform(resources, std::slice::from_ref(&args.image), &args.specs, scene)
            }
            Action::Replica(args) => {
                replicas::transform(resources, &args.replica, &args.specs, scene)
            }
            Action::Patch(entry) => patch::transform(resources, entry, scene),
            Action::JsonPatch(entry) => patch::json6902(resources, entry, scene),
            Action::MergePatches(entries) => {
                patch::strategic_merge_files(resources, entries, scene)
            }
            Action::Replacements(entries) => replacement::transform(resources, entries, scene),
            Action::ValueAdd(args) => args
                .targets()
                .try_for_each(|target| value_add::transform(resources, &args.value, target, scene)),
            Action::Hash => hash::transform(resources, scene),
            Action::ConfigMap(_) | Action::Secret(_) | Action::IamPolicy(_) => {
                Err(Error::new(format!("plugin {} not a transformer", self.id))
                    .hint("list it under `generators`"))
            }
        }
    }
}

/// The label that a validator may leave behind.
const VALIDATED_BY: &str = "validated-by";

/// Fails if a validator did more than to look.
pub(crate) fn check_unchanged(before: &ResMap, after: &ResMap, schema: &Schema) -> Result<()> {
    let fail = |what: String| {
        Err(Error::new(format!("validator shouldn't modify the resource map: {what}")))
    };
    if before.len() != after.len() {
        return fail("lists have different number of entries".to_owned());
    }
    for old in before.iter() {
        let id = old.id(schema);
        let new = after.by_current_id(id, schema).and_then(|place| after.resources().get(place));
        if !new.is_some_and(|new| is_same(old, new)) {
            return fail(format!("{id} was changed"));
        }
    }
    Ok(())
}

fn is_same(old: &Resource, new: &Resource) -> bool {
    // What kustomize would have noted in annotations meanwhile is a change too.
    if build_annotations::of(old) != build_annotations::of(new) {
        return false;
    }
    if same_value(old.node(), new.node()) {
        return true;
    }
    let mut node = new.node().clone();
    let Some(metadata) = node.get_mut("metadata").and_then(Node::as_map_mut) else { return false };
    let Some(labels) = metadata.get_mut("labels").and_then(Node::as_map_mut) else { return false };
    labels.remove(VALIDATED_BY);
    if labels.is_empty() && !old.node().at(&["metadata", "labels"]).is_some_and(Node::is_map) {
        metadata.remove("labels");
    }
    same_value(old.node(), &node)
}
