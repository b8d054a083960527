//! URLs as Go reads them.

use std::fmt;

/// A URL in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    pub scheme: String,
    /// What follows the scheme where it is not a path: `mailto:…`.
    pub opaque: String,
    pub user: Option<String>,
    /// With the port, if there is one.
    pub host: String,
    /// Still with its escapes.
    pub path: String,
    pub query: String,
    pub fragment: String,
}

/// Whether a text is a URL as a request line has it: absolute, or a path from the root.
pub fn is_request_uri(text: &str) -> bool {
    Url::parse_request(text).is_ok()
}

/// Whether a text is a URL with a scheme and a host.
pub fn is_absolute_url(text: &str) -> bool {
    Url::parse_request(text).is_ok_and(|url| !url.scheme.is_empty() && !url.host.is_empty())
}

impl Url {
    /// Reads a URL, relative ones too.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (body, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut url = Self::read(body, false).map_err(|it| format!("parse {body:?}: {it}"))?;
        if let Some(problem) = bad_escape(fragment) {
            return Err(format!("parse {text:?}: {problem}"));
        }
        fragment.clone_into(&mut url.fragment);
        Ok(url)
    }

    /// Reads a URL that is absolute or starts at the root, and takes `#` for a part of it.
    pub(crate) fn parse_request(text: &str) -> Result<Self, String> {
        Self::read(text, true).map_err(|it| format!("parse {text:?}: {it}"))
    }

    fn read(text: &str, is_request: bool) -> Result<Self, String> {
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() && is_request {
            return Err("empty url".to_owned());
        }
        let mut url = Self::default();
        if text == "*" {
            "*".clone_into(&mut url.path);
            return Ok(url);
        }
        let (scheme, rest) = scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.clone_into(&mut url.query);
        if !rest.starts_with('/') {
            if !url.scheme.is_empty() {
                rest.clone_into(&mut url.opaque);
                return Ok(url);
            }
            if is_request {
                return Err("invalid URI for request".to_owned());
            }
            let segment = rest.split('/').next().unwrap_or_default();
            if segment.contains(':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let has_authority = rest.starts_with("//") && !rest.starts_with("///");
        let path = if (!url.scheme.is_empty() || !is_request) && has_authority {
            let rest = &rest[2..];
            let end = rest.find('/').unwrap_or(rest.len());
            url.authority(&rest[..end])?;
            &rest[end..]
        } else if !url.scheme.is_empty() && rest.starts_with("///") {
            &rest[2..]
        } else {
            rest
        };
        if let Some(problem) = bad_escape(path) {
            return Err(problem);
        }
        path.clone_into(&mut url.path);
        Ok(url)
    }

    fn authority(&mut self, authority: &str) -> Result<(), String> {
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                self.user = Some(user.to_owned());
                host
            }
            None => authority,
        };
        let port = if host.starts_with('[') {
            let end = host.rfind(']').ok_or("missing ']' in host")?;
            &host[end + 1..]
        } else {
            host.rfind(':').map_or("", |at| &host[at..])
        };
        let is_port = port.is_empty()
            || port.strip_prefix(':').is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
        if !is_port {
            return Err(format!("invalid port {port:?} after host"));
        }
        let is_allowed = |c: char| {
            c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c) || !c.is_ascii()
        };
        if let Some(bad) = host.chars().find(|c| !is_allowed(*c)) {
            return Err(format!("invalid character {:?} in host name", bad.to_string()));
        }
        host.clone_into(&mut self.host);
        Ok(())
    }

    /// The host without port and brackets.
    pub(crate) fn hostname(&self) -> &str {
        let host = match self.port() {
            "" => self.host.strip_suffix(':').unwrap_or(&self.host),
            port => &self.host[..self.host.len() - port.len() - 1],
        };
        host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host)
    }

    pub(crate) fn port(&self) -> &str {
        let after = self.host.rfind(']').map_or(self.host.as_str(), |end| &self.host[end..]);
        after.rfind(':').map_or("", |at| &after[at + 1..])
    }

    /// The parameters in their order, decoded.
    pub(crate) fn parameters(&self) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(key), Some(value)) = (decoded(key), decoded(value)) else { continue };
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => found.push((key, vec![value])),
            }
        }
        found
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if !self.opaque.is_empty() {
            f.write_str(&self.opaque)?;
        } else if !self.host.is_empty() || self.user.is_some() {
            f.write_str("//")?;
            if let Some(user) = &self.user {
                write!(f, "{user}@")?;
            }
            f.write_str(&self.host)?;
        }
        f.write_str(&self.path)?;
        if !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.fragment)?;
        }
        Ok(())
    }
}

/// The scheme, if there is one, and what follows it.
fn scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, char) in text.char_indices() {
        match char {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn bad_escape(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let at = (0..bytes.len()).find(|at| {
        bytes[*at] == b'%'
            && !(bytes.get(at + 1).is_some_and(u8::is_ascii_hexdigit)
                && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit))
    })?;
    let shown = text.get(at..(at + 3).min(text.len())).unwrap_or("%");
    Some(format!("invalid URL escape {shown:?}"))
}

fn decoded(text: &str) -> Option<String> {
    if bad_escape(text).is_some() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next().unwrap_or(b'0')).to_digit(16).unwrap_or(0);
        bytes.push(match byte {
            b'%' => u8::try_from(digit() * 16 + digit()).unwrap_or(b'?'),
            b'+' => b' ',
            other => other,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Url, is_absolute_url, is_request_uri};

    #[test]
    fn parts_are_found() {
        let url = Url::parse("https://u:p@[::1]:80/a%20b?x=1&y=a+b&x=2#f").expect("a URL");
        assert_eq!((url.scheme.as_str(), url.user.as_deref()), ("https", Some("u:p")));
        assert_eq!((url.host.as_str(), url.hostname(), url.port()), ("[::1]:80", "::1", "80"));
        assert_eq!((url.path.as_str(), url.fragment.as_str()), ("/a%20b", "f"));
        let text = |it: &str| it.to_owned();
        let expected = [(text("x"), vec![text("1"), text("2")]), (text("y"), vec![text("a b")])];
        assert_eq!(url.parameters(), expected);
        assert_eq!(url.to_string(), "https://u:p@[::1]:80/a%20b?x=1&y=a+b&x=2#f");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in ["", "::", "x", "a b", "http://[::1", "http://a:b", "http://a b", "/%zz"] {
            assert!(!is_request_uri(text), "{text}");
        }
        for text in ["/", "*", "mailto:a@b", "http://a", "//a/b"] {
            assert!(is_request_uri(text), "{text}");
        }
        assert!(is_absolute_url("https://a/b") && !is_absolute_url("/b"));
    }
}
