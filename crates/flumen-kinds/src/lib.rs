//! What an API server does with built-in kinds: decoding, defaults, validation, tables.

mod canonical;
mod convert;
mod decode;
mod defaults;
mod document;
mod go_json;
mod internal;
mod json;
mod pem;
pub mod pod_security;
mod pods;
mod prepare;
mod protobuf;
pub mod quota;
mod read;
pub mod selectable;
pub mod table;
mod validate;
mod warnings;
mod x509;

pub use canonical::{tighten, zero};
pub use convert::{convert, convert_as_is, remove_converted_annotations, stored_version};
pub use decode::{
    CustomTarget, DecodeError, Decoded, Media, Strict, Target, Traces, decode, decode_custom,
    decode_restored, decode_value, duplicates, head_fault, restore_fault, syntax_fault, text_fault,
};
pub use defaults::{default, default_type, inherit_early};
pub use document::Document;
pub use flumen_object::Quantity;
pub use go_json::go_json;
pub use pods::total_resources;
pub use prepare::{
    count, counts_empty, creates_on_update, finish_create, nothing, prepare_create,
    prepare_subresource_update, prepare_update, present, reset_fields, sign_of_presented,
    updates_without_version,
};
pub use validate::{
    AccessReview, NameRule, validate_access_review, validate_any_update, validate_create,
    validate_metadata, validate_metadata_update, validate_subresource_update, validate_update,
};
pub use warnings::{deprecation, warnings};
