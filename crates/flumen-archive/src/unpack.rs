//! Reads an archive of unknown origin, entry by entry, while it arrives.
//!
//! An archive may claim anything: names that climb out, links, devices, sizes without end. Here every
//! entry is checked before anything is done with it, and every byte is counted before it is kept.

use std::{
    cell::Cell,
    io::{self, Read},
    path::Path,
    rc::Rc,
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use crate::{
    EntryLimits, Meter, UnpackError,
    entry_path::{safe_path, stays_inside},
};

/// Headers of one entry, extended ones included. Real ones have a few hundred bytes.
const MAX_HEADER: u64 = 1 << 20;
/// What may follow the archive: archivers fill up to some block size.
const MAX_PADDING: u64 = 1 << 20;
/// Leaves out the bits that let a file run as its owner.
const PERMISSIONS: u32 = 0o777;

/// Receiver of the entries of an archive.
pub trait Sink {
    /// Returns whether the content of a file matters.
    fn wants(&self, _path: &Path) -> bool {
        true
    }

    /// Takes a directory, which may come more than once, and after what is in it.
    fn directory(&mut self, path: &Path) -> io::Result<()>;

    /// Takes the content of a file.
    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()>;
}

/// A regular file of an archive.
#[derive(Debug)]
pub struct FileEntry<'a> {
    /// Path below the root, which it does not leave.
    pub path: &'a Path,
    /// Permissions, and nothing else of a mode.
    pub mode: u32,
}

/// Treatment of links and of paths that come more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Symbolic links that stay inside are left out, all else is refused.
    Strict,
    /// As Flux unpacks artifacts: symbolic links are left out, a hard link is an empty file, and the
    /// last of several files counts. The sink sees every one of them.
    Flux,
}

/// Compression of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
}

/// How an archive is read.
#[derive(Clone, Copy, Debug)]
pub struct UnpackOptions<'a> {
    /// Name of the archive in messages, such as `layer sha256:…`.
    pub archive: &'a str,
    pub compression: Compression,
    pub rules: Rules,
    pub limits: EntryLimits,
}

impl<'a> UnpackOptions<'a> {
    /// Options for an archive in gzip, with the usual limits.
    pub fn gzip(archive: &'a str, rules: Rules) -> Self {
        Self { archive, compression: Compression::Gzip, rules, limits: EntryLimits::default() }
    }
}

/// Sends the entries of an archive to a sink.
pub fn unpack(
    content: &mut dyn Read,
    options: &UnpackOptions<'_>,
    meter: &mut Meter,
    sink: &mut dyn Sink,
) -> Result<(), UnpackError> {
    let UnpackOptions { archive: name, compression, rules, limits } = *options;
    let allowance = Rc::new(Cell::new(MAX_HEADER));
    let content: Box<dyn Read> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(content)),
        Compression::None => Box::new(content),
    };
    let mut archive = Archive::new(Allowed { inner: content, allowance: Rc::clone(&allowance) });
    let invalid = |error: io::Error| UnpackError::invalid(name, &error);

    let mut entries = archive.entries().map_err(invalid)?;
    loop {
        allowance.set(MAX_HEADER);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(invalid)?;
        let entry_name = entry.path_bytes().into_owned();
        let refused = |reason| UnpackError::unsafe_entry(name, &entry_name, reason);
        if is_sparse(&mut entry).map_err(invalid)? {
            return Err(refused("is a sparse file, which is unsupported"));
        }
        allowance.set(MAX_HEADER);
        let size = entry.size();
        match (entry.header().entry_type(), rules) {
            // A hard link has no content of its own.
            (EntryType::Link, Rules::Flux) if size > 0 => {
                return Err(refused("is a hard link with a size"));
            }
            (EntryType::Regular | EntryType::Continuous, _) | (EntryType::Link, Rules::Flux) => {
                let path = safe_path(name, &entry_name, &limits)?;
                if path.as_os_str().is_empty() {
                    return Err(refused("is a file without a name"));
                }
                meter.charge(name, size)?;
                if size > limits.file_bytes {
                    return Err(UnpackError::file_too_large(name, &entry_name, limits.file_bytes));
                }
                if rules == Rules::Strict {
                    meter.reserve(name, &path)?;
                }
                allowance.set(size.saturating_add(MAX_HEADER));
                let mode = entry.header().mode().map_err(invalid)?;
                let file = FileEntry { path: &path, mode: mode & PERMISSIONS };
                sink.file(&file, &mut entry)
                    .map_err(|error| UnpackError::of_sink(name, &path, error))?;
            }
            (EntryType::Directory, _) => {
                let path = safe_path(name, &entry_name, &limits)?;
                meter.count(name)?;
                sink.directory(&path).map_err(|error| UnpackError::of_sink(name, &path, error))?;
            }
            (EntryType::Symlink, Rules::Flux) => {
                safe_path(name, &entry_name, &limits)?;
                meter.count(name)?;
            }
            // Links are left out, and nothing may come in their place.
            (EntryType::Symlink, Rules::Strict) => {
                let path = safe_path(name, &entry_name, &limits)?;
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                if !stays_inside(&path, &target) {
                    let path = path.as_os_str().as_encoded_bytes();
                    let reason = "is a link that leads outside";
                    return Err(UnpackError::unsafe_entry(name, path, reason));
                }
                meter.count(name)?;
                meter.reserve(name, &path)?;
            }
            (EntryType::XGlobalHeader, _) => {}
            (EntryType::Link, _) => return Err(refused("is a hard link")),
            (EntryType::Char | EntryType::Block, _) => return Err(refused("is a device")),
            (EntryType::Fifo, _) => return Err(refused("is a fifo")),
            _ => return Err(refused("has an unsupported type")),
        }
        // What the sink did not want; entries of other kinds have no content to speak of.
        io::copy(&mut entry, &mut io::sink()).map_err(invalid)?;
    }
    // To the end, because only there the checksum of gzip is compared.
    allowance.set(MAX_PADDING);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(invalid)?;
    Ok(())
}

/// Returns whether an entry is a sparse file, which is larger than its bytes, by as much as it likes.
fn is_sparse(entry: &mut Entry<'_, impl Read>) -> io::Result<bool> {
    let is_sparse = entry.header().entry_type() == EntryType::GNUSparse
        || entry.pax_extensions()?.is_some_and(|extensions| {
            extensions
                .filter_map(Result::ok)
                .any(|extension| extension.key_bytes().starts_with(b"GNU.sparse"))
        });
    Ok(is_sparse)
}

/// Yields as many bytes as are allowed and then fails, so that no header and no padding is endless.
struct Allowed<R> {
    inner: R,
    allowance: Rc<Cell<u64>>,
}

impl<R: Read> Read for Allowed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let allowance = self.allowance.get();
        if allowance == 0 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a header or what follows the end is larger than the limit",
            ));
        }
        let most = usize::try_from(allowance).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.inner.read(&mut buffer[..most])?;
        self.allowance.set(allowance - count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
