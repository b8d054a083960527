//! What a run tells while it goes on: which objects it has changed, and which kinds it waits for.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use flumen_api::{ConditionStatus, READY, mark_reconciling, set_condition};
use flumen_apply::{Action, Change, Error, Progress, Report};
use flumen_kube::Cluster as _;
use flumen_object::{Gvk, ObjectId};
use jiff::Timestamp;

use super::{
    failure::Failure,
    outcome::{PROGRESSING, apply_failure, lines},
    pass::Pass,
    target::Target,
};
use crate::{
    cache::{GroupKind, reflected::Name},
    events::Severity,
    queue::Next,
};

/// Collects what a run does, and lets others work while it waits.
pub(super) struct Changes<'a> {
    pass: &'a Pass<'a>,
    changes: Mutex<Vec<Change>>,
}

impl<'a> Changes<'a> {
    pub(super) const fn new(pass: &'a Pass<'a>) -> Self {
        Self { pass, changes: Mutex::new(Vec::new()) }
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report for Changes<'_> {
    fn report(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Changed(change) => {
                let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
                changes.push((*change).clone());
            }
            Progress::Deferred(objects) => {
                self.pass.rest();
                self.pass.await_kinds(objects);
            }
            Progress::Waiting(_) => self.pass.rest(),
            Progress::Reviewing { .. } => self.pass.end_wait(),
        }
    }
}

impl Pass<'_> {
    pub(super) fn name(&self) -> Name {
        (self.key.namespace.clone(), self.key.name.clone())
    }

    /// Posts what was applied and what was pruned.
    pub(super) fn tell_changes(&self, revision: &str, changes: &[Change], is_applied: bool) {
        if !is_applied {
            return;
        }
        let (pruned, applied): (Vec<&Change>, Vec<&Change>) =
            changes.iter().partition(|change| change.action == Action::Deleted);
        for changes in [applied, pruned] {
            let lines = lines(changes.into_iter());
            if !lines.is_empty() {
                let object = self.object();
                self.post(&object, Severity::Info, PROGRESSING, &lines, revision, false);
            }
        }
    }

    fn await_kinds(&self, objects: &[ObjectId]) {
        self.state().awaited = objects.iter().map(|id| id.gvk.clone()).collect();
        self.tell_awaited();
        self.news.notify_one();
    }

    fn end_wait(&self) {
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
        changes: &[Change],
        retry: Duration,
    ) -> Failure {
        let Error::KindsNotServed { objects, .. } = error else {
            return apply_failure(error, &error.to_string(), changes, retry);
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
