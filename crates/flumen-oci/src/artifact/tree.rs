//! A directory, a file or a text as Flux packs it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{Ignore, Metadata, Packed, layer::LayerWriter, pack::flux};
use crate::{Digest, Error, Result};

/// As deep as the reader allows.
const MAX_DEPTH: usize = 100;
const MAX_ENTRIES: usize = 1_000_000;

/// What of a directory is packed, and how.
#[derive(Clone, Debug, Default)]
pub struct TreeOptions {
    pub ignore: Ignore,
    /// Packs what links lead to; otherwise links are left out.
    pub resolve_symlinks: bool,
    /// Keeps of permissions what Git keeps: whether a file can be executed. The rest depends on the
    /// machine that the tree was checked out on.
    pub normalize_modes: bool,
}

/// Packs a directory, or a single file, as it is.
pub fn pack_path(path: &Path, options: &TreeOptions, metadata: &Metadata) -> Result<Packed> {
    let found = fs::metadata(path).map_err(unusable(path))?;
    let mut walk = Walk { options, writer: LayerWriter::of_layer(), entries: 0, above: Vec::new() };
    if found.is_dir() {
        walk.directory(path, &found, &mut Vec::new())?;
    } else {
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        // Flux puts the file into a temporary directory, and packs that.
        let mode = if options.normalize_modes { DIRECTORY } else { PRIVATE_DIRECTORY };
        walk.writer.directory(Path::new("."), mode).map_err(Error::packing)?;
        walk.file(path, &found, &name)?;
    }
    flux(walk.writer.into_layer().map_err(Error::packing)?, metadata)
}

/// Packs a text that is no file, without the line ends behind it.
pub fn pack_text(text: &[u8], metadata: &Metadata) -> Result<Packed> {
    let mut writer = LayerWriter::of_layer();
    let name = text_file_name(text);
    writer.directory(Path::new("."), PRIVATE_DIRECTORY).map_err(Error::packing)?;
    writer.file(Path::new(&name), PRIVATE, without_line_ends(text)).map_err(Error::packing)?;
    flux(writer.into_layer().map_err(Error::packing)?, metadata)
}

/// The name of the file that a text becomes.
///
/// Flux puts it into a file with a random number for its name. Here the number comes from the text, so that the same
/// text is the same artifact.
pub fn text_file_name(text: &[u8]) -> String {
    let number: u64 = Digest::of(without_line_ends(text))
        .hex()
        .bytes()
        .take(16)
        .fold(0, |number, digit| number.wrapping_mul(16).wrapping_add(u64::from(digit & 0xf)));
    format!("{}.yaml", number % 10_000_000_000)
}

fn without_line_ends(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |last| last + 1);
    &text[..end]
}

/// Temporary files are their owner's alone.
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE: u32 = 0o600;

const EXECUTABLE: u32 = 0o755;
const PLAIN: u32 = 0o644;
const DIRECTORY: u32 = 0o755;

struct Walk<'o> {
    options: &'o TreeOptions,
    writer: LayerWriter,
    entries: usize,
    /// The real paths of the directories that are being walked, to notice circles of links.
    above: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Adds a directory and all below it; `names` lead to it from the root.
    fn directory(
        &mut self,
        path: &Path,
        found: &fs::Metadata,
        names: &mut Vec<String>,
    ) -> Result<()> {
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

    fn entry(&mut self, path: &Path, names: &mut Vec<String>) -> Result<()> {
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

    fn file(&mut self, path: &Path, found: &fs::Metadata, relative: &Path) -> Result<()> {
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

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { path, source }
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
