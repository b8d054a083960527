//! Where the content of an artifact goes: into memory, or into a directory.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write as _},
    mem,
    path::{Path, PathBuf},
};

use super::unpack::{FileEntry, Sink};
use crate::{Digest, Hasher, digest::Algorithm};

/// Files whose documents are manifests.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

const BUFFER: usize = 64 << 10;

/// Bytes of small files that wait in memory.
const MAX_HELD: usize = 8 << 20;

/// The text of manifests, in memory.
#[derive(Debug)]
pub(super) struct Text {
    wanted: Wanted,
    /// The files that were wanted, in the order of the archive.
    files: Vec<(PathBuf, Vec<u8>)>,
    has_files: bool,
}

#[derive(Debug)]
enum Wanted {
    All,
    Manifests,
    File(PathBuf),
}

impl Text {
    /// Everything, one behind the other: the archive is one text.
    pub(super) const fn of_all_files() -> Self {
        Self::new(Wanted::All)
    }

    /// All files that look like manifests, as documents of one text.
    pub(super) const fn of_manifests() -> Self {
        Self::new(Wanted::Manifests)
    }

    /// One file.
    pub(super) fn of_file(path: &Path) -> Self {
        Self::new(Wanted::File(path.to_owned()))
    }

    const fn new(wanted: Wanted) -> Self {
        Self { wanted, files: Vec::new(), has_files: false }
    }

    /// Whether the archive had any file, wanted or not.
    pub(super) const fn has_files(&self) -> bool {
        self.has_files
    }

    /// None if there was no file that was wanted.
    pub(super) fn finish(mut self) -> Option<Vec<u8>> {
        if self.files.is_empty() {
            return None;
        }
        if let (Wanted::All, [_]) | (Wanted::File(_), _) = (&self.wanted, self.files.as_slice()) {
            return self.files.pop().map(|(_, content)| content);
        }
        let is_documents = matches!(self.wanted, Wanted::Manifests);
        if is_documents {
            self.files.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        let mut text = Vec::new();
        for (_, content) in self.files {
            if is_documents && !text.is_empty() {
                if !text.ends_with(b"\n") {
                    text.push(b'\n');
                }
                text.extend_from_slice(b"---\n");
            }
            text.extend_from_slice(&content);
        }
        Some(text)
    }
}

impl Sink for Text {
    fn wants(&self, path: &Path) -> bool {
        match &self.wanted {
            Wanted::All => true,
            Wanted::Manifests => is_manifest(path),
            Wanted::File(file) => path == file,
        }
    }

    fn directory(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        self.has_files = true;
        if self.wants(entry.path) {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes)?;
            self.files.push((entry.path.to_owned(), bytes));
        }
        Ok(())
    }
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// Files for a directory and, where it is asked for, the checksum of all of them in the order of the
/// archive.
///
/// What is small stays in memory until [`Directory::settle`]: creating ten thousand files, only to
/// find that the next entry is refused, would cost seconds.
#[derive(Debug)]
pub(super) struct Directory {
    root: PathBuf,
    hasher: Option<Hasher>,
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
    held: Vec<Held>,
    held_bytes: usize,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    mode: u32,
    content: Vec<u8>,
}

impl Directory {
    /// `root` is empty, and nobody else writes to it.
    pub(super) const fn new(root: PathBuf) -> Self {
        Self {
            root,
            hasher: None,
            files: Vec::new(),
            directories: Vec::new(),
            held: Vec::new(),
            held_bytes: 0,
        }
    }

    #[must_use]
    pub(super) fn with_checksum(self) -> Self {
        Self { hasher: Some(Hasher::new(Algorithm::Sha256)), ..self }
    }

    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(super) fn checksum(&self) -> Option<Digest> {
        self.hasher.clone().map(Hasher::finish)
    }

    /// Writes what is still in memory; names the path that could not be written.
    pub(super) fn settle(&mut self) -> Result<(), (PathBuf, io::Error)> {
        for path in mem::take(&mut self.directories) {
            fs::create_dir_all(self.root.join(&path)).map_err(|error| (path, error))?;
        }
        for Held { path, mode, content } in mem::take(&mut self.held) {
            self.create(&path, mode)
                .and_then(|mut file| file.write_all(&content))
                .map_err(|error| (path, error))?;
        }
        Ok(())
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<fs::File> {
        let path = self.root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        create(&path, mode)
    }

    fn hash(&mut self, bytes: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
    }
}

impl Sink for Directory {
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        self.directories.push(path.to_owned());
        Ok(())
    }

    fn file(&mut self, entry: &FileEntry<'_>, content: &mut dyn Read) -> io::Result<()> {
        let room = MAX_HELD - self.held_bytes;
        let mut first = Vec::new();
        content.take(room as u64 + 1).read_to_end(&mut first)?;
        self.hash(&first);
        self.files.push(entry.path.to_owned());
        if first.len() <= room {
            self.held_bytes += first.len();
            self.held.push(Held { path: entry.path.to_owned(), mode: entry.mode, content: first });
            return Ok(());
        }
        let mut file = self.create(entry.path, entry.mode)?;
        file.write_all(&first)?;
        drop(first);
        let mut buffer = vec![0; BUFFER];
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            self.hash(&buffer[..count]);
            file.write_all(&buffer[..count])?;
        }
    }
}

/// Creates a file that was not there, which its owner can read and write.
fn create(path: &Path, mode: u32) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(mode | 0o600);
    }
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}
