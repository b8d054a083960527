//! Content in a part of a file: read as a stream, written from one.

use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures_util::{TryStreamExt as _, stream};

use super::blocking;
use crate::{BlobStream, Descriptor, Digest, Error, Hasher, Result};

/// How much is read or written at once: few enough hops between threads, little enough memory.
const PIECE: usize = 256 << 10;

/// Where content lies.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) path: PathBuf,
    pub(super) offset: u64,
    pub(super) size: u64,
}

impl Extent {
    /// Opens it where the content begins.
    fn open(&self) -> Result<File> {
        let mut file = File::open(&self.path).map_err(|source| io_error(&self.path, source))?;
        if self.offset > 0 {
            file.seek(SeekFrom::Start(self.offset))
                .map_err(|source| io_error(&self.path, source))?;
        }
        Ok(file)
    }

    /// All of it, checked. Only for content whose size has been checked.
    pub(super) fn read(&self, digest: &Digest) -> Result<Bytes> {
        let bytes =
            read_piece(&self.open()?, self.size).map_err(|source| io_error(&self.path, source))?;
        let mut hasher = Hasher::new(digest.algorithm());
        hasher.update(&bytes);
        if hasher.finish() != *digest {
            return Err(Error::CorruptFile { path: self.path.clone(), expected: digest.clone() });
        }
        Ok(bytes)
    }

    /// The content that `descriptor` names, piece by piece and checked.
    pub(super) async fn stream(self, descriptor: &Descriptor) -> Result<BlobStream> {
        struct State {
            file: File,
            left: u64,
            path: PathBuf,
        }
        let (path, expected) = (self.path.clone(), descriptor.digest.clone());
        let state =
            blocking(move || Ok(State { file: self.open()?, left: self.size, path: self.path }))
                .await?;
        let pieces = stream::try_unfold(state, |mut state| async move {
            if state.left == 0 {
                return Ok(None);
            }
            blocking(move || {
                let wanted = state.left.min(PIECE as u64);
                let piece = read_piece(&state.file, wanted)
                    .map_err(|source| io_error(&state.path, source))?;
                // A file that shrinks meanwhile ends here, and the check of its size fails.
                state.left = if piece.is_empty() { 0 } else { state.left - piece.len() as u64 };
                Ok(Some((piece, state)))
            })
            .await
        });
        let checked = BlobStream::verified(pieces, descriptor).map(move |piece| {
            piece.map_err(|error| match error {
                Error::DigestMismatch { .. } | Error::SizeMismatch { .. } => {
                    Error::CorruptFile { path: path.clone(), expected: expected.clone() }
                }
                other => other,
            })
        });
        Ok(checked)
    }
}

/// Writes a stream where the file stands, and gives the file back. Never writes more than announced.
pub(super) async fn write(
    mut file: File,
    path: &Path,
    descriptor: &Descriptor,
    mut content: BlobStream,
) -> Result<File> {
    let mismatch =
        || Error::SizeMismatch { digest: descriptor.digest.clone(), expected: descriptor.size };
    let (mut pieces, mut waiting, mut written) = (Vec::new(), 0, 0);
    loop {
        let piece = content.try_next().await?;
        let is_end = piece.is_none();
        if let Some(piece) = piece {
            waiting += piece.len();
            written += piece.len() as u64;
            pieces.push(piece);
        }
        if written > descriptor.size {
            return Err(mismatch());
        }
        if waiting >= PIECE || is_end {
            let batch: Vec<Bytes> = std::mem::take(&mut pieces);
            let path = path.to_owned();
            file = blocking(move || {
                for piece in batch {
                    file.write_all(&piece).map_err(|source| io_error(&path, source))?;
                }
                Ok(file)
            })
            .await?;
            waiting = 0;
        }
        if is_end {
            return if written == descriptor.size { Ok(file) } else { Err(mismatch()) };
        }
    }
}

/// Up to `wanted` bytes, fewer only at the end of the file.
fn read_piece(file: &File, wanted: u64) -> std::io::Result<Bytes> {
    let mut piece = Vec::with_capacity(usize::try_from(wanted).unwrap_or(PIECE));
    file.take(wanted).read_to_end(&mut piece)?;
    Ok(piece.into())
}

pub(super) fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}
