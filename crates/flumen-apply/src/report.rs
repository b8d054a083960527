//! What a run tells while it goes on.

use flumen_object::ObjectId;

/// What happened, or will happen, to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    Created,
    Configured,
    Unchanged,
    Skipped,
    Deleted,
    /// Its kind is not served yet.
    Deferred,
}

impl Action {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Deleted => "deleted",
            Self::Deferred => "deferred",
        }
    }
}

/// An object and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub id: ObjectId,
    pub action: Action,
}

impl Change {
    /// Whether something was written.
    pub const fn is_write(&self) -> bool {
        matches!(self.action, Action::Created | Action::Configured | Action::Deleted)
    }
}

/// Something that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub id: ObjectId,
    pub why: String,
}

/// One step of a run.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// Dry runs and applies that are about to be sent.
    Reviewing {
        objects: usize,
    },
    Changed(&'a Change),
    /// What happened to an object that is no longer wanted.
    Pruned(&'a Change),
    /// What is not ready yet, again whenever that changes.
    Waiting(&'a [Pending]),
    /// Waits for the kinds of these objects.
    Deferred(&'a [ObjectId]),
    /// Waits until these objects are gone.
    Terminating(&'a [ObjectId]),
}

/// Receives the steps of a run as they happen.
pub trait Report: Send + Sync {
    fn report(&self, progress: &Progress<'_>);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Report for Silent {
    fn report(&self, _: &Progress<'_>) {}
}
