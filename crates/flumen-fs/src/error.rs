//! Why a file or directory could not be read or written.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

/// What went wrong, and with which path (as it was asked for, cleaned).
#[derive(Debug, Error)]
pub enum FsError {
    #[error("`{}` does not exist", path.display())]
    NotFound { path: PathBuf },

    #[error("`{}` is a directory", path.display())]
    IsDirectory { path: PathBuf },

    /// The path, or something it leads through, is not a directory.
    #[error("`{}` is not a directory", path.display())]
    NotDirectory { path: PathBuf },

    /// The file exists, but not where the caller allows it.
    #[error("`{}` is not in or below `{}`", real.display(), root.display())]
    Outside { path: PathBuf, real: PathBuf, root: PathBuf },

    /// A pipe, socket or device, which could block or never end.
    #[error("`{}` is not a regular file", path.display())]
    NotRegular { path: PathBuf },

    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },

    #[error("`{}` leads through too many symbolic links", path.display())]
    Loop { path: PathBuf },

    #[error("no permission to read `{}`", path.display())]
    Denied { path: PathBuf },

    #[error("cannot read `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },

    #[error("cannot write `{}`", path.display())]
    Unwritable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl FsError {
    /// Sorts an error of the operating system into its variant.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind;

        let path = path.to_owned();
        match source.kind() {
            ErrorKind::NotFound => Self::NotFound { path },
            ErrorKind::IsADirectory => Self::IsDirectory { path },
            ErrorKind::NotADirectory => Self::NotDirectory { path },
            ErrorKind::PermissionDenied => Self::Denied { path },
            _ if is_link_loop(&source) => Self::Loop { path },
            // What opening a socket, or a device without a driver, says.
            _ if is_unopenable(&source) => Self::NotRegular { path },
            _ => Self::Io { path, source },
        }
    }

    /// The same error with other names for its paths, for a tree that shows them elsewhere.
    #[must_use]
    pub fn map_paths(self, map: impl Fn(&Path) -> PathBuf) -> Self {
        let path = map(self.path());
        match self {
            Self::NotFound { .. } => Self::NotFound { path },
            Self::IsDirectory { .. } => Self::IsDirectory { path },
            Self::NotDirectory { .. } => Self::NotDirectory { path },
            Self::Outside { real, root, .. } => {
                Self::Outside { path, real: map(&real), root: map(&root) }
            }
            Self::NotRegular { .. } => Self::NotRegular { path },
            Self::TooLarge { limit, .. } => Self::TooLarge { path, limit },
            Self::Loop { .. } => Self::Loop { path },
            Self::Denied { .. } => Self::Denied { path },
            Self::Io { source, .. } => Self::Io { path, source },
            Self::Unwritable { source, .. } => Self::Unwritable { path, source },
        }
    }

    /// The path that was asked for.
    pub fn path(&self) -> &Path {
        match self {
            Self::NotFound { path }
            | Self::IsDirectory { path }
            | Self::NotDirectory { path }
            | Self::Outside { path, .. }
            | Self::NotRegular { path }
            | Self::TooLarge { path, .. }
            | Self::Loop { path }
            | Self::Denied { path }
            | Self::Io { path, .. }
            | Self::Unwritable { path, .. } => path,
        }
    }
}

#[cfg(unix)]
fn is_link_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(unix)]
fn is_unopenable(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

#[cfg(not(unix))]
fn is_link_loop(_: &io::Error) -> bool {
    false
}

#[cfg(not(unix))]
fn is_unopenable(_: &io::Error) -> bool {
    false
}
