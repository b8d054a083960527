//! Content on its way into the storage.

use std::{
    io::{self, Write as _},
    path::Path,
};

use flumen_oci::{Algorithm, Digest, Hasher};
use tempfile::NamedTempFile;

/// A file that nobody sees yet. It vanishes unless it is published.
#[derive(Debug)]
pub struct Incoming {
    file: NamedTempFile,
    hasher: Hasher,
    size: u64,
}

impl Incoming {
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        let file = NamedTempFile::new_in(directory)?;
        Ok(Self { file, hasher: Hasher::new(Algorithm::Sha256), size: 0 })
    }

    /// Of what was written so far.
    pub(crate) fn digest(&self) -> Digest {
        self.hasher.clone().finish()
    }

    pub(super) fn finish(self) -> io::Result<(tempfile::TempPath, Digest, u64)> {
        let Self { mut file, hasher, size } = self;
        file.flush()?;
        Ok((file.into_temp_path(), hasher.finish(), size))
    }
}

impl io::Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
