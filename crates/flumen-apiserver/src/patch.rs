//! Patches on trees of JSON, as the libraries of the real server apply them.

mod go;
mod json;
mod merge;
mod strategic;

pub(crate) use self::{
    json::JsonPatch,
    merge::merge,
    strategic::{StrategicError, strategic_merge},
};
