//! Packs a directory or a file from the disk, as Flux does it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{ArchiveWriter, Ignore, PackError, limits::MAX_DEPTH};

const MAX_ENTRIES: usize = 1_000_000;

/// Selection and permissions of the files that are packed.
#[derive(Clone, Debug, Default)]
pub struct PathOptions {
    pub ignore: Ignore,
    /// Packs what links lead to; otherwise links are left out.
    pub resolve_symlinks: bool,
    /// Keeps of permissions what Git keeps: whether a file can be executed. The rest depends on the
    /// machine that the tree was checked out on.
    pub normalize_modes: bool,
}

/// Adds a directory with its content, or a single file, to an archive.
pub fn pack_path<W: io::Write>(
    path: &Path,
    options: &PathOptions,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), PackError> {
    let found = fs::metadata(path).map_err(unusable(path))?;
    let mut walk = Walk { options, writer, entries: 0, above: Vec::new() };
    if found.is_dir() {
        return walk.directory(path, &found, &mut Vec::new());
    }
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    // Flux puts the file into a temporary directory, and packs that.
    let mode = if options.normalize_modes { DIRECTORY } else { PRIVATE_DIRECTORY };
    walk.writer.directory(Path::new("."), mode)?;
    walk.file(path, &found, &name)
}

/// Temporary directories are their owner's alone.
const PRIVATE_DIRECTORY: u32 = 0o700;

const EXECUTABLE: u32 = 0o755;
const PLAIN: u32 = 0o644;
const DIRECTORY: u32 = 0o755;

struct Walk<'a, W: io::Write> {
    options: &'a PathOptions,
    writer: &'a mut ArchiveWriter<W>,
    entries: usize,
    /// Real paths of the directories around the current one, to notice circles of links.
    above: Vec<PathBuf>,
}

impl<W: io::Write> Walk<'_, W> {
    /// Adds a directory and all below it; `names` lead to it from the root.
    fn directory(
        &mut self,
        path: &Path,
        found: &fs::Metadata,
        names: &mut Vec<String>,
    ) -> Result<(), PackError> {
        let real = fs::canonicalize(path).map_err(unusable(path))?;
        if names.len() > MAX_DEPTH || self.above.contains(&real) {
            return Err(unusable(path)(io::Error::other("it lies too deep, or in itself")));
        }
        self.above.push(real);
        let relative = if names.is_empty() { PathBuf::from(".") } else { names.iter().collect() };
        let mode = if self.options.normalize_modes { DIRECTORY } else { mode_of(found) };
        self.writer.directory(&relative, mode).map_err(unusable(path))?;

        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(unusable(path))? {
            let name = entry.map_err(unusable(path))?.file_name();
            let name = name
                .into_string()
                .map_err(|_| unusable(path)(io::Error::other("a name in it is not UTF-8")))?;
            entries.push(name);
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(unusable(path)(io::Error::other("there are too many files")));
            }
        }
        // The order of a directory is that of its file system.
        entries.sort_unstable();
        for name in entries {
            let path = path.join(&name);
            names.push(name);
            self.entry(&path, names)?;
            names.pop();
        }
        self.above.pop();
        Ok(())
    }

    fn entry(&mut self, path: &Path, names: &mut Vec<String>) -> Result<(), PackError> {
        let mut found = fs::symlink_metadata(path).map_err(unusable(path))?;
        if found.is_symlink() {
            if !self.options.resolve_symlinks {
                return Ok(());
            }
            found = fs::metadata(path).map_err(unusable(path))?;
        }
        let parts: Vec<&str> = names.iter().map(String::as_str).collect();
        if self.options.ignore.ignores(&parts, found.is_dir()) {
            return Ok(());
        }
        if found.is_dir() {
            self.directory(path, &found, names)
        } else if found.is_file() {
            let relative: PathBuf = names.iter().collect();
            self.file(path, &found, &relative)
        } else {
            // Pipes, sockets and devices have no content of their own.
            Ok(())
        }
    }

    fn file(
        &mut self,
        path: &Path,
        found: &fs::Metadata,
        relative: &Path,
    ) -> Result<(), PackError> {
        if !found.is_file() {
            return Err(unusable(path)(io::Error::other("it is not a regular file")));
        }
        let content = fs::read(path).map_err(unusable(path))?;
        let mode = match mode_of(found) {
            mode if !self.options.normalize_modes => mode,
            mode if mode & 0o100 != 0 => EXECUTABLE,
            _ => PLAIN,
        };
        self.writer.file(relative, mode, &content).map_err(unusable(path))
    }
}

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> PackError {
    let path = path.to_owned();
    move |source| PackError::Io { path, source }
}

#[cfg(unix)]
fn mode_of(found: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o777
}

#[cfg(not(unix))]
fn mode_of(found: &fs::Metadata) -> u32 {
    if found.is_dir() { DIRECTORY } else { PLAIN }
}
