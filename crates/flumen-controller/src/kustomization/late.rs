//! Kinds that come late: what a pass says while it waits for them, and what it fails with when they do not come.

use std::{collections::BTreeSet, time::Duration};

use flumen_api::{ConditionStatus, Kustomization, READY, mark_reconciling, set_condition};
use flumen_apply::{Change, Error};
use flumen_kube::Cluster as _;
use flumen_object::{Gvk, ObjectId};
use jiff::Timestamp;

use super::{
    failure::Failure,
    outcome::{PROGRESSING, apply_failure},
    pass::{Pass, Waiting},
    target::Target,
    words,
};
use crate::{
    Controller,
    cache::{GroupKind, reflected::Name},
    queue::Next,
};

/// The annotation of a Kustomization that says what becomes of objects whose kind is not served yet: `defer`, or `fail` as
/// in Flux. Without it the flag of the controller decides.
pub(crate) const UNKNOWN_KINDS: &str = "kustomize.toolkit.fluxcd.io/unknown-kinds";

/// Whether kinds that are not served fail a Kustomization at once.
pub(super) fn fails_unknown_kinds(
    controller: &Controller,
    object: &Kustomization,
) -> Result<bool, String> {
    match object.metadata.annotations.get(UNKNOWN_KINDS).map(String::as_str) {
        None => Ok(!controller.options.defer_unknown_kinds),
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

impl Pass<'_> {
    pub(super) fn name(&self) -> Name {
        (self.key.namespace.clone(), self.key.name.clone())
    }

    pub(super) fn await_kinds(&self, objects: &[ObjectId]) {
        self.waits.send_replace(Waiting::Kinds);
        self.state().awaited = objects.iter().map(|id| id.gvk.clone()).collect();
        self.tell_awaited();
        self.news.notify_one();
    }

    pub(super) fn end_wait(&self) {
        self.waits.send_if_modified(|waits| {
            std::mem::replace(waits, Waiting::Nothing) != Waiting::Nothing
        });
        let awaited = std::mem::take(&mut self.state().awaited);
        if !awaited.is_empty() {
            let revision = self.state().object.status.last_attempted_revision.clone();
            self.step("Detecting drift", &revision.unwrap_or_default());
        }
    }

    /// Says which kinds are waited for, and who delivers them.
    pub(super) fn tell_awaited(&self) {
        let mut state = self.state();
        let kinds = state.awaited.clone();
        let message = self.controller.providers.describe(&self.name(), kinds.iter());
        let now = Timestamp::now();
        mark_reconciling(&mut state.object, PROGRESSING, &message, now);
        let unknown = ConditionStatus::Unknown;
        set_condition(&mut state.object, READY, unknown, PROGRESSING, &message, now);
    }

    /// Begins anew: what an earlier pass has missed does not count.
    pub(super) fn forget_missed(&self) {
        self.controller.providers.miss(&self.name(), BTreeSet::new());
    }

    /// What is said of an apply that failed. If that was for want of a kind, its definition wakes us.
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
        let controller = self.controller;
        let kinds: BTreeSet<&Gvk> = objects.iter().map(|(_, gvk)| gvk).collect();
        let name = self.name();
        let awaited = controller.providers.describe(&name, kinds.iter().copied());
        let mut failure = apply_failure(error, &format!("{error}; {awaited}"), changes, retry);
        let missed = kinds.iter().map(|gvk| GroupKind::of(gvk)).collect();
        controller.providers.miss(&name, missed);
        controller.definitions.miss();
        // One that came between the last look and now has told nobody.
        for gvk in kinds {
            if matches!(target.client.resource(gvk).await, Ok(Some(_))) {
                failure.next = Next::Now;
            }
        }
        failure
    }
}
