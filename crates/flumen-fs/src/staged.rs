//! Files that appear together: all of them whole, or none.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

use crate::FsError;

/// Files that have been written under other names, beside the ones they will have.
///
/// [`StagedFiles::commit`] renames them; without it they are removed.
#[derive(Debug, Default)]
pub struct StagedFiles {
    files: Vec<Staged>,
}

#[derive(Debug)]
enum Staged {
    Renamed {
        temporary: PathBuf,
        target: PathBuf,
    },
    /// A pipe or device cannot be replaced, only written to.
    Written {
        target: PathBuf,
        content: Vec<u8>,
    },
}

impl StagedFiles {
    pub fn new() -> Self {
        Self::default()
    }

    /// Prepares a file that will replace what is at `path`, or what a link there leads to.
    pub fn add(&mut self, path: &Path, content: &[u8]) -> Result<(), FsError> {
        let unwritable = |source: io::Error| FsError::Unwritable { path: path.to_owned(), source };

        let old = match fs::metadata(path) {
            Ok(old) if old.is_dir() => return Err(FsError::IsDirectory { path: path.to_owned() }),
            Ok(old) if !old.is_file() => {
                let target = path.to_owned();
                self.files.push(Staged::Written { target, content: content.to_owned() });
                return Ok(());
            }
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unwritable(error)),
        };
        let target = match old {
            Some(_) => fs::canonicalize(path).map_err(unwritable)?,
            None => path.to_owned(),
        };
        let (temporary, mut file) = create_beside(&target, self.files.len()).map_err(unwritable)?;
        self.files.push(Staged::Renamed { temporary, target });
        file.write_all(content).map_err(unwritable)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions()).map_err(unwritable)?;
        }
        Ok(())
    }

    /// Puts every file in its place.
    pub fn commit(mut self) -> Result<(), FsError> {
        // Reversed, so that what is left at a failure is what `drop` still has to remove.
        self.files.reverse();
        while let Some(file) = self.files.last() {
            let (path, result) = match file {
                Staged::Renamed { temporary, target } => (target, fs::rename(temporary, target)),
                Staged::Written { target, content } => (target, write_through(target, content)),
            };
            result.map_err(|source| FsError::Unwritable { path: path.clone(), source })?;
            self.files.pop();
        }
        Ok(())
    }
}

impl Drop for StagedFiles {
    fn drop(&mut self) {
        for file in &self.files {
            if let Staged::Renamed { temporary, .. } = file {
                // Whatever made the commit fail has been reported.
                let _ = fs::remove_file(temporary);
            }
        }
    }
}

fn write_through(target: &Path, content: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(target)?.write_all(content)
}

/// Creates a file with a new name in the directory of `target`, trying numbers from `first` on.
fn create_beside(target: &Path, first: usize) -> io::Result<(PathBuf, fs::File)> {
    for number in first.. {
        let temporary = target.with_file_name(format!(".flumen-{}-{number}", process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((temporary, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .expect("listing")
            .map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn files_appear_at_the_commit() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let mut files = StagedFiles::new();
        files.add(&dir.path().join("a"), b"1").expect("staged");
        files.add(&dir.path().join("b"), b"2").expect("staged");
        assert!(names(dir.path()).iter().all(|name| name.starts_with('.')));
        files.commit().expect("committed");
        assert_eq!(names(dir.path()), ["a", "b"]);
        assert_eq!(fs::read(dir.path().join("b")).expect("file"), b"2");
    }

    #[test]
    fn nothing_stays_behind_without_a_commit() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let mut files = StagedFiles::new();
        files.add(&dir.path().join("a"), b"1").expect("staged");
        drop(files);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_failing_commit_removes_what_is_left() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let mut files = StagedFiles::new();
        for name in ["a", "b", "c"] {
            files.add(&dir.path().join(name), b"1").expect("staged");
        }
        fs::create_dir(dir.path().join("b")).expect("a directory in the way");
        let error = files.commit().expect_err("b cannot be replaced");
        assert_eq!(error.path(), dir.path().join("b"));
        assert_eq!(names(dir.path()), ["a", "b"]);
    }

    #[test]
    fn links_and_permissions_survive() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "old").expect("file");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("permissions");
        symlink("real", &link).expect("link");
        let mut files = StagedFiles::new();
        files.add(&link, b"new").expect("staged");
        files.commit().expect("committed");
        assert!(fs::symlink_metadata(&link).expect("link").is_symlink());
        assert_eq!(fs::read(&real).expect("file"), b"new");
        assert_eq!(fs::metadata(&real).expect("file").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn devices_are_written_to() {
        let mut files = StagedFiles::new();
        files.add(Path::new("/dev/null"), b"1").expect("staged");
        files.commit().expect("committed");
        assert!(!fs::metadata("/dev/null").expect("device").is_file());
    }

    #[test]
    fn directories_are_no_files() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let error = StagedFiles::new().add(dir.path(), b"1").expect_err("a directory");
        assert!(matches!(error, FsError::IsDirectory { .. }), "{error:?}");
    }
}
