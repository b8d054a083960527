//! From what the engine would do to what people approve.

use std::{collections::BTreeMap, fmt::Write as _};

use flumen_apply::Planned;
use flumen_diff::{ObjectDigest, PlanDocument, PlanOperation, unified};
use flumen_object::{ObjectId, ObjectSet};
use flumen_oci::Digest;
use flumen_yaml::Node;

use super::{Change, Operation, Plan};
use crate::Result;

/// Turns a plan of the engine into one that can be kept and approved. `objects` is what it was made of.
pub(super) fn plan(
    plan: &flumen_apply::Plan,
    objects: &ObjectSet,
    artifact: &Digest,
    operation: Operation,
) -> Result<Plan> {
    let desired: BTreeMap<ObjectId, &Node> =
        objects.iter().map(|object| (object.id(), &object.node)).collect();
    let changed: Vec<&Planned> = plan.objects.iter().filter(|one| one.is_change()).collect();
    let op = match operation {
        Operation::Teardown => PlanOperation::Delete,
        Operation::Deploy | Operation::CheckDrift => PlanOperation::Apply,
    };
    let candidates = changed.iter().filter_map(|one| wanted(&desired, &one.id));
    let document =
        PlanDocument::new(op, changed.iter().map(|one| one.change()).collect(), candidates)?;
    Ok(Plan {
        artifact: artifact.clone(),
        changes: changed.iter().map(|one| change(one, wanted(&desired, &one.id))).collect(),
        text: changed.iter().map(|one| text(one)).collect(),
        document,
    })
}

/// The object as the artifact has it, where it may name no namespace.
fn wanted<'a>(desired: &BTreeMap<ObjectId, &'a Node>, id: &ObjectId) -> Option<&'a Node> {
    let anywhere = ObjectId { namespace: flumen_yaml::Text::default(), ..id.clone() };
    desired.get(id).or_else(|| desired.get(&anywhere)).copied()
}

/// A change is from what is there to what is wanted. What the server would make of it is no part: it
/// gives out addresses and ports anew in every dry run.
fn change(planned: &Planned, wanted: Option<&Node>) -> Change {
    let digest = |node: Option<&Node>| node.map(fingerprint).unwrap_or_default();
    let fingerprint = format!("{} {}", digest(planned.live.as_ref()), digest(wanted));
    Change {
        object: planned.id.to_string(),
        action: planned.effect().to_owned(),
        fingerprint: Digest::of(fingerprint.as_bytes()),
    }
}

fn fingerprint(node: &Node) -> String {
    ObjectDigest::of_live(node).to_string()
}

fn text(planned: &Planned) -> String {
    let mut text = format!("{} {}\n", planned.id, planned.effect());
    if let Some(error) = &planned.error {
        let _ = writeln!(text, "! {}", error.message);
        return text;
    }
    for line in unified(planned.live.as_ref(), planned.result.as_ref()) {
        let _ = writeln!(text, "{}", line.text);
    }
    text
}
