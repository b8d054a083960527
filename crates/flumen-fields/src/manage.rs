//! Who owns which fields of an object, and how that decides what a write does.
//!
//! [`update`] is for writes that bring a whole object: create, replace, patch. [`apply`] is for
//! configurations of which the rest of the object is to be kept. Both work on objects in the version of
//! the request and know nothing of where objects are stored.

mod apply;
mod cap;
mod conflict;
mod filter;
mod last_applied;
mod managers;
mod prune;
mod scale;
mod times;
mod update;
mod versioned;

use serde_json::Value;

pub use self::{
    apply::{ApplyError, apply},
    conflict::{Conflict, Conflicts},
    filter::Filter,
    scale::{ScalePaths, scale_from_parent, scale_to_parent},
    times::{keep_times, unchanged},
    update::update,
};
use crate::Schema;

/// What a kind has in all its versions. Fields are owned in the version in which they were written.
pub trait Versions {
    /// The schema in a version; none if the kind is not served in it.
    fn schema(&self, api_version: &str) -> Option<&Schema>;

    /// An object of the kind in another version that has a schema.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String>;

    /// An object of the kind with nothing set, in the version of the request: what a new object is
    /// compared to. For built-in kinds it has the fields that are always printed.
    fn empty(&self) -> Value;
}

/// What a write is about.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    pub versions: &'a dyn Versions,
    /// Of the request, as `apps/v1`.
    pub api_version: &'a str,
    pub kind: &'a str,
    /// Empty for the object itself.
    pub subresource: &'a str,
    /// Fields that this endpoint does not write.
    pub filter: &'a Filter,
    /// The time, as it is to stand in managed fields.
    pub now: &'a str,
}

impl std::fmt::Debug for Write<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .field("subresource", &self.subresource)
            .finish_non_exhaustive()
    }
}

/// The managed fields of an object as they are sent.
fn managed_fields(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("managedFields")
}

/// Puts managed fields into an object, or takes them out of it.
fn set_managed_fields(object: &mut Value, managed: Option<Value>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    match managed {
        Some(managed) => metadata.insert("managedFields".to_owned(), managed),
        None => metadata.remove("managedFields"),
    };
}
