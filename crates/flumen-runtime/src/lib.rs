//! Runs reconcilers of any kind: watches, a work queue, statuses, events, leader election.
//!
//! ```text
//! watches ─▶ Store ─▶ wakeups ─▶ Queue ─▶ Reconciliation ─▶ status, events
//!              └─ Index: who refers to whom ─┘     └─ Reconciler, one for each kind
//! ```
//!
//! A kind is data ([`KindInfo`]) and a [`Reconciler`]; [`Manager`] registers it. This crate names no kind.
#![allow(clippy::disallowed_methods, reason = "measures waits and reads files of the system")]

mod clock;
mod crds;
mod dependencies;
mod election;
mod endpoints;
mod events;
mod failure;
mod follow;
mod index;
mod inputs;
mod json;
mod kind;
mod manager;
mod metrics;
mod options;
mod queue;
mod reconciler;
mod reconciliation;
mod references;
mod registered;
mod rivals;
mod runtime;
mod status;
mod store;
mod wakeups;

pub use clock::Clock;
pub use crds::{CrdWait, Crds, defined_kind};
pub use dependencies::{Dependencies, DependencyState};
pub use election::Election;
pub use endpoints::Listen;
pub use events::{Event, EventBus, EventSink, Severity};
pub use failure::{Class, Failure};
pub use follow::{Observer, Scope, Watcher, follow, version};
pub use index::{Index, Reference, Relation};
pub use kind::{Family, Key, KindInfo, Name, Pool};
pub use manager::{Controller, Manager};
pub use options::Options;
pub use queue::{Queue, Requeue, Trigger};
pub use reconciler::{Changed, Done, Finalized, Reconciler, Wake};
pub use reconciliation::{Reconciliation, Wait};
pub use references::{ReferenceError, Secret, config_map, core_resource, pull_secrets, secret};
pub use rivals::{Rival, hint as hint_for_rivals};
pub use runtime::Runtime;
pub use status::has_finalizer;
pub use store::{Change, MalformedObject, Read, Store};
