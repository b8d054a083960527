//! Reads a layer of unknown origin, entry by entry, while it arrives.
//!
//! An archive may claim anything: names that climb out, links, devices, sizes without end. Here every
//! entry is checked before anything is done with it, and every byte is counted before it is kept.

use std::{
    cell::Cell,
    collections::BTreeSet,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::Budget;
use crate::{Digest, Error, Result};

/// Headers of one entry, extended ones included. Real ones have a few hundred bytes.
const MAX_HEADER: u64 = 1 << 20;
/// What may follow the archive: archivers fill up to some block size.
const MAX_PADDING: u64 = 1 << 20;
/// Leaves out the bits that let a file run as its owner.
const PERMISSIONS: u32 = 0o777;
const MAX_NAME: usize = 4096;
const MAX_DEPTH: usize = 100;

/// Where the entries of an archive go.
pub trait Sink {
    /// Whether the content of a file matters.
    fn wants(&self, _path: &Path) -> bool {
        true
    }

    /// Takes a directory, which may come more than once, and after what is in it.
    fn directory(&mut self, path: &Path) -> io::Result<()>;

    /// Takes the content of a file, of which `content` yields `size` bytes.
    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()>;
}

/// A regular file of an archive or of an artifact.
#[derive(Debug)]
pub struct FileEntry<'a> {
    /// Below the root, which it does not leave.
    pub path: &'a Path,
    /// Permissions, and nothing else of a mode.
    pub mode: u32,
}

/// What has been spent of a budget, over all layers of an artifact.
#[derive(Debug)]
pub(super) struct Meter {
    budget: Budget,
    bytes: u64,
    files: u64,
    names: BTreeSet<PathBuf>,
}

impl Meter {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, bytes: 0, files: 0, names: BTreeSet::new() }
    }

    /// Counts a file before it is read.
    pub(super) fn charge(&mut self, size: u64, layer: &Digest) -> Result<()> {
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.budget.bytes {
            return Err(Error::OverBudget { digest: layer.clone(), limit: self.budget.bytes });
        }
        self.count(layer)
    }

    fn count(&mut self, layer: &Digest) -> Result<()> {
        self.files += 1;
        if self.files > self.budget.files {
            return Err(Error::TooManyFiles { digest: layer.clone(), limit: self.budget.files });
        }
        Ok(())
    }

    /// Takes a name that no other entry may have, nor use as its directory.
    pub(super) fn reserve(&mut self, path: &Path, layer: &Digest) -> Result<()> {
        let is_below_file = path.ancestors().skip(1).any(|parent| self.names.contains(parent));
        if is_below_file || !self.names.insert(path.to_owned()) {
            return Err(unsafe_entry(layer, path.as_os_str().as_encoded_bytes(), "is a duplicate"));
        }
        Ok(())
    }
}

/// What becomes of links and of names that come more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// Symbolic links that stay inside are left out, all else is refused.
    Strict,
    /// As Flux unpacks what its sources name: symbolic links are passed over, a hard link is an empty file, and the
    /// last of several files counts. The sink sees every one of them.
    Flux,
}

/// How an archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
}

/// Sends the entries of an archive to a sink.
pub(super) fn unpack(
    digest: &Digest,
    (compression, rules): (Compression, Rules),
    content: &mut dyn Read,
    meter: &mut Meter,
    sink: &mut dyn Sink,
) -> Result<()> {
    let allowance = Rc::new(Cell::new(MAX_HEADER));
    let content: Box<dyn Read> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(content)),
        Compression::None => Box::new(content),
    };
    let mut archive = Archive::new(Allowed { inner: content, allowance: Rc::clone(&allowance) });
    let invalid = |error: io::Error| invalid_archive(digest, &error);

    let mut entries = archive.entries().map_err(invalid)?;
    loop {
        allowance.set(MAX_HEADER);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(invalid)?;
        let name = entry.path_bytes().into_owned();
        refuse_sparse(&mut entry, digest, &name)?;
        allowance.set(MAX_HEADER);
        let size = entry.size();
        match (entry.header().entry_type(), rules) {
            // A hard link has no content of its own.
            (EntryType::Link, Rules::Flux) if size > 0 => {
                return Err(unsafe_entry(digest, &name, "is a hard link with a size"));
            }
            (EntryType::Regular | EntryType::Continuous, _) | (EntryType::Link, Rules::Flux) => {
                let path = safe_path(&name, digest)?;
                if path.as_os_str().is_empty() {
                    return Err(unsafe_entry(digest, &name, "is a file without a name"));
                }
                meter.charge(size, digest)?;
                if rules == Rules::Strict {
                    meter.reserve(&path, digest)?;
                }
                allowance.set(size.saturating_add(MAX_HEADER));
                let mode = entry.header().mode().map_err(invalid)?;
                let file = FileEntry { path: &path, mode: mode & PERMISSIONS };
                sink.file(&file, &mut entry).map_err(|error| written(digest, &path, error))?;
            }
            (EntryType::Directory, _) => {
                let path = safe_path(&name, digest)?;
                meter.count(digest)?;
                sink.directory(&path).map_err(|error| written(digest, &path, error))?;
            }
            (EntryType::Symlink, Rules::Flux) => {
                safe_path(&name, digest)?;
                meter.count(digest)?;
            }
            // Links are left out, and nothing may come in their place.
            (EntryType::Symlink, Rules::Strict) => {
                let path = safe_path(&name, digest)?;
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                refuse_link_outside(&path, &target, digest)?;
                meter.count(digest)?;
                meter.reserve(&path, digest)?;
            }
            (EntryType::XGlobalHeader, _) => {}
            (other, _) => {
                let kind = match other {
                    EntryType::Link => "is a hard link",
                    EntryType::Char | EntryType::Block => "is a device",
                    EntryType::Fifo => "is a fifo",
                    _ => "has an unsupported type",
                };
                return Err(unsafe_entry(digest, &name, kind));
            }
        }
        // What the sink did not want; entries of other kinds have no content to speak of.
        io::copy(&mut entry, &mut io::sink()).map_err(invalid)?;
    }
    // To the end, because only there the checksum of gzip is compared.
    allowance.set(MAX_PADDING);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(invalid)?;
    Ok(())
}

