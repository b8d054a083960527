//! Hashes the content of files on its way to a sink.

use std::{
    io::{self, Read},
    path::Path,
};

use flumen_archive::{FileEntry, Sink};

use crate::{Digest, Hasher, digest::Algorithm};

/// Sink that hashes all files in the order of the archive and passes them on.
#[derive(Debug)]
pub(super) struct Checksummed<S> {
    inner: S,
    hasher: Hasher,
}

impl<S> Checksummed<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, hasher: Hasher::new(Algorithm::Sha256) }
    }

    /// Returns the sink and the digest of the files.
    pub(super) fn finish(self) -> (S, Digest) {
        (self.inner, self.hasher.finish())
    }
}

impl<S: Sink> Sink for Checksummed<S> {
    fn wants(&self, path: &Path) -> bool {
        self.inner.wants(path)
    }

    fn directory(&mut self, path: &Path) -> io::Result<()> {
        self.inner.directory(path)
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        self.inner.file(entry, &mut Hashing { content, hasher: &mut self.hasher })
    }
}

/// Hashes what is read.
struct Hashing<'a> {
    content: &'a mut dyn Read,
    hasher: &'a mut Hasher,
}

impl Read for Hashing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        Ok(count)
    }
}
