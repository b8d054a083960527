//! What a kind has to bring along to be reconciled.

use std::{any::Any, future::Future, time::Duration};

use flumen_api::Reconciled;
use flumen_object::ObjectId;

use crate::{Change, Failure, Key, KindInfo, Reconciliation, Reference, Relation, Requeue};

/// Reconciles the objects of one kind.
///
/// The runtime watches the objects, decides when each is reconciled, adds and removes the finalizer, and writes the status:
/// once at the end, and when a reconciliation takes longer than a second.
pub trait Reconciler: Send + Sync + 'static {
    type Object: Reconciled;
    /// What a reconciliation notes for its own end.
    type Notes: Default;

    fn kind(&self) -> &'static KindInfo;

    /// Returns the annotations whose change triggers a reconciliation.
    fn settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns what an object refers to.
    fn references(&self, _object: &Self::Object) -> Vec<Reference> {
        Vec::new()
    }

    /// Decides whether a change of an object that `user` refers to wakes the user.
    fn wakes(&self, _user: &Self::Object, _relation: Relation, _changed: &Changed<'_>) -> Wake {
        Wake::IfWaiting
    }

    /// Returns whether a change of an object, other than of its spec, may end its own wait.
    fn wakes_itself(&self, _change: &Change<Self::Object>) -> Option<Relation> {
        None
    }

    /// Follows a change of an object, also a deletion.
    fn observe(&self, _key: &Key, _change: &Change<Self::Object>) {}

    /// Does the work. What it has to report goes into the object of `run`.
    fn reconcile(
        &self,
        run: &Reconciliation<'_, Self::Object, Self::Notes>,
    ) -> impl Future<Output = Result<Done, Failure>>;

    /// Completes the status, before the last write.
    fn complete(
        &self,
        run: &Reconciliation<'_, Self::Object, Self::Notes>,
        outcome: &Result<Done, Failure>,
    );

    /// Completes the status of an object that is suspended.
    fn complete_suspended(&self, object: &mut Self::Object) {
        object.handle_request();
    }

    /// Follows the end of a reconciliation whose status was written: posts events and logs.
    fn announce(
        &self,
        _run: &Reconciliation<'_, Self::Object, Self::Notes>,
        _outcome: &Result<Done, Failure>,
    ) {
    }

    /// Removes what a deleted object has left behind. The finalizer goes with `Finalized::Done`.
    fn finalize(
        &self,
        run: &Reconciliation<'_, Self::Object, Self::Notes>,
    ) -> impl Future<Output = Finalized>;

    /// Follows the removal of the finalizer.
    fn finalized(&self, _run: &Reconciliation<'_, Self::Object, Self::Notes>) {}

    /// Follows the end of every reconciliation, after it has left the queue.
    fn ended(&self, _key: &Key) {}
}

/// A reconciliation that succeeded.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Interval until the next one.
    pub interval: Duration,
}

/// How a finalization ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finalized {
    /// The object may go.
    Done,
    /// It must stay for now.
    Not(Requeue),
}

/// Whether a change wakes an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wake {
    No,
    /// If its last reconciliation gave up waiting for such a change.
    IfWaiting,
    Now,
    /// Unless a reconciliation at this revision of its source is running; `is_behind` says whether the object needs one.
    AtRevision {
        revision: String,
        is_behind: bool,
    },
}

/// An object that has changed.
#[derive(Clone, Copy)]
pub struct Changed<'c> {
    pub id: &'c ObjectId,
    pub(crate) change: Option<&'c dyn Any>,
}

impl<'c> Changed<'c> {
    /// Returns the states of the object before and after, if it is a `K` that the runtime watches.
    pub fn states<K: 'static>(&self) -> Option<&'c Change<K>> {
        self.change?.downcast_ref()
    }
}

impl std::fmt::Debug for Changed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changed").field("id", &self.id).finish_non_exhaustive()
    }
}
