//! The replica sets of a deployment, and changes to them.

use serde_json::{Value, json};

use super::REVISION;
use crate::{
    hash,
    kind::Kind,
    object::{self, annotate, annotation, map, number, text},
};

pub(super) const HASH: &str = "pod-template-hash";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MOST: &str = "deployment.kubernetes.io/max-replicas";

/// Annotations of a deployment that are not those of its replica sets.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
];

/// A replica set with what is to be changed of it.
#[derive(Clone, Debug)]
pub(super) struct Set {
    pub(super) object: Value,
    is_changed: bool,
    is_new: bool,
}

impl Set {
    pub(super) fn replicas(&self) -> i64 {
        number(&self.object, "/spec/replicas")
    }

    pub(super) fn available(&self) -> i64 {
        number(&self.object, "/status/availableReplicas")
    }

    pub(super) fn revision(&self) -> i64 {
        annotation(&self.object, REVISION).and_then(|n| n.parse().ok()).unwrap_or_default()
    }

    pub(super) fn is_observed(&self) -> bool {
        number(&self.object, "/metadata/generation")
            <= number(&self.object, "/status/observedGeneration")
    }

    pub(super) fn most_before(&self) -> Option<i64> {
        annotation(&self.object, MOST).and_then(|n| n.parse().ok())
    }

    fn desired_before(&self) -> Option<i64> {
        annotation(&self.object, DESIRED).and_then(|n| n.parse().ok())
    }

    /// Whether it has all pods of a deployment of this size, and all of them are available.
    pub(super) fn is_saturated(&self, wished: i64) -> bool {
        self.replicas() == wished
            && self.desired_before() == Some(wished)
            && self.available() == wished
    }

    /// Sets the number of pods, and notes for which size of the deployment that is.
    pub(super) fn scale(&mut self, to: i64, wished: i64, most: i64) {
        if self.replicas() != to {
            object::set(&mut self.object, "/spec/replicas", to);
            self.is_changed = true;
        }
        self.note(DESIRED, &wished.to_string());
        self.note(MOST, &most.to_string());
    }

    fn note(&mut self, name: &str, value: &str) {
        if annotation(&self.object, name) != Some(value) {
            annotate(&mut self.object, name, value);
            self.is_changed = true;
        }
    }
}

/// All replica sets of a deployment.
#[derive(Debug)]
pub(super) struct Sets {
    /// The one with the template of the deployment.
    pub(super) new: Option<Set>,
    /// The others, oldest first.
    pub(super) old: Vec<Set>,
}

impl Sets {
    pub(super) fn of(deployment: &Value, found: &[&Value]) -> Self {
        let mut sets: Vec<Set> = found
            .iter()
            .map(|object| Set { object: (*object).clone(), is_changed: false, is_new: false })
            .collect();
        sets.sort_by_cached_key(|set| {
            let created = text(&set.object, "/metadata/creationTimestamp").to_owned();
            (created, object::name(&set.object).to_owned())
        });
        let template = deployment.pointer("/spec/template").unwrap_or(&Value::Null);
        let new = sets.iter().position(|set| has_template(&set.object, template));
        let new = new.map(|place| sets.remove(place));
        Self { new, old: sets }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Set> {
        self.old.iter().chain(&self.new)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Set> {
        self.old.iter_mut().chain(&mut self.new)
    }

    pub(super) fn sum(&self, pointer: &str) -> i64 {
        self.all().map(|set| number(&set.object, pointer)).sum()
    }

    /// How many pods all of them are to have.
    pub(super) fn wished(&self) -> i64 {
        self.all().map(Set::replicas).sum()
    }

    /// Whether the deployment was scaled since the replica sets were.
    pub(super) fn were_scaled(&self, wished: i64) -> bool {
        let mut active = self.all().filter(|set| set.replicas() > 0);
        active.any(|set| set.desired_before().is_some_and(|desired| desired != wished))
    }

    /// Copies annotations, the revision and the time to be ready to the new one.
    pub(super) fn sync_new(&mut self, deployment: &Value) {
        let revision = self.next_revision();
        let Some(set) = &mut self.new else { return };
        set.take_annotations(deployment, revision);
        let min_ready = number(deployment, "/spec/minReadySeconds");
        if number(&set.object, "/spec/minReadySeconds") != min_ready {
            object::set(&mut set.object, "/spec/minReadySeconds", min_ready);
            set.is_changed = true;
        }
    }

    fn next_revision(&self) -> i64 {
        self.old.iter().map(Set::revision).max().unwrap_or_default() + 1
    }

    /// Makes the new one, without pods as yet.
    pub(super) fn make(&mut self, deployment: &Value, collisions: Option<i64>) {
        let (name, object) = blank(deployment, collisions);
        let mut set = Set { object, is_changed: true, is_new: true };
        object::set(&mut set.object, "/metadata/name", name);
        set.take_annotations(deployment, self.next_revision());
        self.new = Some(set);
    }

    /// What is to be written, and whether it is new.
    pub(super) fn take_changed(&mut self) -> Vec<(Value, bool)> {
        let changed = self.all().filter(|set| set.is_changed);
        changed.map(|set| (set.object.clone(), set.is_new)).collect()
    }
}

impl Set {
    fn take_annotations(&mut self, deployment: &Value, revision: i64) {
        for (name, value) in map(deployment, "/metadata/annotations").into_iter().flatten() {
            if !OWN.contains(&name.as_str()) {
                self.note(name, value.as_str().unwrap_or_default());
            }
        }
        let known = self.revision();
        if known >= revision {
            return;
        }
        if known > 0 {
            // It is taken up again: it remembers which revisions it was.
            let history = match annotation(&self.object, HISTORY) {
                Some(history) if !history.is_empty() => format!("{history},{known}"),
                _ => known.to_string(),
            };
            self.note(HISTORY, &history);
        }
        self.note(REVISION, &revision.to_string());
    }
}

/// The name that the replica set of a template has.
pub(super) fn name_of(deployment: &Value, collisions: Option<i64>) -> String {
    blank(deployment, collisions).0
}

/// Whether a replica set has a template, apart from the hash that it was given.
pub(super) fn has_template(set: &Value, template: &Value) -> bool {
    let mut own = set.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(labels) = own.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    own == *template
}

fn blank(deployment: &Value, collisions: Option<i64>) -> (String, Value) {
    let mut template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    let hash = hash::of(&template, collisions);
    let name = format!("{}-{hash}", object::name(deployment));
    object::set(&mut template, &format!("/metadata/labels/{HASH}"), hash.as_str());
    let mut selector = deployment.pointer("/spec/selector").cloned().unwrap_or_default();
    object::set(&mut selector, &format!("/matchLabels/{HASH}"), hash);
    let mut set = json!({
        "apiVersion": Kind::ReplicaSet.api_version(),
        "kind": Kind::ReplicaSet.name(),
        "metadata": {
            "namespace": object::namespace(deployment),
            "labels": template["metadata"]["labels"],
            "ownerReferences": [object::controlled_by(Kind::Deployment, deployment)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    });
    let min_ready = number(deployment, "/spec/minReadySeconds");
    if min_ready > 0 {
        set["spec"]["minReadySeconds"] = min_ready.into();
    }
    (name, set)
}
