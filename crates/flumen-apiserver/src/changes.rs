//! Everything that is stored, then every change of it, for parts of the server that follow all kinds.
//!
//! One stream for all kinds, in the order of revisions, also of those that are defined later. A watch
//! for every kind would cost a stream each, and would have to be begun anew with each definition.

use std::sync::Arc;

use bytes::Bytes;
use flumen_store::{Range, Revision, Watch, WatchError};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Api, ApiError, storage};

/// A stream of changes that begins with what there is.
#[derive(Debug)]
pub struct Changes {
    present: std::vec::IntoIter<Change>,
    watch: Watch,
}

/// An object that is there, or that was deleted.
#[derive(Clone, Debug)]
pub struct Change {
    key: Arc<str>,
    /// What is stored; if it was deleted, what was stored last.
    value: Bytes,
    revision: Revision,
    pub is_deletion: bool,
    /// Whether there was nothing before it.
    pub is_new: bool,
}

impl Api {
    /// What there is, then what changes.
    pub fn changes(&self) -> Result<Changes, ApiError> {
        let store = self.store();
        let page = store.range(&Range::default()).map_err(|error| storage::read_error(&error))?;
        let present = page.entries.into_iter().map(|(key, entry)| Change {
            key,
            value: entry.value,
            revision: entry.revision,
            is_deletion: false,
            is_new: true,
        });
        let present = present.collect::<Vec<_>>().into_iter();
        let watch = store.watch("", page.revision).map_err(|error| storage::read_error(&error))?;
        Ok(Changes { present, watch })
    }
}

impl Changes {
    /// Whether everything that was there at the beginning has been returned.
    pub(crate) fn is_current(&self) -> bool {
        self.present.len() == 0
    }

    /// Waits for the next one. May be cancelled.
    pub async fn next(&mut self) -> Result<Change, WatchError> {
        if let Some(change) = self.present.next() {
            return Ok(change);
        }
        loop {
            let event = self.watch.next().await?;
            let Some(entry) = event.entry.as_ref().or(event.previous.as_ref()) else { continue };
            return Ok(Change {
                key: Arc::clone(&event.key),
                value: entry.value.clone(),
                revision: event.revision,
                is_deletion: event.entry.is_none(),
                is_new: event.previous.is_none(),
            });
        }
    }
}

impl Change {
    /// The group of the resource; empty for the core group.
    pub fn group(&self) -> &str {
        match self.part(0) {
            "core" => "",
            group => group,
        }
    }

    pub fn plural(&self) -> &str {
        self.part(1)
    }

    /// Empty for what is in none.
    pub fn namespace(&self) -> &str {
        if self.key.split('/').count() > 3 { self.part(2) } else { "" }
    }

    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }

    /// The object with its version.
    pub fn object(&self) -> Result<Value, ApiError> {
        storage::decode_at(&self.value, self.revision)
    }

    /// The parts of the object that a type names; the others are not read.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_slice(&self.value).map_err(ApiError::internal)
    }

    fn part(&self, place: usize) -> &str {
        self.key.split('/').nth(place).unwrap_or_default()
    }
}
