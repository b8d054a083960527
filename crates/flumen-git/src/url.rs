//! Where a repository is.

use std::{fmt, path::PathBuf};

use url::Url;

use crate::Error;

/// The address of a repository. Credentials in it are used, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum GitUrl {
    /// On this machine: a work tree or a bare repository.
    Local(PathBuf),
    /// On a server.
    Remote(Address),
}

/// An address on a server.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// Over `http` or `https`.
    Http(HttpUrl),
    Ssh(SshUrl),
}

/// An address on an ssh server. A password in it is dropped: keys are what opens these.
#[derive(Clone, PartialEq, Eq)]
pub struct SshUrl {
    pub(crate) user: Option<String>,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// As the program on the server is told.
    pub(crate) path: String,
    /// What people wrote, without a password.
    text: String,
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
                    http => Ok(Self::Remote(Address::Http(http))),
                },
                "file" => local_path(rest),
                "ssh" | "git+ssh" | "ssh+git" => {
                    SshUrl::parse(scheme, rest).map(|ssh| Self::Remote(Address::Ssh(ssh)))
                }
                _ => Err(invalid("only http, https, ssh and file are known")),
            };
        }
        if text.contains("::") {
            return Err(invalid("helpers of the form `helper::address` are programs"));
        }
        match text.find([':', '/']) {
            Some(at) if at > 0 && text.as_bytes()[at] == b':' => {
                let (host, path) = (&text[..at], &text[at + 1..]);
                let ssh = SshUrl::at(host, path, text.to_owned())?;
                Ok(Self::Remote(Address::Ssh(ssh)))
            }
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

impl Address {
    /// The place as the beginning of a path: host and path, without how it is reached.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Http(http) => {
                format!("/{}{}", http.url.authority(), http.url.path().trim_end_matches('/'))
            }
            Self::Ssh(ssh) => {
                let port = if ssh.port == 22 { String::new() } else { format!(":{}", ssh.port) };
                format!("/{}{port}/{}", ssh.host, ssh.path.trim_matches('/'))
            }
        }
    }
}

impl SshUrl {
    /// What follows `ssh://`.
    fn parse(scheme: &str, rest: &str) -> Result<Self, Error> {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (user.split_once(':').map_or(user, |(user, _)| user), host),
            None => ("", authority),
        };
        let at = if user.is_empty() { "" } else { "@" };
        let text = format!("{scheme}://{user}{at}{host}{path}");
        // `ssh://host/~me/repo` is below the home of `me`; other paths begin at the top.
        let path = path.strip_prefix('/').filter(|path| path.starts_with('~')).unwrap_or(path);
        Self::at(&format!("{user}{at}{host}"), path, text)
    }

    /// `authority` is `user@host:port`, of which only the host is needed.
    fn at(authority: &str, path: &str, text: String) -> Result<Self, Error> {
        let invalid = |reason: &str| Error::InvalidUrl { reason: reason.to_owned() };
        let decoded = |text: &str| {
            let bytes = percent_encoding::percent_decode_str(text);
            bytes.decode_utf8().map(std::borrow::Cow::into_owned).map_err(|_| invalid("no text"))
        };
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(decoded(user)?), host),
            None => (None, authority),
        };
        let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, port.strip_prefix(':')),
            None => match host.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host, None),
            },
        };
        let port = match port {
            None | Some("") => 22,
            Some(port) => port.parse().map_err(|_| invalid("its port is no number"))?,
        };
        let path = decoded(path)?;
        if host.is_empty() {
            return Err(invalid("empty host"));
        }
        if path.trim_matches('/').is_empty() {
            return Err(invalid("it names no repository"));
        }
        if path.contains('\0') {
            return Err(invalid("its path has a zero byte"));
        }
        Ok(Self { user, host: host.to_owned(), port, path, text })
    }

    /// The name under which servers are known: with the port, unless that is the usual one.
    pub(crate) fn known_as(&self) -> String {
        match self.port {
            22 => self.host.clone(),
            port => format!("[{}]:{port}", self.host),
        }
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

impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.display().fmt(f),
            Self::Remote(address) => fmt::Display::fmt(address, f),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(http) => fmt::Display::fmt(http, f),
            Self::Ssh(ssh) => fmt::Display::fmt(ssh, f),
        }
    }
}

impl fmt::Display for SshUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for HttpUrl {
    /// Without the query: it may hold a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.url.as_str();
        f.write_str(text.split_once('?').map_or(text, |(text, _)| text))
    }
}

/// Credentials are shown nowhere.
macro_rules! debug_as_display {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_as_display!(GitUrl, Address, HttpUrl, SshUrl);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let url = GitUrl::parse(text);
        let shown = match &url {
            Ok(GitUrl::Remote(Address::Http(http))) => {
                let kind = if http.authorization.is_some() { "auth" } else { "http" };
                format!("{kind} {http}")
            }
            Ok(GitUrl::Local(path)) => format!("local {}", path.display()),
            Ok(GitUrl::Remote(Address::Ssh(ssh))) => {
                let user = ssh.user.as_deref().unwrap_or("nobody");
                format!("{ssh} is {} of {user} at {}", ssh.path, ssh.known_as())
            }
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
        check("ssh://git:pw@host/r", "ssh://git@host/r is /r of git at host");
        check("ssh://host:2222/a%20b", "ssh://host:2222/a%20b is /a b of nobody at [host]:2222");
        check("ssh://host:22/~me/r", "ssh://host:22/~me/r is ~me/r of nobody at host");
        check("ssh://a@[::1]:2222/r", "ssh://a@[::1]:2222/r is /r of a at [::1]:2222");
        check("git@host:org/r.git", "git@host:org/r.git is org/r.git of git at host");
        check("host:r", "host:r is r of nobody at host");
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
        check("ssh:///r", "not the URL of a repository: empty host");
        check("ssh://host/", "not the URL of a repository: it names no repository");
        check("ssh://host:x/r", "not the URL of a repository: its port is no number");
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
        let Ok(GitUrl::Remote(Address::Http(url))) = GitUrl::parse("https://a%40b:c%3Ad@host/r")
        else {
            panic!("a URL")
        };
        assert_eq!(url.authorization.as_deref(), Some("Basic YUBiOmM6ZA=="));
    }
}
