//! What builds and deploys leave behind on this machine.
//!
//! ```text
//! data directory    store/                an OCI layout: artifacts that no registry was named for
//! state directory   builds/NAME-….json    the last build of each component
//!                   cache/KEY.json        what was built from what
//!                   plans/NAME.json       plans that wait for a decision
//!                   drift/                what drift checks have found
//!                   locks/                one file for each component that is or was deployed
//!                   workspaces/           scratch directories of running builds
//! ```
//!
//! All of it is for its owner alone. Nothing in the state directory is precious: a file that cannot be
//! read counts as absent.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flumen_oci::{Digest, Repository, layout::Layout};
use serde::{Serialize, de::DeserializeOwned};
use tempfile::NamedTempFile;

use crate::{Artifact, Error, Result};

/// Where a user's builds are kept.
#[derive(Clone, Debug)]
pub struct State {
    data: PathBuf,
    state: PathBuf,
}

impl State {
    /// `data` holds artifacts, `state` what is known about builds. Both are made when needed.
    pub fn new(data: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self { data: data.into(), state: state.into() }
    }

    /// The local store; made if it is missing.
    pub fn store(&self) -> Result<Repository> {
        Ok(Repository::Layout(self.layout()?))
    }

    pub(crate) fn layout(&self) -> Result<Layout> {
        make_private(&self.data)?;
        Ok(Layout::create_private(self.data.join("store"))?)
    }

    pub(crate) fn workspaces(&self) -> Result<PathBuf> {
        self.directory("workspaces")
    }

    pub(crate) fn cache(&self) -> Result<PathBuf> {
        self.directory("cache")
    }

    pub(crate) fn plans(&self) -> Result<PathBuf> {
        self.directory("plans")
    }

    pub(crate) fn locks(&self) -> Result<PathBuf> {
        self.directory("locks")
    }

    pub(crate) fn drift(&self) -> Result<PathBuf> {
        self.directory("drift")
    }

    /// The last build of a component of a directory.
    pub fn last_build(&self, components: &Path, name: &str) -> Result<Option<Artifact>> {
        Ok(read_json(&self.record(components, name)?))
    }

    pub(crate) fn set_last_build(&self, components: &Path, build: &Artifact) -> Result<()> {
        write_json(&self.record(components, &build.component)?, build)
    }

    /// The last builds of all components.
    pub(crate) fn last_builds(&self) -> Result<Vec<Artifact>> {
        Ok(files(&self.directory("builds")?)?.iter().filter_map(|path| read_json(path)).collect())
    }

    /// Names are unique within a directory of components, not among all directories of a user.
    fn record(&self, components: &Path, name: &str) -> Result<PathBuf> {
        let real = fs::canonicalize(components).map_err(|source| unusable(components, source))?;
        let place = Digest::of(real.as_os_str().as_encoded_bytes());
        Ok(self.directory("builds")?.join(format!("{name}-{}.json", place.short())))
    }

    fn directory(&self, name: &str) -> Result<PathBuf> {
        make_private(&self.state)?;
        let path = self.state.join(name);
        make_private(&path)?;
        Ok(path)
    }
}

/// The files of a directory, sorted.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(|source| unusable(dir, source))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort_unstable();
    Ok(paths)
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a file for its owner alone, which appears whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let write = || {
        let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|source| unusable(path, source))
}

/// Makes a directory and those above it. What is new is for its owner alone.
fn make_private(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| unusable(path, source))
}

pub(crate) fn unusable(path: &Path, source: io::Error) -> Error {
    Error::State { path: path.to_owned(), source }
}
