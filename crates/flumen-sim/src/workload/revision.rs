//! The history of templates of stateful and daemon sets, as `ControllerRevisions`.

use serde_json::{Value, json};

use crate::{
    engine::Context,
    hash,
    kind::Kind,
    object::{self, items, map, number},
    plan::Plan,
};

/// The templates that a set has had.
#[derive(Debug)]
pub(super) struct History<'a> {
    /// Oldest first.
    pub(super) known: Vec<&'a Value>,
    /// The name of the revision with the template of now.
    pub(super) newest: String,
    pub(super) hash: String,
}

/// The label that has the hash, by kind of set.
fn hash_label(kind: Kind) -> &'static str {
    if kind == Kind::DaemonSet {
        "controller-revision-hash"
    } else {
        "controller.kubernetes.io/hash"
    }
}

/// Finds the revision of the template of now, or has it made.
pub(super) fn sync<'a>(
    context: Context<'a>,
    plan: &mut Plan,
    kind: Kind,
    set: &Value,
) -> History<'a> {
    let mut known: Vec<&Value> =
        context.world.controlled(object::uid(set), Kind::ControllerRevision).collect();
    known.sort_by_key(|revision| (number(revision, "/revision"), object::name(revision)));
    let mut template = set.pointer("/spec/template").cloned().unwrap_or_else(|| json!({}));
    object::set(&mut template, "/$patch", "replace");
    let data = json!({"spec": {"template": template}});
    let last = known.last().map_or(0, |revision| number(revision, "/revision"));
    if let Some(same) = known.iter().rev().find(|revision| revision.get("data") == Some(&data)) {
        if number(same, "/revision") < last && !object::is_ending(set) {
            // It is the newest again.
            let mut again = (*same).clone();
            again["revision"] = (last + 1).into();
            plan.replace(Kind::ControllerRevision, again);
        }
        let newest = object::name(same).to_owned();
        let hash = object::label(same, hash_label(kind)).unwrap_or_default().to_owned();
        return History { known, newest, hash };
    }
    let collisions = set.pointer("/status/collisionCount").and_then(Value::as_i64);
    let hash = hash::of(&data, collisions);
    let newest = format!("{}-{hash}", object::name(set));
    if !object::is_ending(set) {
        let mut labels = map(set, "/spec/template/metadata/labels").cloned().unwrap_or_default();
        labels.insert(hash_label(kind).to_owned(), hash.as_str().into());
        let mut revision = json!({
            "apiVersion": Kind::ControllerRevision.api_version(),
            "kind": Kind::ControllerRevision.name(),
            "metadata": {
                "name": newest,
                "namespace": object::namespace(set),
                "labels": labels,
                "ownerReferences": [object::controlled_by(kind, set)],
            },
            "data": data,
            "revision": last + 1,
        });
        if let Some(annotations) = set.pointer("/metadata/annotations") {
            revision["metadata"]["annotations"] = annotations.clone();
        }
        plan.create(Kind::ControllerRevision, revision);
    }
    History { known, newest, hash }
}

impl History<'_> {
    /// The template of a revision.
    pub(super) fn template(&self, name: &str) -> Option<Value> {
        let revision = self.known.iter().find(|revision| object::name(revision) == name)?;
        let mut template = revision.pointer("/data/spec/template")?.clone();
        template.as_object_mut()?.remove("$patch");
        Some(template)
    }

    /// Deletes the oldest revisions above the limit that nothing uses.
    pub(super) fn trim(&self, plan: &mut Plan, set: &Value, used: impl Fn(&str) -> bool) {
        let limit = object::number_or(set, "/spec/revisionHistoryLimit", 10);
        let unused: Vec<&&Value> = self
            .known
            .iter()
            .filter(|revision| {
                object::name(revision) != self.newest && !used(object::name(revision))
            })
            .collect();
        let excess = unused.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        for revision in unused.into_iter().take(excess) {
            if items(revision, "/metadata/finalizers").is_empty() && !object::is_ending(revision) {
                plan.delete(Kind::ControllerRevision, revision);
            }
        }
    }
}
