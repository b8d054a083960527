//! Absent and empty are one for Go's `omitempty`, and so they are here: what is empty is read as absent and not
//! written.

use serde::{Deserialize as _, Deserializer};

/// Reads a text; an empty one is none.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
