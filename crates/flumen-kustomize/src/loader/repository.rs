//! Taking apart what may be the address of a repository.
//!
//! Which text is one, where its path ends and a directory inside begins: all of that is kustomize's
//! decision to the letter, so that no path changes its meaning.

use std::time::Duration;

use flumen_expr::GoDuration;
use flumen_fs::{RepositoryRequest, clean};

use super::remote::strip_prefix_folded;

/// A repository, and a directory inside.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    pub(crate) request: RepositoryRequest,
    /// The directory of the kustomization, relative to the top of the repository.
    pub(crate) directory: String,
}

impl Repository {
    /// None if `text` names something local, or a file on a server that is no repository.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return None;
        }
        let (address, query) = text.split_once('?').unwrap_or((text, ""));
        let (host, path) = split_host(address)?;
        let (repository, directory) = split_path(path, host.starts_with("file://"))?;
        let Query { reference, timeout } = Query::parse(query).unwrap_or_default();
        let url = format!("{host}{repository}");
        let request = RepositoryRequest { url, reference, timeout };
        Some(Self { request, directory: directory.to_owned() })
    }

    /// Whether it is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.request.url.starts_with("file://")
    }

    /// The directory as origin annotations show it. kustomize takes it from the path of a clone that
    /// has not been made yet, and where the directory is the top, the name of that place remains.
    pub(crate) fn origin_path(&self) -> String {
        let directory = clean(self.directory.as_ref());
        match directory.to_str() {
            None | Some("" | ".") => "notCloned".to_owned(),
            Some(directory) => directory.to_owned(),
        }
    }
}

/// Splits an address into everything up to the path on the host, and that path.
fn split_host(address: &str) -> Option<(String, &str)> {
    let address = strip_prefix_folded(address, "git::").unwrap_or(address);
    let (scheme, rest) = ["ssh://", "https://", "http://", "file://"]
        .into_iter()
        .find_map(|scheme| Some((scheme, strip_prefix_folded(address, scheme)?)))
        .unwrap_or(("", address));
    // Everything behind it is a path on this machine.
    if scheme == "file://" {
        return Some((scheme.to_owned(), rest));
    }
    let (user, rest) = split_user(rest);
    let is_github =
        ["github.com/", "github.com:"].iter().any(|host| strip_prefix_folded(rest, host).is_some());
    let is_ssh_style = scheme.is_empty() && (!user.is_empty() || is_github);
    if scheme.is_empty() && !is_ssh_style {
        return None;
    }

    let mut separator = rest.find('/');
    if is_ssh_style {
        let colon = rest.find(':');
        if separator.is_none_or(|slash| colon.is_some_and(|colon| 0 < colon && colon < slash)) {
            separator = colon;
        }
    }
    let (host, path) = rest.split_at(separator.map_or(rest.len(), |at| at + 1));
    if is_github {
        let host = if scheme == "ssh://" || !user.is_empty() {
            format!("{user}github.com:")
        } else {
            "https://github.com/".to_owned()
        };
        return Some((host, path));
    }
    (!host.is_empty()).then(|| (format!("{scheme}{user}{host}"), path))
}

/// `user@` and what follows it.
fn split_user(text: &str) -> (&str, &str) {
    let Some(at) = text.find('@') else { return ("", text) };
    let user = text.get(..at).unwrap_or_default();
    let is_name = user.starts_with(|first: char| first.is_ascii_alphabetic())
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_name { text.split_at(at + 1) } else { ("", text) }
}

/// Splits a path on a host into the repository and a directory inside that does not leave it.
fn split_path(path: &str, is_file: bool) -> Option<(&str, &str)> {
    const PROJECTS: &str = "_git/";
    const SUFFIX: &str = ".git";

    let (repository, directory) = if let Some(at) = path.find(PROJECTS) {
        let name = path.get(at + PROJECTS.len()..).unwrap_or_default();
        let end = at + PROJECTS.len() + name.find('/').unwrap_or(name.len());
        (path.get(..end)?, path.get(end + 1..).unwrap_or_default())
    } else if let Some(parts) = path.split_once("//") {
        parts
    } else if let Some(at) = path.find(SUFFIX) {
        path.split_at(at + SUFFIX.len())
    } else if is_file {
        (path, "")
    } else {
        // An organisation and a name, as the best known hosts have it.
        let first = path.find('/')?;
        match path.get(first + 1..).and_then(|rest| rest.find('/')) {
            Some(second) => {
                let end = first + 1 + second;
                (path.get(..end)?, path.get(end + 1..).unwrap_or_default())
            }
            None => (path, ""),
        }
    };
    let directory = directory.strip_prefix('/').unwrap_or(directory);
    (!repository.is_empty() && !clean(directory.as_ref()).starts_with(".."))
        .then_some((repository, directory))
}

/// What may follow `?`.
#[derive(Debug, Default)]
struct Query {
    reference: Option<String>,
    timeout: Option<Duration>,
}

