//! The index of a directory as it was read or written last.
//!
//! An index has tens of thousands of entries in a large layout, and every operation looks something up
//! in it. It is read again only when its file is another one.

use std::{fs::Metadata, sync::Arc, time::SystemTime};

use super::index::LayoutIndex;
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub(super) struct Snapshot(Mutex<Option<(Stamp, Arc<LayoutIndex>)>>);

/// Which state of the file it is. We replace the file, so that it gets another number; other tools may
/// write into it, which changes its time or its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    number: u64,
}

impl Snapshot {
    /// What is known about the file that `metadata` describes.
    pub(super) fn get(&self, metadata: &Metadata) -> Option<Arc<LayoutIndex>> {
        let last = self.0.lock();
        last.as_ref().filter(|(stamp, _)| *stamp == Stamp::of(metadata)).map(|(_, i)| Arc::clone(i))
    }

    /// Remembers the index. `metadata` must be older than the reading of it: then what somebody writes
    /// in between is noticed.
    pub(super) fn set(&self, metadata: &Metadata, index: LayoutIndex) -> Arc<LayoutIndex> {
        let index = Arc::new(index);
        *self.0.lock() = Some((Stamp::of(metadata), Arc::clone(&index)));
        index
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = 0;
        Self { modified: metadata.modified().ok(), size: metadata.len(), number }
    }
}
