//! Flux's kinds that no controller serves: their objects can be applied, and nothing comes of them.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use flumen_api::{ConditionStatus, READY, mark_reconciling, set_condition};
use flumen_apply::{Pending, Progress, Report};
use flumen_object::{Gvk, ObjectId};
use jiff::Timestamp;

use super::{outcome::PROGRESSING, pass::Pass};

/// The end of the names of all of Flux's groups.
const FLUX: &str = ".toolkit.fluxcd.io";
/// The kinds that we serve ourselves.
const OURS: [&str; 4] = ["GitRepository", "OCIRepository", "ExternalArtifact", "Kustomization"];
/// What health says of an object that no controller has looked at: Flux's definitions give that generation to a new one.
const UNOBSERVED: &str = "but latest observed generation is -1";

/// Says that nobody serves a kind.
pub(super) fn say(api_version: &str, kind: &str) -> String {
    format!("no controller serves the kind {kind} ({api_version})")
}

/// Follows a wait for health, and shows when it is in vain.
pub(super) struct InVain<'a> {
    pass: &'a Pass<'a>,
    /// What the pass says while it waits.
    running: String,
    kinds: Mutex<BTreeSet<Gvk>>,
}

impl<'a> InVain<'a> {
    pub(super) const fn new(pass: &'a Pass<'a>, running: String) -> Self {
        Self { pass, running, kinds: Mutex::new(BTreeSet::new()) }
    }

    /// Why the wait is in vain, if it is.
    pub(super) fn reason(&self) -> Option<String> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let parts: Vec<String> =
            kinds.iter().map(|gvk| say(&gvk.api_version(), &gvk.kind)).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn show(&self) {
        let reason = self.reason().map(|reason| format!("; {reason}")).unwrap_or_default();
        let message = format!("{}{reason}", self.running);
        let mut state = self.pass.state();
        let now = Timestamp::now();
        mark_reconciling(&mut state.object, PROGRESSING, &message, now);
        let unknown = ConditionStatus::Unknown;
        set_condition(&mut state.object, READY, unknown, PROGRESSING, &message, now);
        drop(state);
        self.pass.news.notify_one();
    }
}

impl Report for InVain<'_> {
    fn report(&self, progress: &Progress<'_>) {
        let Progress::Waiting(pending) = progress else { return };
        let now: BTreeSet<Gvk> =
            pending.iter().filter(|one| is_unserved(one)).map(|one| one.id.gvk.clone()).collect();
        let before = {
            let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *kinds, now.clone())
        };
        if before != now {
            self.show();
        }
    }
}

fn is_unserved(Pending { id: ObjectId { gvk, .. }, why }: &Pending) -> bool {
    gvk.group.ends_with(FLUX) && !OURS.contains(&gvk.kind.as_str()) && why.ends_with(UNOBSERVED)
}
