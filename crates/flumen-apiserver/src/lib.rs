//! A Kubernetes API server in one process.
//!
//! ```text
//! HTTP ─▶ http ─▶ auth ─▶ Call ─▶ verbs ─▶ Answer ─▶ http (JSON, YAML, Table)
//!                                  │ Resource: flumen-kinds or flumen-crd
//!                                  └ flumen-store
//! ```
//!
//! Everything that is asked of the server is a [`Call`], whether it came over the network or from a
//! controller in the same process.

mod answer;
mod api;
mod boot;
mod call;
mod catalog;
mod changes;
mod clock;
mod error;
mod fanout;
mod local;
mod meta;
mod patch;
mod policy;
mod resource;
mod rules;
mod storage;
mod user;
mod verbs;

pub use answer::{Answer, Payload};
pub use api::Api;
pub use call::{Call, Media, Query, Representation, Target, Verb};
pub use catalog::Catalog;
pub use changes::{Change, Changes};
pub use error::{ApiError, Cause, Details, Reason};
pub use local::{Client, Deletion, List, ResourceName, Select};
pub use resource::{Behaviour, Location, Resource, Subresource};
pub use user::User;
pub use verbs::{WatchEvent, WatchKind};
