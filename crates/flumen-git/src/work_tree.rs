//! The work tree of a repository on this machine, which somebody edits.

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use crate::{Access, Checkout, Client, Error, GitReference, GitUrl, Limits, Selection};

const GIT: &str = ".git";

/// The work tree of a repository on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    root: PathBuf,
    git_directory: PathBuf,
}

impl WorkTree {
    /// The work tree that a directory is in, if it is in one. The path must be a real one.
    pub fn around(directory: &Path) -> Option<Self> {
        let root = directory.ancestors().find(|ancestor| ancestor.join(GIT).exists())?;
        let repository = gix::open_opts(root, gix::open::Options::isolated()).ok()?;
        Some(Self { root: root.to_owned(), git_directory: repository.git_dir().to_owned() })
    }

    /// The directory with the files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where this work tree notes what is checked out.
    pub fn git_directory(&self) -> &Path {
        &self.git_directory
    }

    /// The commit that is checked out, and its files as they were committed.
    pub fn head(&self) -> Result<Checkout, Error> {
        let url = GitUrl::Local(self.root.clone());
        let client = Client::new(Access::default(), Limits::default());
        client.open(&url, &GitReference::Default, &Selection::default(), &AtomicBool::new(false))
    }
}
