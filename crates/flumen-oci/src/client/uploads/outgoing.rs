//! Content on its way out.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _, stream};
use parking_lot::Mutex;
use reqwest::Response;
use thiserror::Error;

use crate::{BlobStream, Descriptor, Error, Result, client::Timeouts};

/// Larger pieces are cut, so that progress shows while they are sent.
const MAX_STEP: usize = 256 << 10;
/// A source has time limits of its own, so its silence is judged there first.
const PATIENCE_FACTOR: u32 = 3;

/// What is known about content while it is sent.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    sent: AtomicU64,
    is_complete: AtomicBool,
    /// Why the content ended early, which is the reason for all that follows.
    fault: Mutex<Option<Error>>,
}

/// Content that ended early; [`Outgoing`] knows why.
#[derive(Debug, Error)]
#[error("the content broke off")]
pub(super) struct BrokenOff;

struct Pieces {
    content: BlobStream,
    held: Bytes,
    received: u64,
    expected: Descriptor,
    outgoing: Arc<Outgoing>,
}

impl Outgoing {
    /// The content with its end held back until the whole is known to be right: a registry never gets
    /// all of something else.
    pub(super) fn new(
        content: BlobStream,
        expected: &Descriptor,
    ) -> (impl Stream<Item = Result<Bytes, BrokenOff>> + Send + use<>, Arc<Self>) {
        let outgoing = Arc::new(Self::default());
        let pieces = Pieces {
            content,
            held: Bytes::new(),
            received: 0,
            expected: expected.clone(),
            outgoing: Arc::clone(&outgoing),
        };
        let stream = stream::try_unfold(pieces, |mut pieces| async move {
            match pieces.next().await {
                Ok(piece) => Ok(piece.map(|piece| (piece, pieces))),
                Err(fault) => {
                    *pieces.outgoing.fault.lock() = Some(fault);
                    Err(BrokenOff)
                }
            }
        });
        (stream, outgoing)
    }

    /// Waits for an upload as long as it moves.
    pub(super) async fn watch(
        &self,
        upload: impl Future<Output = Result<Response>>,
        host: &str,
        timeouts: &Timeouts,
    ) -> Result<Response> {
        let mut upload = pin!(upload);
        loop {
            let before = self.sent.load(Relaxed);
            let is_complete = self.is_complete.load(Relaxed);
            let patience =
                if is_complete { timeouts.commit } else { timeouts.idle * PATIENCE_FACTOR };
            if let Ok(answer) = tokio::time::timeout(patience, &mut upload).await {
                let fault = self.fault.lock().take();
                return fault.map_or(answer, Err);
            }
            let has_moved =
                self.sent.load(Relaxed) != before || self.is_complete.load(Relaxed) != is_complete;
            if !has_moved {
                return Err(Error::TimedOut { host: host.to_owned(), doing: "during an upload" });
            }
        }
    }
}

impl Pieces {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        while self.held.len() <= MAX_STEP {
            let next = self.content.try_next().await?;
            self.received += next.as_ref().map_or(0, |piece| piece.len() as u64);
            let is_wrong = match next {
                Some(_) => self.received > self.expected.size,
                None => self.received != self.expected.size,
            };
            if is_wrong {
                let (digest, expected) = (self.expected.digest.clone(), self.expected.size);
                return Err(Error::SizeMismatch { digest, expected });
            }
            let Some(next) = next else {
                self.outgoing.is_complete.store(true, Relaxed);
                let last = std::mem::take(&mut self.held);
                return Ok((!last.is_empty()).then_some(last));
            };
            let ready = std::mem::replace(&mut self.held, next);
            if !ready.is_empty() {
                return Ok(Some(self.count(ready)));
            }
        }
        let step = self.held.split_to(MAX_STEP);
        Ok(Some(self.count(step)))
    }

    fn count(&self, piece: Bytes) -> Bytes {
        self.outgoing.sent.fetch_add(piece.len() as u64, Relaxed);
        piece
    }
}
