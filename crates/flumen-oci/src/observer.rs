//! Who watches bytes on their way, in either direction.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::BlobStream;

/// Watches bytes on their way.
pub trait Observer: Send + Sync {
    /// So many more bytes will be dealt with.
    fn found(&self, bytes: u64);
    /// So many bytes have arrived, or need not travel.
    fn done(&self, bytes: u64);
    /// So many bytes that had arrived must travel again.
    fn lost(&self, bytes: u64);
}

/// Whom transfers tell how far they are. By default that is nobody.
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<dyn Observer>>);

impl Watch {
    pub fn by(observer: impl Observer + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    pub(crate) fn found(&self, bytes: u64) {
        self.0.iter().for_each(|observer| observer.found(bytes));
    }

    pub(crate) fn done(&self, bytes: u64) {
        self.0.iter().for_each(|observer| observer.done(bytes));
    }

    /// The same content, seen as it passes.
    pub(crate) fn over(&self, content: BlobStream) -> BlobStream {
        self.attempt().over(content)
    }

    /// Watches content that may have to travel again.
    pub(crate) fn attempt(&self) -> Attempt {
        Attempt { watch: self.clone(), passed: Arc::default() }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.0.is_some()).finish()
    }
}

/// One try of a transfer.
pub(crate) struct Attempt {
    watch: Watch,
    passed: Arc<AtomicU64>,
}

impl Attempt {
    /// The same content, seen as it passes.
    pub(crate) fn over(&self, content: BlobStream) -> BlobStream {
        let (watch, passed) = (self.watch.clone(), Arc::clone(&self.passed));
        content.map(move |piece| {
            if let Ok(piece) = &piece {
                passed.fetch_add(piece.len() as u64, Ordering::Relaxed);
                watch.done(piece.len() as u64);
            }
            piece
        })
    }

    /// Takes back what was seen: it was in vain.
    pub(crate) fn fail(self) {
        let passed = self.passed.load(Ordering::Relaxed);
        self.watch.0.iter().for_each(|observer| observer.lost(passed));
    }
}