/// A relative path that stays where it is; empty for the root itself.
pub(super) fn safe_path(name: &[u8], layer: &Digest) -> Result<PathBuf> {
    let refuse = |reason: &str| Err(unsafe_entry(layer, name, reason));
    let Ok(text) = std::str::from_utf8(name) else { return refuse("has a name that is not UTF-8") };
    if name.len() > MAX_NAME {
        return refuse("has a name that is too long");
    }
    if text.chars().any(char::is_control) {
        return refuse("has a control character in its name");
    }
    // Other systems read it as a separator.
    if text.contains('\\') {
        return refuse("has a backslash in its path");
    }
    let mut path = PathBuf::new();
    let mut depth = 0;
    for component in Path::new(text).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir => return refuse("leads outside: its path has `..`"),
            Component::RootDir | Component::Prefix(_) => {
                return refuse("leads outside: its path is absolute");
            }
        }
        depth += 1;
    }
    if depth > MAX_DEPTH {
        return refuse("lies too deep");
    }
    Ok(path)
}

fn refuse_link_outside(path: &Path, target: &[u8], layer: &Digest) -> Result<()> {
    let outside = || {
        let name = path.as_os_str().as_encoded_bytes();
        Err(unsafe_entry(layer, name, "is a link that leads outside"))
    };
    let Ok(target) = std::str::from_utf8(target) else { return outside() };
    let mut depth = path.components().count().saturating_sub(1);
    for component in Path::new(target).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return outside(),
        }
    }
    Ok(())
}

/// A sparse file is larger than its bytes, by as much as it likes.
fn refuse_sparse(entry: &mut tar::Entry<'_, impl Read>, layer: &Digest, name: &[u8]) -> Result<()> {
    let is_sparse = entry.header().entry_type() == EntryType::GNUSparse
        || entry.pax_extensions().map_err(|error| invalid_archive(layer, &error))?.is_some_and(
            |extensions| {
                extensions
                    .filter_map(Result::ok)
                    .any(|extension| extension.key_bytes().starts_with(b"GNU.sparse"))
            },
        );
    if is_sparse {
        return Err(unsafe_entry(layer, name, "is a sparse file, which is unsupported"));
    }
    Ok(())
}

fn unsafe_entry(layer: &Digest, name: &[u8], reason: &str) -> Error {
    const SHOWN: usize = 200;
    let shown = name.get(..SHOWN).unwrap_or(name);
    let mut entry = String::from_utf8_lossy(shown).into_owned();
    if shown.len() < name.len() {
        entry.push('…');
    }
    Error::UnsafeEntry { digest: layer.clone(), entry, reason: reason.to_owned() }
}

fn invalid_archive(layer: &Digest, error: &io::Error) -> Error {
    Error::InvalidArchive { digest: layer.clone(), reason: error.to_string() }
}

/// What a sink could not do: an entry that is there already is the fault of the archive.
pub(super) fn written(layer: &Digest, path: &Path, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            unsafe_entry(layer, path.as_os_str().as_encoded_bytes(), "is a duplicate")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            invalid_archive(layer, &error)
        }
        _ => Error::Io { path: path.to_owned(), source: error },
    }
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
