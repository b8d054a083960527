//! Changes of objects, collected for the events of a reconciliation.

use flumen_apply::{Change, Progress, Report};

use parking_lot::Mutex;

use super::work::Work;

/// Collects changes, and releases the worker while a run waits.
pub(super) struct Changes<'a> {
    work: Work<'a>,
    /// Applied objects, and pruned ones.
    parts: Mutex<(Vec<Change>, Vec<Change>)>,
}

impl<'a> Changes<'a> {
    pub(super) const fn new(work: Work<'a>) -> Self {
        Self { work, parts: Mutex::new((Vec::new(), Vec::new())) }
    }

    /// Returns the changes of objects of the build, and of objects that are no longer in it.
    pub(super) fn into_parts(self) -> (Vec<Change>, Vec<Change>) {
        self.parts.into_inner()
    }
}

impl Report for Changes<'_> {
    fn report(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Changed(change) => self.parts.lock().0.push((*change).clone()),
            Progress::Pruned(change) => self.parts.lock().1.push((*change).clone()),
            Progress::Deferred(objects) => self.work.await_kinds(objects),
            Progress::Waiting(_) | Progress::Terminating(_) => self.work.run.release_worker(),
            Progress::Reviewing { .. } => self.work.end_wait(),
        }
    }
}
