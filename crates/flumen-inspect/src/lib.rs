//! The state of a cluster as data: what surfaces show and wait for.
//!
//! ```text
//! Site (client, namespace, deadline) ─▶ find, list ─▶ Row, Branch, EventRow
//!                                     └▶ follow ─▶ Verdict
//! Client ─▶ Overview (sources, Kustomizations) ─▶ Forest (objects, health, owners)
//! ```
//!
//! [`kinds`] is the table of Flux's kinds. Messages of [`Error`] are those of `flux`, so that scripts that read them keep
//! working. Nothing here draws; the only writes are requests to controllers: suspend, resume, reconcile now.

mod error;
pub mod events;
mod follow;
mod inventory;
pub mod kinds;
mod link;
pub mod object;
mod objects;
mod outcome;
mod overview;
mod requests;
mod row;
mod selection;
mod site;
mod tree;

pub use error::Error;
pub use events::{EventQuery, EventRow};
pub use follow::{Verdict, health, readiness};
pub use inventory::{InventoryDetails, InventoryObject};
pub use link::{Link, source_to_reconcile};
pub use objects::{Forest, LiveObject, Owned};
pub use outcome::sentence;
pub use overview::{Overview, State, Unit};
pub use requests::{REQUESTED_AT, request_patch};
pub use row::Row;
pub use selection::Selection;
pub use site::Site;
pub use tree::{Branch, GroupKind, Identity};
