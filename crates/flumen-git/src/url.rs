//! Where a repository is.

use std::{fmt, path::PathBuf};

use url::Url;

use crate::Error;

/// The address of a repository. Credentials in it are used, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum GitUrl {
    /// On a server, over `http` or `https`.
    Http(HttpUrl),
    /// On this machine: a work tree or a bare repository.
    Local(PathBuf),
    /// On a server, over ssh. It can be named, but not opened yet.
    Ssh(String),
}

/// An address on a server, and what to show there.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl {
    /// Without user and password.
    pub(crate) url: Url,
    /// The value of an `Authorization` header.
    pub(crate) authorization: Option<String>,
}

impl GitUrl {
    /// Reads what people write: a URL, `user@host:path` as ssh has it, or a path.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let invalid = |reason: &str| Error::InvalidUrl { reason: reason.to_owned() };

        if text.is_empty() {
            return Err(invalid("it is empty"));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" => match HttpUrl::parse(text)? {
                    http if http.url.query().is_some() => Err(invalid("it has a query")),
                    http => Ok(Self::Http(http)),
                },
                "file" => local_path(rest),
                "ssh" | "git+ssh" | "ssh+git" => Ok(Self::Ssh(without_password(scheme, rest))),
                _ => Err(invalid("only http, https, ssh and file are known")),
            };
        }
        if text.contains("::") {
            return Err(invalid("helpers of the form `helper::address` are programs"));
        }
        match text.find([':', '/']) {
            Some(at) if at > 0 && text.as_bytes()[at] == b':' => Ok(Self::Ssh(text.to_owned())),
            _ => Ok(Self::Local(PathBuf::from(text))),
        }
    }

    /// Whether the repository is on this machine.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }
}

impl HttpUrl {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let mut url = Url::parse(text).map_err(|error| Error::InvalidUrl {
            // The error says what is wrong without quoting the text, which may hold a password.
            reason: error.to_string(),
        })?;
        let authorization = authorization(&url);
        // Neither fails for the schemes that get here.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        Ok(Self { url, authorization })
    }
}

fn authorization(url: &Url) -> Option<String> {
    use base64::{Engine as _, prelude::BASE64_STANDARD};

    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).collect::<Vec<u8>>();
    let mut pair = decoded(url.username());
    pair.push(b':');
    pair.extend(decoded(url.password().unwrap_or_default()));
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// The path of a `file://` URL.
fn local_path(rest: &str) -> Result<GitUrl, Error> {
    let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
    if !path.starts_with('/') {
        let reason = "`file://` is followed by an absolute path".to_owned();
        return Err(Error::InvalidUrl { reason });
    }
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    Ok(GitUrl::Local(PathBuf::from(path.as_ref())))
}

fn without_password(scheme: &str, rest: &str) -> String {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}@{host}")
        }
        None => host.to_owned(),
    };
    format!("{scheme}://{host}{path}")
}

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(http) => fmt::Display::fmt(http, f),
            Self::Local(path) => path.display().fmt(f),
            Self::Ssh(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for HttpUrl {
    /// Without the query: it may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.url.as_str();
        f.write_str(text.split_once('?').map_or(text, |(text, _)| text))
    }
}

impl fmt::Debug for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let url = GitUrl::parse(text);
        let shown = match &url {
            Ok(GitUrl::Http(http)) if http.authorization.is_some() => format!("auth {http}"),
            Ok(GitUrl::Http(http)) => format!("http {http}"),
            Ok(GitUrl::Local(path)) => format!("local {}", path.display()),
            Ok(GitUrl::Ssh(text)) => format!("ssh {text}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn servers() {
        check("https://host/org/repo", "http https://host/org/repo");
        check("HTTP://Host:8080/r.git", "http http://host:8080/r.git");
        check("https://me:s3cret@host/r", "auth https://host/r");
        check("https://token@host/r#c", "auth https://host/r");
    }

    #[test]
    fn this_machine() {
        check("file:///srv/a%20b", "local /srv/a b");
        check("file://localhost/srv/a", "local /srv/a");
        check("/srv/a", "local /srv/a");
        check("../a", "local ../a");
        check("./a:b", "local ./a:b");
    }

    #[test]
    fn ssh() {
        check("ssh://git:pw@host/r", "ssh ssh://git@host/r");
        check("git@host:org/r.git", "ssh git@host:org/r.git");
        check("host:r", "ssh host:r");
    }

    #[test]
    fn nonsense() {
        check("", "not the URL of a repository: it is empty");
        check(
            "git://host/r",
            "not the URL of a repository: only http, https, ssh and file are known",
        );
        check(
            "ext::sh -c x",
            "not the URL of a repository: helpers of the form `helper::address` are programs",
        );
        check("https://host/r?ref=v1", "not the URL of a repository: it has a query");
        check("https://", "not the URL of a repository: empty host");
        check(
            "file://a/b",
            "not the URL of a repository: `file://` is followed by an absolute path",
        );
    }

    #[test]
    fn debug_output_holds_no_password() {
        let url = GitUrl::parse("https://me:s3cret@host/r").expect("a URL");
        assert_eq!(format!("{url:?}"), "https://host/r");
        let url = HttpUrl::parse("https://me:s3cret@host/r?token=s3cret").expect("a URL");
        assert_eq!(format!("{url:?}"), "https://host/r");
    }

    #[test]
    fn credentials_are_decoded() {
        let Ok(GitUrl::Http(url)) = GitUrl::parse("https://a%40b:c%3Ad@host/r") else {
            panic!("a URL")
        };
        assert_eq!(url.authorization.as_deref(), Some("Basic YUBiOmM6ZA=="));
    }
}
