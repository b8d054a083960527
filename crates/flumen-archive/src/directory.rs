//! Writes the files of an archive into a directory.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Write as _},
    mem,
    path::{Path, PathBuf},
};

use crate::{FileEntry, Sink, UnpackError};

/// Bytes of small files that wait in memory.
const MAX_HELD: usize = 8 << 20;

/// Files for a directory.
///
/// Small files stay in memory until [`Directory::settle`]: creating ten thousand files, only to
/// find that the next entry is refused, would cost seconds.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
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
    /// `root` is empty, and nothing else writes to it.
    pub const fn new(root: PathBuf) -> Self {
        Self { root, files: Vec::new(), directories: Vec::new(), held: Vec::new(), held_bytes: 0 }
    }

    /// Paths of the files below the root, in the order of the archive.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Writes what is still in memory. `archive` names the archive in messages.
    pub fn settle(&mut self, archive: &str) -> Result<(), UnpackError> {
        for path in mem::take(&mut self.directories) {
            fs::create_dir_all(self.root.join(&path))
                .map_err(|error| UnpackError::of_sink(archive, &path, error))?;
        }
        for Held { path, mode, content } in mem::take(&mut self.held) {
            self.create(&path, mode)
                .and_then(|mut file| file.write_all(&content))
                .map_err(|error| UnpackError::of_sink(archive, &path, error))?;
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
        self.files.push(entry.path.to_owned());
        if first.len() <= room {
            self.held_bytes += first.len();
            self.held.push(Held { path: entry.path.to_owned(), mode: entry.mode, content: first });
            return Ok(());
        }
        let mut file = self.create(entry.path, entry.mode)?;
        file.write_all(&first)?;
        drop(first);
        io::copy(content, &mut file).map(drop)
    }
}

/// Creates a new file that its owner can read and write.
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
