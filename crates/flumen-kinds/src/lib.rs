//! What an API server does with built-in kinds: decoding, defaults, validation, tables.

mod internal;
mod prepare;
mod quantity;
mod read;
pub mod selectable;
pub mod table;
mod validate;
mod warnings;

pub use prepare::{
    creates_on_update, prepare_create, prepare_subresource_update, prepare_update, reset_fields,
    updates_without_version,
};
pub use validate::{validate_create, validate_subresource_update, validate_update};
pub use warnings::warnings;
