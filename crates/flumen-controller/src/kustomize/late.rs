//! Kinds that are not installed: what a reconciliation reports while it waits for them, and the failure if they do not come.

use std::{collections::BTreeSet, mem, time::Duration};

use flumen_api::{ConditionStatus, Kustomization, READY, mark_reconciling, set_condition};
use flumen_apply::{Change, Error};
use flumen_kube::Cluster as _;
use flumen_object::{GroupKind, Gvk, ObjectId};
use flumen_runtime::{Failure, Requeue};

use super::{
    Kustomize,
    outcome::{PROGRESSING, apply_failure},
    target::Target,
    words,
    work::Work,
};

/// Annotation that decides about objects whose kind is not installed: `defer`, or `fail` as in Flux. Without it the flag of
/// the controller decides.
pub(super) const UNKNOWN_KINDS: &str = "kustomize.toolkit.fluxcd.io/unknown-kinds";

/// Whether kinds that are not installed fail a Kustomization at once.
pub(super) fn fails_unknown_kinds(
    kustomize: &Kustomize,
    object: &Kustomization,
) -> Result<bool, String> {
    match object.metadata.annotations.get(UNKNOWN_KINDS).map(String::as_str) {
        None => Ok(!kustomize.options.defer_unknown_kinds),
        Some("fail") => Ok(true),
        Some("defer") => Ok(false),
        Some(other) => {
            let other: String = other.chars().take(64).collect();
            Err(format!(
                "annotation {UNKNOWN_KINDS} is {other:?}: use \"fail\" or \"defer\", or remove it"
            ))
        }
    }
}

impl Work<'_> {
    /// Starts to wait for the kinds of these objects.
    pub(super) fn await_kinds(&self, objects: &[ObjectId]) {
        self.run.notes().awaited = objects.iter().map(|id| id.gvk.clone()).collect();
        self.report_awaited();
        self.wait("Wait for kinds", PROGRESSING, true);
        self.run.show_progress();
    }

    /// Ends a wait, if there is one.
    pub(super) fn end_wait(&self) {
        self.run.set_wait(None);
        let awaited = mem::take(&mut self.run.notes().awaited);
        if !awaited.is_empty() {
            let revision = self.run.with(|object| object.status.last_attempted_revision.clone());
            self.step("Detecting drift", &revision.unwrap_or_default());
        }
    }

    /// Reports which kinds are missing, and which Kustomizations deliver them.
    pub(super) fn report_awaited(&self) {
        let kinds = self.run.notes().awaited.clone();
        let message = self.kustomize.providers.describe(&self.key().to_name(), kinds.iter());
        let now = self.run.runtime().clock.now();
        self.run.with(|object| {
            mark_reconciling(object, PROGRESSING, &message, now);
            let unknown = ConditionStatus::Unknown;
            set_condition(object, READY, unknown, PROGRESSING, &message, now);
        });
    }

    /// Forgets the kinds that the last reconciliation gave up waiting for.
    pub(super) fn forget_missed(&self) {
        self.kustomize.providers.miss(&self.key().to_name(), BTreeSet::new());
    }

    /// Returns the failure of an apply. The CRD of a kind that was missing triggers the next reconciliation.
    pub(super) async fn apply_failure(
        &self,
        target: &Target,
        error: &Error,
        first: Option<&ObjectId>,
        changes: &[Change],
        retry: Duration,
    ) -> Failure {
        let Error::KindsNotServed { objects, .. } = error else {
            return apply_failure(error, &words::of_apply(error, first), changes, retry);
        };
        let (providers, name) = (&self.kustomize.providers, self.key().to_name());
        let kinds: BTreeSet<&Gvk> = objects.iter().map(|(_, gvk)| gvk).collect();
        let awaited = providers.describe(&name, kinds.iter().copied());
        let mut failure = apply_failure(error, &format!("{error}; {awaited}"), changes, retry);
        let missed = kinds.iter().copied().map(GroupKind::of).collect();
        providers.miss(&name, missed);
        self.kustomize.runtime.watcher.crds.need();
        // A CRD that was established between the last look and now has triggered nothing.
        for gvk in kinds {
            if matches!(target.client.resource(gvk).await, Ok(Some(_))) {
                failure.requeue = Requeue::Now;
            }
        }
        failure
    }
}
