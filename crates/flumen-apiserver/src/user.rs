//! Who asks.

use std::collections::BTreeMap;

/// An authenticated user, or the one a user impersonates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// May do everything.
    pub const MASTERS: &str = "system:masters";

    /// Whether rules do not matter.
    pub(crate) fn is_master(&self) -> bool {
        self.groups.iter().any(|group| group == Self::MASTERS)
    }

    /// A part of the server itself.
    pub(crate) fn internal(name: &str) -> Self {
        Self { name: name.to_owned(), groups: vec![Self::MASTERS.to_owned()], ..Self::default() }
    }
}
