//! Recognising what is not on this machine.
//!
//! kustomize fetches files by URL and clones repositories. Here both are refused; but what counts
//! as remote is its decision to the letter, so that no path changes its meaning.

use std::borrow::Cow;

use flumen_fs::clean;

use crate::error::Error;

/// Whether `path` names a file on a web server. Local files of that name are not considered.
pub(super) fn is_url(path: &str) -> bool {
    strip_prefix_folded(path, "http:").or_else(|| strip_prefix_folded(path, "https:")).is_some()
}

/// Whether `path` names a git repository. Local directories of that name are not considered.
pub(super) fn is_repository(path: &str) -> bool {
    if path.starts_with('/') {
        return false;
    }
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let path = strip_prefix_folded(path, "git::").unwrap_or(path);
    let scheme = ["ssh://", "https://", "http://", "file://"]
        .into_iter()
        .find_map(|scheme| Some((scheme, strip_prefix_folded(path, scheme)?)));
    match scheme {
        // Everything behind it is a path on this machine.
        Some(("file://", rest)) => splits_into_repository(rest, 1),
        Some((_, rest)) => {
            let host_and_path = strip_user(rest).unwrap_or(rest);
            is_repository_at_host(host_and_path, false)
        }
        None => {
            let user = strip_user(path);
            let host_and_path = user.unwrap_or(path);
            (user.is_some() || is_github(host_and_path))
                && is_repository_at_host(host_and_path, true)
        }
    }
}

/// Splits `host/path` or, as ssh writes it, `host:path`.
fn is_repository_at_host(host_and_path: &str, is_ssh_style: bool) -> bool {
    let mut separator = host_and_path.find('/');
    if is_ssh_style {
        let colon = host_and_path.find(':');
        if separator.is_none_or(|slash| colon.is_some_and(|colon| 0 < colon && colon < slash)) {
            separator = colon;
        }
    }
    let path = separator.and_then(|at| host_and_path.get(at + 1..)).unwrap_or_default();
    !host_and_path.is_empty() && splits_into_repository(path, 2)
}

/// Whether a path has a repository in it, and does not leave it again.
fn splits_into_repository(path: &str, segments: usize) -> bool {
    let parts = if let Some((_, after)) = path.split_once("_git/") {
        let rest = after.split_once('/').map_or("", |(_, rest)| rest);
        Some((true, rest))
    } else if let Some((repository, rest)) = path.split_once("//") {
        Some((!repository.is_empty(), rest))
    } else if let Some((_, rest)) = path.split_once(".git") {
        Some((true, rest))
    } else if segments == 1 {
        Some((!path.is_empty(), ""))
    } else {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        let first = slashes.next();
        let rest = slashes.next().and_then(|at| path.get(at + 1..)).unwrap_or_default();
        first.map(|_| (true, rest))
    };
    match parts {
        Some((has_repository, rest)) => {
            let rest = rest.strip_prefix('/').unwrap_or(rest);
            has_repository && !clean(rest.as_ref()).starts_with("..")
        }
        None => false,
    }
}

/// What follows `user@`.
fn strip_user(text: &str) -> Option<&str> {
    let (user, rest) = text.split_once('@')?;
    let is_name = user.starts_with(|first: char| first.is_ascii_alphabetic())
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then_some(rest)
}

fn is_github(host_and_path: &str) -> bool {
    ["github.com/", "github.com:"]
        .iter()
        .any(|host| strip_prefix_folded(host_and_path, host).is_some())
}

fn strip_prefix_folded<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    if start.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

pub(super) fn refuse(path: &str) -> Error {
    let shown = printable(path);
    let error = Error::new(format!("'{shown}' is remote; a build contacts no network")).hint(
        "remote files and repositories are not supported yet: keep a copy beside the kustomization \
         and name it by a relative path",
    );
    if shown == path { error } else { error.keep_private() }
}

/// A path for messages: without user, password and query, which may hold secrets.
fn printable(path: &str) -> Cow<'_, str> {
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
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: bool) {
        assert_eq!(is_url(path) || is_repository(path), expected, "{path:?}");
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

    #[test]
    fn secrets_in_urls_are_not_shown() {
        assert_eq!(printable("https://me:pw@host/a?token=x"), "https://host/a");
        assert_eq!(printable("https://host/a@b"), "https://host/a@b");
        assert_eq!(printable("git@host:a/b"), "git@host:a/b");
    }
}
