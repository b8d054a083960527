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
mod call;
mod catalog;
mod error;
mod resource;
mod user;

pub use answer::{Answer, Payload};
pub use api::Api;
pub use call::{Call, Media, Query, Representation, Target, Verb};
pub use catalog::Catalog;
pub use error::{ApiError, Cause, Details, Reason};
pub use resource::{Behaviour, Resource, Subresource};
pub use user::User;
