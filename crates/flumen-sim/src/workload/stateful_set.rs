//! Stateful sets: pods with numbers, one after the other, each with its claims.

use serde_json::{Value, json};

use super::{
    children::{self, available_at, claim, is_available, is_over, is_ready, selects},
    revision::{self, History},
    status::Status,
};
use crate::{
    engine::Context,
    kind::Kind,
    object::{self, items, label, map, number, number_or, text},
    plan::{Plan, Writer},
};

const SOURCE: &str = "statefulset-controller";
const REVISION: &str = "controller-revision-hash";

struct Sets<'a> {
    context: Context<'a>,
    set: &'a Value,
    /// By number, as far as there are any; then those with numbers that are too large, largest first.
    wanted: Vec<Option<&'a Value>>,
    unwanted: Vec<&'a Value>,
    history: History<'a>,
    /// The name of the revision that pods had before the template changed.
    current: String,
    plan: Plan,
}

pub(crate) fn decide(context: Context<'_>, set: &Value) -> Plan {
    let mut plan = Plan::none();
    let pods = claim(context, &mut plan, Kind::Pod, (Kind::StatefulSet, set), |pod| {
        selects(set)(pod) && ordinal(set, pod).is_some()
    });
    let history = revision::sync(context, &mut plan, Kind::StatefulSet, set);
    let known = text(set, "/status/currentRevision");
    let is_known = history.known.iter().any(|revision| object::name(revision) == known);
    let current = if is_known { known.to_owned() } else { history.newest.clone() };
    let start = number(set, "/spec/ordinals/start");
    let count = usize::try_from(number_or(set, "/spec/replicas", 1)).unwrap_or_default();
    let mut wanted = vec![None; count];
    let mut unwanted = Vec::new();
    for pod in &pods {
        let place = ordinal(set, pod).map(|ordinal| usize::try_from(ordinal - start));
        match place.and_then(Result::ok).and_then(|place| wanted.get_mut(place)) {
            Some(place) => *place = Some(*pod),
            None => unwanted.push(*pod),
        }
    }
    unwanted.sort_by_key(|pod| std::cmp::Reverse(ordinal(set, pod)));
    let mut sets = Sets { context, set, wanted, unwanted, history, current, plan };
    let status = sets.status(&pods);
    sets.plan.status(Writer::Manager, Kind::StatefulSet, set, status);
    if !object::is_ending(set) {
        sets.go_on();
    }
    let min_ready = number(set, "/spec/minReadySeconds");
    let soon = pods.iter().filter_map(|pod| available_at(pod, min_ready));
    if let Some(next) = soon.filter(|time| *time > context.now).min() {
        sets.plan.again_at(next);
    }
    let used = |name: &str| {
        name == sets.current || pods.iter().any(|pod| label(pod, REVISION) == Some(name))
    };
    sets.history.trim(&mut sets.plan, set, used);
    sets.plan
}

