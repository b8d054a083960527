//! Content on its way.

use std::{fmt, pin::Pin};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};

use crate::{Descriptor, Error, Hasher, Result};

/// Content in memory is handed over in pieces of this size.
const PIECE: usize = 256 << 10;

/// The bytes of a blob, piece by piece.
///
/// A stream made by [`BlobStream::verified`] ends with an error if the whole is not what its
/// descriptor says. Who stores content must store it under its name only after the end.
pub struct BlobStream(Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>);

impl BlobStream {
    /// Content that is known to be right because it was made here.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Self {
        let mut rest = bytes.into();
        // In pieces, so that whoever watches sees them pass.
        let pieces = std::iter::from_fn(move || {
            let piece = rest.split_to(rest.len().min(PIECE));
            (!piece.is_empty()).then_some(Ok(piece))
        });
        Self(Box::pin(stream::iter(pieces)))
    }

    /// Content from outside: never more than the size that was announced, and nothing but the
    /// bytes that the digest names.
    pub fn verified(
        content: impl Stream<Item = Result<Bytes>> + Send + 'static,
        descriptor: &Descriptor,
    ) -> Self {
        struct State<S> {
            content: S,
            hasher: Option<Hasher>,
            received: u64,
            expected: Descriptor,
        }
        let state = State {
            content: Box::pin(content),
            hasher: Some(Hasher::new(descriptor.digest.algorithm())),
            received: 0,
            expected: descriptor.clone(),
        };
        let checked = stream::try_unfold(state, |mut state| async move {
            let Some(hasher) = &mut state.hasher else { return Ok(None) };
            if let Some(piece) = state.content.try_next().await? {
                state.received += piece.len() as u64;
                if state.received > state.expected.size {
                    return Err(Error::SizeMismatch {
                        digest: state.expected.digest,
                        expected: state.expected.size,
                    });
                }
                hasher.update(&piece);
                return Ok(Some((piece, state)));
            }
            if state.received != state.expected.size {
                return Err(Error::SizeMismatch {
                    digest: state.expected.digest,
                    expected: state.expected.size,
                });
            }
            let actual = state.hasher.take().map(Hasher::finish);
            if actual.as_ref() != Some(&state.expected.digest) {
                return Err(Error::DigestMismatch { expected: state.expected.digest });
            }
            Ok(None)
        });
        Self(Box::pin(checked))
    }

    /// The same stream with a look at every piece as it passes.
    pub(crate) fn map(
        self,
        look: impl FnMut(Result<Bytes>) -> Result<Bytes> + Send + 'static,
    ) -> Self {
        Self(Box::pin(self.0.map(look)))
    }

    /// All of it, for content that is known to be small.
    pub async fn collect(self) -> Result<Bytes> {
        let mut pieces: Vec<Bytes> = self.0.try_collect().await?;
        if pieces.len() == 1 {
            return Ok(pieces.remove(0));
        }
        Ok(pieces.concat().into())
    }
}

impl Stream for BlobStream {
    type Item = Result<Bytes>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for BlobStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlobStream")
    }
}
