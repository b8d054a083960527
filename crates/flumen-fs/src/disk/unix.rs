//! Opening files by descriptor, so that what was checked is what is read.
//!
//! On Linux one `openat2` that follows no link does it all: if the clean path starts with a real
//! root and no part of it is a link, the opened file is where its path says. Only when a link is in
//! the way is the path resolved, checked, and the result opened in the same manner, so a link that
//! appears in between makes the open fail instead of leading outside.
//!
//! Elsewhere, and on kernels without `openat2`, the file is opened first and must then be the very
//! file (device and inode) that the resolved path names.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::MetadataExt},
    path::{Path, PathBuf},
};

use rustix::{
    buffer::spare_capacity,
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

use crate::{Bounds, FsError, MAX_FILE_SIZE};

/// `NONBLOCK` lets the open of a pipe without a writer return, so that it can be refused.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

pub(super) fn real_dir(path: &Path) -> Result<PathBuf, FsError> {
    if open_without_links(path, OFlags::DIRECTORY | OFlags::CLOEXEC | PATH_ONLY).is_ok() {
        return Ok(path.to_owned());
    }
    let real = fs::canonicalize(path).map_err(|error| FsError::from_io(path, error))?;
    let is_dir = fs::metadata(&real).map_err(|error| FsError::from_io(path, error))?.is_dir();
    if is_dir { Ok(real) } else { Err(FsError::NotDirectory { path: path.to_owned() }) }
}

pub(super) fn read(path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
    let opened = match bounds {
        Bounds::Anywhere => open(path),
        Bounds::Within(root) if path.starts_with(root) => open_without_links(path, READ),
        Bounds::Within(_) => Err(Errno::LOOP),
    };
    let file = match opened {
        Ok(file) => file,
        Err(Errno::LOOP | Errno::NOSYS) => open_through_links(path, bounds)?,
        Err(errno) => return Err(FsError::from_io(path, errno.into())),
    };
    read_regular(path, &file)
}

pub(super) fn is_executable(found: &fs::Metadata) -> bool {
    found.mode() & 0o111 != 0
}

pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

fn open_through_links(path: &Path, bounds: Bounds<'_>) -> Result<OwnedFd, FsError> {
    let io_error = |error: io::Error| FsError::from_io(path, error);

    let real = fs::canonicalize(path).map_err(io_error)?;
    if fs::metadata(&real).map_err(io_error)?.is_dir() {
        return Err(FsError::IsDirectory { path: path.to_owned() });
    }
    bounds.check(path, &real)?;
    match open_without_links(&real, READ) {
        Ok(file) => Ok(file),
        Err(Errno::NOSYS) => open_then_compare(path, bounds),
        Err(errno) => Err(io_error(errno.into())),
    }
}

/// Opens a file and makes sure that it is the one that lies where its resolved path says.
fn open_then_compare(path: &Path, bounds: Bounds<'_>) -> Result<OwnedFd, FsError> {
    let io_error = |error: io::Error| FsError::from_io(path, error);

    let file = fs::File::from(open(path).map_err(|errno| io_error(errno.into()))?);
    let opened = file.metadata().map_err(io_error)?;
    let resolved = fs::canonicalize(path).map_err(io_error)?;
    bounds.check(path, &resolved)?;
    let named = fs::symlink_metadata(&resolved).map_err(io_error)?;
    if (opened.dev(), opened.ino()) == (named.dev(), named.ino()) {
        Ok(file.into())
    } else {
        Err(FsError::Loop { path: path.to_owned() })
    }
}

/// Opens whatever the path leads to.
fn open(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, READ, Mode::empty())
}

fn read_regular(path: &Path, file: &OwnedFd) -> Result<Vec<u8>, FsError> {
    let too_large = || FsError::TooLarge { path: path.to_owned(), limit: MAX_FILE_SIZE };

    let stat = rustix::fs::fstat(file).map_err(|errno| FsError::from_io(path, errno.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(FsError::IsDirectory { path: path.to_owned() }),
        _ => return Err(FsError::NotRegular { path: path.to_owned() }),
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > MAX_FILE_SIZE {
        return Err(too_large());
    }
    let size = usize::try_from(size).map_err(|_| too_large())?;

    // One byte more than the size: a read that leaves it empty has met the end of the file, which
    // saves the second read that would only say so.
    let mut content = Vec::with_capacity(size + 1);
    loop {
        match rustix::io::read(file, spare_capacity(&mut content)) {
            Ok(0) => return Ok(content),
            Ok(_) if content.len() == size => return Ok(content),
            Ok(_) if content.len() as u64 > MAX_FILE_SIZE => return Err(too_large()),
            Ok(_) => content.reserve(32),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(FsError::from_io(path, errno.into())),
        }
    }
}

#[cfg(target_os = "linux")]
const PATH_ONLY: OFlags = OFlags::PATH;

/// Opens a path no part of which is a symbolic link; fails with `LOOP` where one is.
#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, ResolveFlags, openat2};

    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), resolve) {
        // Sandboxes that do not know the call forbid it instead of saying so.
        Err(Errno::PERM) => Err(Errno::NOSYS),
        result => result,
    }
}

#[cfg(not(target_os = "linux"))]
const PATH_ONLY: OFlags = OFlags::empty();

#[cfg(not(target_os = "linux"))]
fn open_without_links(_: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparing_finds_the_same_verdicts() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let top = fs::canonicalize(scratch.path()).expect("real scratch directory");
        let root = top.join("root");
        fs::create_dir(&root).expect("directory");
        fs::write(root.join("a"), "a").expect("file");
        fs::write(top.join("b"), "b").expect("file");
        std::os::unix::fs::symlink("a", root.join("in")).expect("link");
        std::os::unix::fs::symlink("../b", root.join("out")).expect("link");

        for name in ["a", "in"] {
            let path = root.join(name);
            let file = open_then_compare(&path, Bounds::Within(&root)).expect("inside");
            assert_eq!(read_regular(&path, &file).expect("readable"), b"a");
        }
        let escape = open_then_compare(&root.join("out"), Bounds::Within(&root));
        assert!(matches!(escape, Err(FsError::Outside { .. })), "{escape:?}");
    }
}
