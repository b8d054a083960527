//! Recognising what is not on this machine, and fetching it where the caller allows that.

use std::fmt::Write as _;

use flumen_fs::{RemoteError, RemoteTree, printable};
use sha2::{Digest as _, Sha256};

use super::{File, Shared, repository::Repository};
use crate::{
    content::Content,
    error::{Error, Result},
};

/// Something remote that a build used, and its state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RemoteSource {
    /// URL without credentials.
    pub url: String,
    /// Branch, tag or commit that was asked for; `None` for files and default branches.
    pub reference: Option<String>,
    /// Commit of a repository, `sha256:…` of a file.
    pub revision: String,
}

/// Whether `path` names a file on a web server. Local files of that name are not considered.
pub(super) fn is_url(path: &str) -> bool {
    strip_prefix_folded(path, "http:").or_else(|| strip_prefix_folded(path, "https:")).is_some()
}

/// Why there is no file behind a URL.
#[derive(Debug)]
pub(super) enum NoFile {
    /// There may be a repository.
    MaybeRepository(Repository, Error),
    Failed(Error),
}

impl Shared {
    /// Fetches a file.
    pub(super) fn fetch_file(&self, url: &str) -> std::result::Result<File, NoFile> {
        let remotes = self.remotes.as_ref().ok_or_else(|| NoFile::Failed(refuse(url)))?;
        match remotes.file(url) {
            Ok(bytes) => {
                let url = printable(url).into_owned();
                let mut revision = "sha256:".to_owned();
                for byte in Sha256::digest(&bytes) {
                    let _ = write!(revision, "{byte:02x}");
                }
                self.record(RemoteSource { url: url.clone(), reference: None, revision });
                let path: std::path::PathBuf = url.into();
                Ok(File { path: path.into(), content: Content::from(&bytes[..]) })
            }
            Err(error) => {
                let error = explain(url, error);
                Err(match Repository::parse(url) {
                    Some(repository) => NoFile::MaybeRepository(repository, error),
                    None => NoFile::Failed(error),
                })
            }
        }
    }

    /// Fetches a repository that is named as `text`.
    pub(super) fn fetch_repository(
        &self,
        text: &str,
        repository: &Repository,
    ) -> Result<RemoteTree> {
        let remotes = self.remotes.as_ref().ok_or_else(|| refuse(text))?;
        let request = &repository.request;
        let fetched = remotes.repository(request).map_err(|error| explain(text, error))?;
        self.record(RemoteSource {
            url: printable(&request.url).into_owned(),
            reference: request.reference.clone(),
            revision: fetched.commit.clone(),
        });
        Ok(fetched)
    }
}

pub(super) fn refuse(path: &str) -> Error {
    let shown = printable(path);
    let error = Error::new(format!("'{shown}' is remote; a build contacts no network")).hint(
        "`flumen build --remote` or FLUMEN_REMOTE=1 allow it; or keep a copy beside the \
         kustomization and name it by a relative path",
    );
    private_if_changed(error, path, &shown)
}

fn explain(path: &str, error: RemoteError) -> Error {
    let RemoteError { message, hint } = error;
    let error = Error::new(message);
    let error = match hint {
        Some(hint) => error.hint(hint),
        None => error,
    };
    private_if_changed(error, path, &printable(path))
}

/// A line with something that is not to be shown is not quoted either.
fn private_if_changed(error: Error, path: &str, shown: &str) -> Error {
    if shown == path { error } else { error.keep_private() }
}

pub(super) fn strip_prefix_folded<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: bool) {
        assert_eq!(is_url(path) || Repository::parse(path).is_some(), expected, "{path:?}");
    }

    #[test]
    fn urls_are_remote() {
        check("https://example.com/x.yaml", true);
        check("HTTP://example.com", true);
        check("https://github.com/org/repo//deploy?ref=v1", true);
        check("ssh://git@host/org/repo", true);
        check("file:///srv/repo.git", true);
        check("git::https://host/org/repo", true);
        check("git::file:///x", true);
    }

    #[test]
    fn shorthands_are_remote() {
        check("github.com/org/repo", true);
        check("GitHub.com:org/repo/path", true);
        check("git@github.com:org/repo.git", true);
        check("git@host:org/repo", true);
        check("user@host/org/repo", true);
        check("org-1@host:a//b", true);
    }

    #[test]
    fn paths_are_local() {
        check("", false);
        check("/github.com/org/repo", false);
        check("github.com", false);
        check("github.com/org", false);
        check("./github.com/org/repo", false);
        check("gitlab.com/org/repo", false);
        check("base", false);
        check("a@b", false);
        check("1user@host:a/b", false);
        check("ssh://host/org", false);
        check("file://", false);
        check("ext::sh -c x", false);
        check("github.com/org/repo/../../..", false);
        check("git@host:a//..", false);
    }
}
