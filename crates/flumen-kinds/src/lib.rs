//! What an API server does with built-in kinds: decoding, defaults, validation, tables.

mod canonical;
mod convert;
mod decode;
mod defaults;
mod document;
mod json;
mod protobuf;

pub use canonical::{canonical, zero};
pub use convert::convert;
pub use decode::{DecodeError, Decoded, Media, Strict, Target, decode, decode_value};
pub use defaults::default;
pub use document::Document;
pub use flumen_object::{Quantity, QuantityError};
