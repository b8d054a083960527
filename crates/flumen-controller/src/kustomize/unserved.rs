//! Flux's kinds that no controller serves: their objects can be applied, and nothing comes of them.

use std::collections::BTreeSet;

use flumen_api::{ConditionStatus, READY, mark_reconciling, set_condition};
use flumen_apply::{Pending, Progress, Report};
use flumen_object::{Gvk, ObjectId};
use parking_lot::Mutex;

use super::{outcome::PROGRESSING, work::Work};
use crate::kinds::SUPPORTED;

/// The end of the names of all of Flux's groups.
const FLUX: &str = ".toolkit.fluxcd.io";
/// What health says of an object that no controller has looked at: Flux's definitions give that generation to a new one.
const UNOBSERVED: &str = "but latest observed generation is -1";

/// Says that nobody serves a kind.
pub(super) fn say(api_version: &str, kind: &str) -> String {
    format!("no controller serves the kind {kind} ({api_version})")
}

/// Follows a wait for health, and shows when it is in vain.
pub(super) struct InVain<'a> {
    work: Work<'a>,
    /// What the reconciliation reports while it waits.
    running: String,
    kinds: Mutex<BTreeSet<Gvk>>,
}

impl<'a> InVain<'a> {
    pub(super) const fn new(work: Work<'a>, running: String) -> Self {
        Self { work, running, kinds: Mutex::new(BTreeSet::new()) }
    }

    /// Why the wait is in vain, if it is.
    pub(super) fn reason(&self) -> Option<String> {
        let kinds = self.kinds.lock();
        let parts: Vec<String> =
            kinds.iter().map(|gvk| say(&gvk.api_version(), &gvk.kind)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn show(&self) {
        let reason = self.reason().map(|reason| format!("; {reason}")).unwrap_or_default();
        let message = format!("{}{reason}", self.running);
        let run = self.work.run;
        let now = run.runtime().clock.now();
        run.with(|object| {
            mark_reconciling(object, PROGRESSING, &message, now);
            let unknown = ConditionStatus::Unknown;
            set_condition(object, READY, unknown, PROGRESSING, &message, now);
        });
        run.show_progress();
    }
}

impl Report for InVain<'_> {
    fn report(&self, progress: &Progress<'_>) {
        let Progress::Waiting(pending) = progress else { return };
        let now: BTreeSet<Gvk> =
            pending.iter().filter(|one| is_unserved(one)).map(|one| one.id.gvk.clone()).collect();
        let before = {
            let mut kinds = self.kinds.lock();
            std::mem::replace(&mut *kinds, now.clone())
        };
        if before != now {
            self.show();
        }
    }
}

/// Whether this controller reconciles or observes a kind.
fn is_supported(gvk: &Gvk) -> bool {
    SUPPORTED.iter().any(|kind| gvk.kind == *kind.kind && gvk.group == *kind.group)
}

fn is_unserved(Pending { id: ObjectId { gvk, .. }, why }: &Pending) -> bool {
    gvk.group.ends_with(FLUX) && !is_supported(gvk) && why.ends_with(UNOBSERVED)
}
