//! The bytes of a layer and the digest of the archive in it.

use std::io;

use flumen_archive::{ArchiveWriter, Budget, Gzip, PackError, UnpackError};

use crate::{Descriptor, Digest, Hasher, Result, digest::Algorithm};

/// Returns the name of a layer in messages.
pub(super) fn name_of(digest: &Digest) -> String {
    format!("layer {digest}")
}

/// Refuses a layer that is larger than its content may be.
pub(super) fn check_size(layer: &Descriptor, budget: Budget) -> Result<(), UnpackError> {
    if layer.size > budget.bytes {
        let archive = name_of(&layer.digest);
        return Err(UnpackError::TooLarge { archive, limit: budget.bytes });
    }
    Ok(())
}

/// A finished layer.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) bytes: Vec<u8>,
    /// The digest of the archive before it was compressed.
    pub(super) diff_id: Digest,
}

pub(super) type LayerWriter = ArchiveWriter<HashingGzip>;

impl Layer {
    /// Makes a layer of the entries that `fill` writes.
    pub(super) fn of(fill: impl FnOnce(&mut LayerWriter) -> Result<(), PackError>) -> Result<Self> {
        let hasher = Hasher::new(Algorithm::Sha256);
        let mut writer = LayerWriter::new(HashingGzip { gzip: Gzip::new(Vec::new()), hasher });
        fill(&mut writer)?;
        let finish = || -> io::Result<Self> {
            let HashingGzip { gzip, hasher } = writer.finish()?;
            Ok(Self { bytes: gzip.finish()?, diff_id: hasher.finish() })
        };
        Ok(finish().map_err(PackError::Write)?)
    }
}

/// Compresses, and hashes what is compressed.
pub(super) struct HashingGzip {
    gzip: Gzip<Vec<u8>>,
    hasher: Hasher,
}

impl io::Write for HashingGzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gzip.write_all(bytes)?;
        self.hasher.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.gzip.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, path::Path};

    use super::*;

    #[test]
    fn the_digest_is_that_of_the_archive() {
        let file = |writer: &mut LayerWriter| Ok(writer.file(Path::new("a"), 0o600, b"a: b\n")?);
        let layer = Layer::of(file).expect("finished");
        let mut archive = Vec::new();
        flate2::read::GzDecoder::new(&*layer.bytes).read_to_end(&mut archive).expect("gzip");
        assert_eq!(Digest::of(&archive), layer.diff_id);
    }
}
