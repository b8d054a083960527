//! What a run does to objects, collected for the events of a pass.

use std::sync::{Mutex, PoisonError};

use flumen_apply::{Change, Progress, Report};

use super::pass::Pass;

/// Collects what a run does, and lets others work while it waits for kinds.
pub(super) struct Changes<'a> {
    pass: &'a Pass<'a>,
    /// What was applied, and what was pruned.
    parts: Mutex<(Vec<Change>, Vec<Change>)>,
}

impl<'a> Changes<'a> {
    pub(super) const fn new(pass: &'a Pass<'a>) -> Self {
        Self { pass, parts: Mutex::new((Vec::new(), Vec::new())) }
    }

    /// What happened to objects of the build, and to objects that are no longer in it.
    pub(super) fn into_parts(self) -> (Vec<Change>, Vec<Change>) {
        self.parts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report for Changes<'_> {
    fn report(&self, progress: &Progress<'_>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Changed(change) => parts.0.push((*change).clone()),
            Progress::Pruned(change) => parts.1.push((*change).clone()),
            Progress::Deferred(objects) => {
                self.pass.rest();
                self.pass.await_kinds(objects);
            }
            Progress::Waiting(_) | Progress::Terminating(_) => self.pass.rest(),
            Progress::Reviewing { .. } => self.pass.end_wait(),
        }
    }
}
