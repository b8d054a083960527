//! Drift of applied objects: whether it is corrected, and how it is reported.
//!
//! Usually drift is corrected. A Kustomization with the annotation [`MODE`] `report` reports it instead, until there is
//! something new to apply. Field conflicts with other managers are reported as well.

use std::{collections::BTreeSet, sync::Arc};

use flumen_api::{
    ConditionStatus, GoDuration, Kustomization, condition, delete_condition, set_condition,
};
use flumen_apply::{Action, Change, Inventory, Plan, Planned, Prune, Waited};
use flumen_diff::last_manager_but;
use flumen_health::HealthRules;
use flumen_kube::Cluster as _;
use flumen_object::{ObjectId, ObjectSet};
use flumen_runtime::{Failure, Severity};

use super::{
    MANAGER, contest::Contested, outcome::SUCCEEDED, settings::apply_options, store::StatusStore,
    target::Target, work::Work,
};

/// The annotation of a Kustomization that says what becomes of drift: `correct`, as without it, or `report`.
pub(super) const MODE: &str = "kustomize.toolkit.fluxcd.io/drift";
/// Condition that reports drift.
const DRIFTED: &str = "Drifted";
const DETECTED: &str = "DriftDetected";
const CONTESTED: &str = "TugOfWar";
/// At most this many objects are named.
const NAMED: usize = 20;

/// Whether drift is corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Correct,
    Report,
}

impl Mode {
    /// Reads the annotation. Another value may have meant `report`, so it stops the reconciliation.
    pub(super) fn of(object: &Kustomization) -> Result<Self, String> {
        match object.metadata.annotations.get(MODE).map(String::as_str) {
            None | Some("correct") => Ok(Self::Correct),
            Some("report") => Ok(Self::Report),
            Some(other) => {
                let other: String = other.chars().take(64).collect();
                Err(format!(
                    "annotation {MODE} is {other:?}: use \"report\" or \"correct\", or remove it"
                ))
            }
        }
    }
}

/// Whether the last pass has applied exactly this build, so that every difference is drift.
pub(super) fn is_applied(object: &Kustomization, revision: &str, digest: &str) -> bool {
    let last = object.status.history.snapshots().first();
    object.status.last_applied_revision.as_deref() == Some(revision)
        && object.status.observed_generation == object.metadata.generation
        && last
            .is_some_and(|last| last.digest == digest && last.last_reconciled_status == SUCCEEDED)
}

impl Work<'_> {
    /// Looks what applying would change, and says so instead. Returns the objects to check the health of, or nothing when
    /// all is as it was applied.
    pub(super) async fn report_drift(
        &self,
        object: &Kustomization,
        target: &Target,
        rules: &Arc<HealthRules>,
        objects: ObjectSet,
        before: Inventory,
        revision: &str,
    ) -> Result<Option<Vec<Waited>>, Failure> {
        let failed = |message: String| {
            Failure::retried("ReconciliationFailed", message, object.spec.retry_interval())
        };
        let mut options =
            apply_options(self.kustomize, self.key(), object, target, rules, revision)?;
        options.prune = Prune::Off;
        let store = StatusStore::of_inventory(before);
        let plan = flumen_apply::plan(&target.client, objects, &store, &options).await;
        let plan = plan.map_err(|error| failed(error.to_string()))?;
        if let [first, ..] = plan.errors().as_slice() {
            return Err(failed(first.to_string()));
        }
        if plan.is_noop() {
            return Ok(None);
        }
        let message = format!(
            "{} not as in revision {revision}, and left so because of the annotation {MODE}: \
             remove it to correct them",
            drifted(&plan)
        );
        self.report_condition(DETECTED, &message);
        let mut waited = Vec::new();
        for planned in plan.objects.iter().filter(|planned| planned.action != Action::Skipped) {
            let resource = target.client.resource(&planned.id.gvk).await;
            let resource = resource.map_err(|error| failed(error.to_string()))?;
            let vanishes = planned.id.gvk.kind == "Job";
            waited.push(Waited { id: planned.id.clone(), resource, vanishes });
        }
        Ok(Some(waited))
    }

    /// Counts what was set back, and says which objects are fought for. `is_repeated` says that what was applied is what
    /// was applied before, so that each write was a correction.
    pub(super) fn report_contests(&self, changes: &[Change], is_repeated: bool) {
        let (contests, key) = (&self.kustomize.contests, self.key());
        if !is_repeated {
            contests.forget(key);
        }
        let writes = changes.iter().filter(|change| is_repeated && is_correction(change));
        let written: BTreeSet<ObjectId> = writes.map(|change| change.id.clone()).collect();
        let contested = contests.reverted(key, &written);
        if contested.is_empty() {
            self.run.with(|object| delete_condition(object, DRIFTED));
            return;
        }
        let interval = self.run.with(|object| GoDuration(object.spec.interval.0));
        let message = format!(
            "{}: set back three times within a minute, so from now on only every {interval}; \
             stop the other manager, or leave its fields to it with spec.ignore",
            named(contested.iter().map(fought_for))
        );
        self.report_condition(CONTESTED, &message);
    }

    /// Nothing has drifted.
    pub(super) fn forget_drift(&self) {
        // What was set back before counts for its minute, also when it is at rest in between.
        self.kustomize.contests.reverted(self.key(), &BTreeSet::new());
        self.run.with(|object| delete_condition(object, DRIFTED));
    }

    fn report_condition(&self, reason: &str, message: &str) {
        let now = self.run.runtime().clock.now();
        let is_new = self.run.with(|object| {
            let is_new = condition(object, DRIFTED).is_none_or(|known| known.message != message);
            set_condition(object, DRIFTED, ConditionStatus::True, reason, message, now);
            is_new
        });
        if is_new {
            self.post(Severity::Error, reason, message);
        }
    }
}

const fn is_correction(change: &Change) -> bool {
    matches!(change.action, Action::Created | Action::Configured)
}

/// What has drifted, and by whose hand.
fn drifted(plan: &Plan) -> String {
    let changed: Vec<&Planned> = plan.objects.iter().filter(|one| one.is_change()).collect();
    let names = named(changed.iter().map(|planned| match &planned.live {
        None => format!("{} (deleted)", planned.id),
        Some(live) => match last_manager_but(live, MANAGER) {
            Some(manager) => format!("{} (changed by {manager})", planned.id),
            None => planned.id.to_string(),
        },
    }));
    format!("{names} {}", if changed.len() == 1 { "is" } else { "are" })
}

fn fought_for(contested: &Contested) -> String {
    match &contested.by {
        Some(manager) => format!("{} is changed again and again by {manager}", contested.id),
        None => format!("{} is deleted again and again", contested.id),
    }
}

fn named(mut texts: impl Iterator<Item = String>) -> String {
    let mut named: Vec<String> = texts.by_ref().take(NAMED).collect();
    let more = texts.count();
    if more > 0 {
        named.push(format!("and {more} more"));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let texts = |count: usize| named((0..count).map(|number| number.to_string()));
        assert_eq!(texts(2), "0, 1");
        assert!(texts(NAMED + 3).ends_with("18, 19, and 3 more"));
    }
}