impl Query {
    /// None if Go would not read it; then kustomize takes no notice of any of it.
    fn parse(query: &str) -> Option<Self> {
        let mut pairs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            if pair.contains(';') {
                return None;
            }
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((unescape(key)?, unescape(value)?));
        }
        // The first one of a name counts, and an empty one is none.
        let value = |name: &str| {
            let (_, value) = pairs.iter().find(|(key, _)| key == name)?;
            (!value.is_empty()).then(|| value.clone())
        };
        let reference = value("ref").or_else(|| value("version"));
        let timeout = value("timeout").and_then(|text| match text.parse::<u32>() {
            Ok(seconds) => Some(Duration::from_secs(seconds.into())),
            Err(_) => text.parse().ok().map(|GoDuration(timeout)| timeout),
        });
        Some(Self { reference, timeout: timeout.filter(|timeout| !timeout.is_zero()) })
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? << 4 | digit()?).ok()?
            }
            byte => byte,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is the address, the directory and the reference.
    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str, &str)>) {
        let repository = Repository::parse(text);
        let got = repository.as_ref().map(|it| {
            let reference = it.request.reference.as_deref().unwrap_or_default();
            (it.request.url.as_str(), it.directory.as_str(), reference)
        });
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn hosts_are_normalised_for_one_host_only() {
        check("github.com/o/r", Some(("https://github.com/o/r", "", "")));
        check("HTTP://GitHub.com/o/r/d", Some(("https://github.com/o/r", "d", "")));
        check("git@github.com:o/r.git/d", Some(("git@github.com:o/r.git", "d", "")));
        check("ssh://git@github.com/o/r", Some(("git@github.com:o/r", "", "")));
        check("github.com:o/r", Some(("https://github.com/o/r", "", "")));
        check("https://user@host/o/r", Some(("https://user@host/o/r", "", "")));
        check("https://u:p@host/o/r/d", Some(("https://u:p@host/o/r", "d", "")));
        check("git::https://host/o/r", Some(("https://host/o/r", "", "")));
        check("GIT::file:///srv/r", Some(("file:///srv/r", "", "")));
    }

    #[test]
    fn markers_tell_where_the_repository_ends() {
        check("https://host/o/r//a/b", Some(("https://host/o/r", "a/b", "")));
        check("https://host/o/r.git/a/b", Some(("https://host/o/r.git", "a/b", "")));
        check("https://host/a/_git/r/d", Some(("https://host/a/_git/r", "d", "")));
        check("https://host/a/_git/r", Some(("https://host/a/_git/r", "", "")));
        check("https://host/a/b/c/d", Some(("https://host/a/b", "c/d", "")));
        check("https://host/a/b.github/c/d", Some(("https://host/a/b.git", "hub/c/d", "")));
        check("file:///srv/r.git/d", Some(("file:///srv/r.git", "d", "")));
        check("file:///srv/r//d", Some(("file:///srv/r", "d", "")));
        check("file:///srv/a/b/c", Some(("file:///srv/a/b/c", "", "")));
    }

    #[test]
    fn the_reference_is_in_the_query() {
        check("https://host/o/r?ref=v1", Some(("https://host/o/r", "", "v1")));
        check("https://host/o/r?version=v1", Some(("https://host/o/r", "", "v1")));
        check("https://host/o/r?version=a&ref=b", Some(("https://host/o/r", "", "b")));
        check("https://host/o/r?ref=a%2Fb+c", Some(("https://host/o/r", "", "a/b c")));
        check("https://host/o/r?ref=a;b", Some(("https://host/o/r", "", "")));
        check("https://host/o/r?ref=%zz", Some(("https://host/o/r", "", "")));
        check("https://host/o/r?ref=", Some(("https://host/o/r", "", "")));
    }

    #[test]
    fn what_is_no_repository() {
        for text in ["https://host/x.yaml", "host/o/r", "/github.com/o/r", "file://", "https://"] {
            check(text, None);
        }
        check("https://host/o/r//../..", None);
        check("git@host:a//..", None);
        check("https://host/o/r//a/../b", Some(("https://host/o/r", "a/../b", "")));
    }

    #[test]
    fn timeouts_are_seconds_or_durations() {
        let timeout = |query: &str| Query::parse(query).expect("a query").timeout;
        assert_eq!(timeout("timeout=61"), Some(Duration::from_secs(61)));
        assert_eq!(timeout("timeout=1m1s"), Some(Duration::from_secs(61)));
        assert_eq!(timeout("timeout=1.5h"), Some(Duration::from_mins(90)));
        assert_eq!(timeout("timeout=250ms"), Some(Duration::from_millis(250)));
        for text in ["0", "-1", "-1s", "x", "1x", "s", ""] {
            assert_eq!(timeout(&format!("timeout={text}")), None, "{text:?}");
        }
    }

    #[test]
    fn the_top_of_a_repository_has_an_odd_origin() {
        let path = |text| Repository::parse(text).expect("a repository").origin_path();
        assert_eq!(path("https://host/o/r//a/./b"), "a/b");
        assert_eq!(path("https://host/o/r"), "notCloned");
        assert_eq!(path("https://host/o/r//a/.."), "notCloned");
    }
}
