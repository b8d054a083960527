//! Addresses of artifacts: `oci://host/path:tag@digest`.

use std::{fmt, str::FromStr};

use crate::{Digest, Error, Result, docker_hub};

const SCHEME: &str = "oci://";

/// A repository on a registry and, if they are given, a tag and a digest in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Host and port.
    pub host: String,
    /// The path of the repository.
    pub repository: String,
    pub tag: Option<String>,
    pub digest: Option<Digest>,
}

/// One thing in a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Tag(String),
    Digest(Digest),
}

impl Reference {
    /// What it names: the digest before the tag, `latest` if neither is given.
    pub fn target(&self) -> Target {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => Target::Digest(digest.clone()),
            (None, Some(tag)) => Target::Tag(tag.clone()),
            (None, None) => Target::Tag("latest".to_owned()),
        }
    }

    /// `host/path`, without scheme, tag and digest.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }

    /// The same repository with this digest and nothing else, as `host/path@digest`.
    pub fn pinned(&self, digest: &Digest) -> String {
        format!("{}@{digest}", self.name())
    }

    /// With all of the path, of which names of images on Docker Hub may leave out the beginning.
    #[must_use]
    pub fn complete(self) -> Self {
        let repository = docker_hub::whole_path(&self.host, &self.repository).into_owned();
        Self { repository, ..self }
    }

    /// Reads the part behind the scheme.
    pub fn from_name(text: &str) -> Result<Self> {
        let invalid = || Error::InvalidReference { text: text.to_owned() };
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest.parse().map_err(|_| invalid())?)),
            None => (text, None),
        };
        let (host, path) = rest.split_once('/').ok_or_else(invalid)?;
        let (repository, tag) = match path.split_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (path, None),
        };
        let is_valid = is_host(host) && is_repository(repository) && tag.is_none_or(is_tag);
        if !is_valid {
            return Err(invalid());
        }
        Ok(Self {
            host: host.to_owned(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::InvalidReference { text: text.to_owned() };
        Self::from_name(text.strip_prefix(SCHEME).ok_or_else(invalid)?).map_err(|_| invalid())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

fn is_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_address =
        name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|address| {
            address.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':')
        });
    let is_name = name.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    });
    (is_address || is_name) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// Path components of lower-case letters and digits, joined by `.`, `_`, `__` or dashes.
pub(crate) fn is_repository(path: &str) -> bool {
    path.len() <= 255
        && path.split('/').all(|part| {
            let is_alphanumeric = |byte: Option<u8>| {
                byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            };
            is_alphanumeric(part.bytes().next())
                && is_alphanumeric(part.bytes().last())
                && part.bytes().all(|byte| is_alphanumeric(Some(byte)) || b"._-".contains(&byte))
                && !part.contains("..")
                && !part.contains("___")
        })
}

pub(crate) fn is_tag(tag: &str) -> bool {
    (1..=128).contains(&tag.len())
        && !tag.starts_with(['.', '-'])
        && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_and_written() {
        for text in [
            "oci://localhost:5000/a",
            "oci://registry.example.com/org/app:v1.0",
            "oci://127.0.0.1:5000/org/a__b/c-d.e:V1_x-y",
            "oci://[::1]:5000/app",
        ] {
            let reference: Reference = text.parse().expect(text);
            assert_eq!(reference.to_string(), text);
        }
        let digest = Digest::of(b"");
        let text = format!("oci://host/app:v1@{digest}");
        let reference: Reference = text.parse().expect("both");
        assert_eq!(reference.target(), Target::Digest(digest));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "host/app",
            "https://host/app",
            "oci://",
            "oci://host",
            "oci://host/",
            "oci://host/App",
            "oci://host/a/../b",
            "oci://host/a//b",
            "oci://host/a:",
            "oci://host/a:.x",
            "oci://host/a@sha256:00",
            "oci://ho st/a",
            "oci://user:password@host/a",
            "oci://host:99999/a",
            "oci://host/a?x=1",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text:?}");
        }
    }
}