impl Sets<'_> {
    /// Makes what is missing, then deletes what is too much, then what is outdated.
    fn go_on(&mut self) {
        let in_order = text(self.set, "/spec/podManagementPolicy") != "Parallel";
        for place in 0..self.wanted.len() {
            let waits = match self.wanted[place] {
                None => {
                    self.make(place);
                    true
                }
                Some(pod) if is_over(pod) && !object::is_ending(pod) => {
                    self.delete(pod);
                    true
                }
                Some(pod) => object::is_ending(pod) || !self.is_available(pod),
            };
            if waits && in_order {
                return;
            }
        }
        for pod in self.unwanted.clone() {
            if !object::is_ending(pod) {
                self.delete(pod);
            }
            if in_order {
                return;
            }
        }
        if text(self.set, "/spec/updateStrategy/type") == "OnDelete" {
            return;
        }
        let first = usize::try_from(self.partition()).unwrap_or_default();
        for pod in self.wanted.clone().into_iter().skip(first).rev().flatten() {
            if label(pod, REVISION) != Some(&self.history.newest) && !object::is_ending(pod) {
                return self.delete(pod);
            }
            if object::is_ending(pod) || !self.is_available(pod) {
                return;
            }
        }
    }

    fn partition(&self) -> i64 {
        number(self.set, "/spec/updateStrategy/rollingUpdate/partition")
    }

    fn is_available(&self, pod: &Value) -> bool {
        is_available(pod, number(self.set, "/spec/minReadySeconds"), self.context.now)
    }

    fn delete(&mut self, pod: &Value) {
        self.plan.delete(Kind::Pod, pod);
        let (pod, set) = (object::name(pod), object::name(self.set));
        let message = format!("Delete Pod {pod} in StatefulSet {set} successful");
        self.plan.tell(self.set, SOURCE, "SuccessfulDelete", message);
    }

    fn make(&mut self, place: usize) {
        let set = self.set;
        let ordinal =
            number(set, "/spec/ordinals/start") + i64::try_from(place).unwrap_or_default();
        let is_old = i64::try_from(place).unwrap_or_default() < self.partition();
        let revision = if is_old { self.current.clone() } else { self.history.newest.clone() };
        let template = self.history.template(&revision);
        let template =
            template.or_else(|| set.pointer("/spec/template").cloned()).unwrap_or_default();
        let name = format!("{}-{ordinal}", object::name(set));
        let mut pod = children::pod(&template, Kind::StatefulSet, set, &name);
        pod["metadata"]["generateName"] = format!("{}-", object::name(set)).into();
        for (key, value) in [
            ("statefulset.kubernetes.io/pod-name", name.clone()),
            ("apps.kubernetes.io/pod-index", ordinal.to_string()),
            (REVISION, revision),
        ] {
            pod["metadata"]["labels"][key] = value.into();
        }
        pod["spec"]["hostname"] = name.as_str().into();
        pod["spec"]["subdomain"] = text(set, "/spec/serviceName").into();
        self.make_claims(&mut pod, &name);
        self.plan.create(Kind::Pod, pod);
        let message = format!("Create Pod {name} in StatefulSet {} successful", object::name(set));
        self.plan.tell(set, SOURCE, "SuccessfulCreate", message);
    }

    /// Makes the claims that a pod lacks, and has it use them.
    fn make_claims(&mut self, pod: &mut Value, name: &str) {
        let (set, namespace) = (self.set, object::namespace(self.set));
        let mut volumes = items(pod, "/spec/volumes").to_vec();
        for template in items(set, "/spec/volumeClaimTemplates") {
            let volume = object::name(template);
            let claim_name = format!("{volume}-{name}");
            volumes.retain(|given| text(given, "/name") != volume);
            volumes.push(json!({
                "name": volume,
                "persistentVolumeClaim": {"claimName": claim_name},
            }));
            let known =
                self.context.world.find(Kind::PersistentVolumeClaim, namespace, &claim_name);
            if known.is_some() {
                continue;
            }
            let mut claim = template.clone();
            claim["apiVersion"] = "v1".into();
            claim["kind"] = "PersistentVolumeClaim".into();
            claim["metadata"]["name"] = claim_name.as_str().into();
            claim["metadata"]["namespace"] = namespace.into();
            for (key, value) in map(set, "/spec/selector/matchLabels").into_iter().flatten() {
                claim["metadata"]["labels"][key] = value.clone();
            }
            if text(set, "/spec/persistentVolumeClaimRetentionPolicy/whenDeleted") == "Delete" {
                let mut owner = object::controlled_by(Kind::StatefulSet, set);
                owner["controller"] = false.into();
                claim["metadata"]["ownerReferences"] = json!([owner]);
            }
            if let Some(claim) = claim.as_object_mut() {
                claim.remove("status");
            }
            self.plan.create(Kind::PersistentVolumeClaim, claim);
            let set_name = object::name(set);
            let message =
                format!("Create Claim {claim_name} Pod {name} in StatefulSet {set_name} success");
            self.plan.tell(set, SOURCE, "SuccessfulCreate", message);
        }
        if !volumes.is_empty() {
            pod["spec"]["volumes"] = volumes.into();
        }
    }

    fn status(&mut self, pods: &[&Value]) -> Value {
        let living: Vec<&&Value> = pods.iter().filter(|pod| !object::is_ending(pod)).collect();
        let of = |revision: &str| {
            living.iter().filter(|pod| label(pod, REVISION) == Some(revision)).count()
        };
        let ready = pods.iter().filter(|pod| is_ready(pod)).count();
        let available = pods.iter().filter(|pod| self.is_available(pod)).count();
        let (mut current, updated) = (of(&self.current), of(&self.history.newest));
        let is_rolling = text(self.set, "/spec/updateStrategy/type") != "OnDelete";
        if is_rolling && updated == pods.len() && ready == pods.len() {
            // The rollout is over.
            self.current.clone_from(&self.history.newest);
            current = updated;
        }
        Status::default()
            .always("observedGeneration", number(self.set, "/metadata/generation"))
            .always("replicas", pods.len())
            .unless_zero("readyReplicas", ready)
            .unless_zero("currentReplicas", current)
            .unless_zero("updatedReplicas", updated)
            .always("availableReplicas", available)
            .always("currentRevision", self.current.as_str())
            .always("updateRevision", self.history.newest.as_str())
            .always("collisionCount", number(self.set, "/status/collisionCount"))
            .kept(self.set, "conditions")
            .into_value()
    }
}

/// The number of a pod of a set.
fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    object::name(pod).strip_prefix(object::name(set))?.strip_prefix('-')?.parse().ok()
}
