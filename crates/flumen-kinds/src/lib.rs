//! What an API server does with built-in kinds: decoding, defaults, validation, tables.

pub mod selectable;
pub mod table;
