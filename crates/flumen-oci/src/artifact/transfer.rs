//! From a stream that arrives to a reader that blocks.

use std::io::{self, Read};

use bytes::{Buf as _, Bytes};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use crate::{BlobStream, Error, Result};

/// Pieces that wait to be read; each has some ten kilobytes.
const PIECES: usize = 16;

/// Lets `work` read the stream on a thread that may block.
///
/// The stream is read to its end even if `work` has seen enough, because only the end tells whether
/// the content is what its digest says: until then, `work` must not show anyone what it made.
pub(super) async fn read_blocking<T: Send + 'static>(
    mut stream: BlobStream,
    work: impl FnOnce(&mut StreamReader) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = mpsc::channel(PIECES);
    let worker = tokio::task::spawn_blocking(move || {
        let mut reader = StreamReader { receiver, piece: Bytes::new() };
        let result = work(&mut reader)?;
        while reader.receiver.blocking_recv().is_some() {}
        Ok(result)
    });
    let mut failure = None;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(|error| {
            failure = Some(error);
            io::Error::from(io::ErrorKind::UnexpectedEof)
        });
        // Nobody listens any more when the worker has failed.
        if sender.send(piece).await.is_err() {
            break;
        }
    }
    drop(sender);
    let result = worker.await.map_err(|error| Error::packing(io::Error::other(error)))?;
    match failure {
        Some(error) => Err(error),
        None => result,
    }
}

/// Reads what the other side sends.
#[derive(Debug)]
pub(super) struct StreamReader {
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
}

impl Read for StreamReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.piece.has_remaining() {
            match self.receiver.blocking_recv() {
                Some(piece) => self.piece = piece?,
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
