//! What is not on this machine: asked for here, fetched by whoever calls.
//!
//! The engine decides what is remote and what it means; it reaches no network. Callers that allow it
//! supply [`RemoteTrees`] in [`Options`](crate::Options); without it everything remote is refused.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use flumen_fs::Tree;

/// Fetches repositories and files. One that serves several builds fetches each of them once.
pub trait RemoteTrees: fmt::Debug + Send + Sync {
    /// The files of a repository.
    fn repository(&self, request: &RepositoryRequest) -> Result<RemoteTree, RemoteError>;

    /// The content of a file on a web server.
    fn file(&self, url: &str) -> Result<Vec<u8>, RemoteError>;
}

/// A repository that a kustomization refers to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RepositoryRequest {
    /// What `git clone` would be given. It may hold credentials.
    pub url: String,
    /// A branch, tag or commit; none is whatever the repository has as its default.
    pub reference: Option<String>,
    /// How long fetching may take, where the kustomization says so.
    pub timeout: Option<Duration>,
}

/// A repository at one commit.
#[derive(Clone, Debug)]
pub struct RemoteTree {
    pub tree: Arc<dyn Tree>,
    /// Where the repository's files are in the tree.
    pub root: PathBuf,
    pub commit: String,
}

/// Why something could not be fetched.
#[derive(Debug)]
pub struct RemoteError {
    /// What is wrong, without credentials.
    pub message: String,
    pub hint: Option<String>,
}

/// Something remote that a build used, and in which state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteSource {
    /// Without credentials.
    pub url: String,
    /// The branch, tag or commit that was asked for; none for files and default branches.
    pub reference: Option<String>,
    /// The commit of a repository, `sha256:…` of a file.
    pub revision: String,
}

impl fmt::Debug for RepositoryRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepositoryRequest")
            .field("url", &crate::loader::printable(&self.url))
            .field("reference", &self.reference)
            .field("timeout", &self.timeout)
            .finish()
    }
}
