//! Files of the server: keys and certificates, readable by their owner alone.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a file of the server could not be read or written.
#[derive(Debug, Error)]
pub enum StateError {
    #[error("cannot read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Where keys are kept. Without a directory they live as long as the server.
#[derive(Clone, Debug, Default)]
pub struct StateDir(pub Option<PathBuf>);

impl StateDir {
    /// What a file holds, if it is there.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, StateError> {
        let Some(path) = self.0.as_ref().map(|dir| dir.join(name)) else { return Ok(None) };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StateError::Read { path, source }),
        }
    }

    /// Writes a file whole or not at all, for its owner alone.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), StateError> {
        let Some(dir) = &self.0 else { return Ok(()) };
        let path = dir.join(name);
        write(dir, &path, text).map_err(|source| StateError::Write { path, source })
    }
}

/// A temporary file has mode 0600 from the start.
fn write(dir: &Path, path: &Path, text: &str) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
