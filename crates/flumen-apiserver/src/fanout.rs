//! Changes as watchers see them: written as text once, however many watch.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use flumen_store::{Event, Revision};
use parking_lot::Mutex;

use crate::ApiError;

/// Changes that are remembered; watchers that are further behind read them again.
const REMEMBERED: usize = 512;

/// The changes that watchers have seen last.
#[derive(Debug, Default)]
pub(crate) struct Fanout {
    recent: Mutex<BTreeMap<Place, Arc<Change>>>,
}

/// A revision may change several keys.
type Place = (Revision, Arc<str>);

/// A change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub event: Arc<Event>,
    /// Events as text, by what they say and for which version.
    lines: Mutex<Vec<(LineKey, Bytes)>>,
}

/// What a line depends on besides the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineKey {
    pub kind: &'static str,
    pub api_version: String,
}

impl Fanout {
    pub(crate) fn of(&self, event: &Arc<Event>) -> Arc<Change> {
        let mut recent = self.recent.lock();
        let key = (event.revision, Arc::clone(&event.key));
        let change = recent.entry(key).or_insert_with(|| Arc::new(Change::new(event)));
        let change = Arc::clone(change);
        if recent.len() > REMEMBERED {
            recent.pop_first();
        }
        change
    }
}

impl Change {
    fn new(event: &Arc<Event>) -> Self {
        Self { event: Arc::clone(event), lines: Mutex::default() }
    }

    /// The line of the change, made by the first who asks for it.
    pub(crate) fn line(
        &self,
        key: LineKey,
        make: impl FnOnce() -> Result<Bytes, ApiError>,
    ) -> Result<Bytes, ApiError> {
        let mut lines = self.lines.lock();
        if let Some((_, line)) = lines.iter().find(|(known, _)| *known == key) {
            return Ok(line.clone());
        }
        let line = make()?;
        lines.push((key, line.clone()));
        Ok(line)
    }
}
