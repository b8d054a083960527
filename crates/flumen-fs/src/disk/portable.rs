//! Systems without descriptors as Unix has them: resolve first, then open the resolved path.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use crate::{Bounds, FsError, MAX_FILE_SIZE};

pub(super) fn real_dir(path: &Path) -> Result<PathBuf, FsError> {
    let real = fs::canonicalize(path).map_err(|error| FsError::from_io(path, error))?;
    if real.is_dir() { Ok(real) } else { Err(FsError::NotDirectory { path: path.to_owned() }) }
}

pub(super) fn read(path: &Path, bounds: Bounds<'_>) -> Result<Vec<u8>, FsError> {
    let io_error = |error| FsError::from_io(path, error);

    let real = fs::canonicalize(path).map_err(io_error)?;
    let metadata = fs::metadata(&real).map_err(io_error)?;
    if metadata.is_dir() {
        return Err(FsError::IsDirectory { path: path.to_owned() });
    }
    bounds.check(path, &real)?;
    if !metadata.is_file() {
        return Err(FsError::NotRegular { path: path.to_owned() });
    }
    let file = fs::File::open(&real).map_err(io_error)?;
    let mut content = Vec::new();
    file.take(MAX_FILE_SIZE + 1).read_to_end(&mut content).map_err(io_error)?;
    if content.len() as u64 > MAX_FILE_SIZE {
        return Err(FsError::TooLarge { path: path.to_owned(), limit: MAX_FILE_SIZE });
    }
    Ok(content)
}

/// Here no file says that it can be executed.
pub(super) fn is_executable(_: &fs::Metadata) -> bool {
    false
}

pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
