//! What a writer relies on and what it changes.

use std::{collections::BTreeMap, fmt};

use bytes::Bytes;

use crate::{
    entry::{Entry, Revision},
    error::CommitError,
};

/// The longest key, in bytes. The longest that an API server makes has some 700.
pub(crate) const MAX_KEY: usize = 1024;
/// The longest value, in bytes.
pub(crate) const MAX_VALUE: usize = 3 << 20;

/// What must hold for a key when the transaction takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Absent,
    Present,
    /// Present, and last changed at the revision.
    At(Revision),
}

impl Condition {
    fn holds(self, entry: Option<&Entry>) -> bool {
        match self {
            Self::Absent => entry.is_none(),
            Self::Present => entry.is_some(),
            Self::At(revision) => entry.is_some_and(|entry| entry.revision == revision),
        }
    }
}

/// Conditions and changes that take place together or not at all.
///
/// A key is changed once: a later `put` or `delete` of the same key replaces the earlier one.
/// Deleting an absent key changes nothing.
#[derive(Clone, Default)]
pub struct Transaction {
    conditions: Vec<(String, Condition)>,
    /// `None` deletes.
    changes: BTreeMap<String, Option<Bytes>>,
}

/// Values may be secrets, so they are not shown.
impl fmt::Debug for Transaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Transaction")
            .field("conditions", &self.conditions)
            .field("changes", &self.changes.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Transaction {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn require(mut self, key: impl Into<String>, condition: Condition) -> Self {
        self.conditions.push((key.into(), condition));
        self
    }

    #[must_use]
    pub fn put(mut self, key: impl Into<String>, value: impl AsRef<[u8]>) -> Self {
        // Values live long, so they take no more room than they need. A buffer cut to size would
        // leave a gap behind every value.
        self.changes.insert(key.into(), Some(Bytes::copy_from_slice(value.as_ref())));
        self
    }

    #[must_use]
    pub fn delete(mut self, key: impl Into<String>) -> Self {
        self.changes.insert(key.into(), None);
        self
    }

    /// Whether keys and values are within their limits.
    pub(crate) fn validate(&self) -> Result<(), CommitError> {
        for (key, value) in &self.changes {
            if key.is_empty() || key.len() > MAX_KEY {
                return Err(CommitError::Key { length: key.len() });
            }
            let length = value.as_ref().map_or(0, Bytes::len);
            if length > MAX_VALUE {
                return Err(CommitError::Value { key: key.clone(), length });
            }
        }
        Ok(())
    }

    /// Whether all conditions hold for what `current` says.
    pub(crate) fn check<'a>(
        &self,
        current: impl Fn(&str) -> Option<&'a Entry>,
    ) -> Result<(), CommitError> {
        for (key, condition) in &self.conditions {
            let entry = current(key);
            if !condition.holds(entry) {
                let found = entry.map(|entry| entry.revision);
                return Err(CommitError::Conflict { key: key.clone(), found });
            }
        }
        Ok(())
    }

    pub(crate) fn into_changes(self) -> BTreeMap<String, Option<Bytes>> {
        self.changes
    }
}
