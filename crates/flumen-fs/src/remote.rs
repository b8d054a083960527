//! Repositories and files that are not on this machine.
//!
//! Engines reach no network. A caller that allows remote resources supplies [`RemoteTrees`].

use std::{borrow::Cow, fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::Tree;

/// Source of remote repositories and files. It fetches each of them once, also for several builds.
pub trait RemoteTrees: fmt::Debug + Send + Sync {
    /// Returns the files of a repository.
    fn repository(&self, request: &RepositoryRequest) -> Result<RemoteTree, RemoteError>;

    /// Returns the content of a file on a web server.
    fn file(&self, url: &str) -> Result<Vec<u8>, RemoteError>;
}

/// A repository to fetch.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RepositoryRequest {
    /// Argument of `git clone`. It may hold credentials.
    pub url: String,
    /// Branch, tag or commit; `None` for the default branch.
    pub reference: Option<String>,
    /// Timeout, if the request has one of its own.
    pub timeout: Option<Duration>,
}

/// A repository at one commit.
#[derive(Clone, Debug)]
pub struct RemoteTree {
    pub tree: Arc<dyn Tree>,
    /// Directory of the repository's files in the tree.
    pub root: PathBuf,
    pub commit: String,
}

/// Reason why something was not fetched.
#[derive(Debug)]
pub struct RemoteError {
    /// Message without credentials.
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Debug for RepositoryRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepositoryRequest")
            .field("url", &printable(&self.url))
            .field("reference", &self.reference)
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// Returns a path or URL for messages: without user, password and query, which may hold secrets.
pub fn printable(path: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = path.split_once("://") else { return Cow::Borrowed(path) };
    let shown = rest.split_once('?').map_or(rest, |(shown, _)| shown);
    let host_end = shown.find('/').unwrap_or(shown.len());
    let shown = match shown.get(..host_end).and_then(|host| host.rfind('@')) {
        Some(at) => shown.get(at + 1..).unwrap_or_default(),
        None => shown,
    };
    if shown.len() == rest.len() {
        Cow::Borrowed(path)
    } else {
        format!("{scheme}://{shown}").into()
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn secrets_in_urls_are_not_shown() {
        assert_eq!(printable("https://me:pw@host/a?token=x"), "https://host/a");
        assert_eq!(printable("https://host/a@b"), "https://host/a@b");
        assert_eq!(printable("git@host:a/b"), "git@host:a/b");
    }
}
