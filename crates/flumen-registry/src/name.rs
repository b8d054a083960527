//! Names that clients give: of repositories, of tags, and what stands for a manifest.

use std::str::FromStr;

use crate::digest::{Digest, InvalidDigest};

/// Longer names do not fit what other registries and clients accept.
const MAX_REPOSITORY: usize = 255;
const MAX_TAG: usize = 128;

/// A name such as `org/app`: lower-case components with single separators inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RepositoryName(Box<str>);

#[derive(Debug)]
pub(crate) struct InvalidName;

impl RepositoryName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RepositoryName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if text.len() <= MAX_REPOSITORY && text.split('/').all(is_component) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName)
        }
    }
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn is_component(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    is_word(*first)
        && is_word(*last)
        && bytes.split(|byte| is_word(*byte)).all(|separator| match separator {
            [] | [b'.' | b'_'] | [b'_', b'_'] => true,
            dashes => dashes.iter().all(|byte| *byte == b'-'),
        })
}

/// `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(Box<str>);

impl Tag {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Tag {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let is_inner =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        let starts_well = !text.starts_with(['.', '-']);
        if starts_well && (1..=MAX_TAG).contains(&text.len()) && text.bytes().all(is_inner) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName)
        }
    }
}

/// What a client asks for by: a tag, or the digest itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Tag(Tag),
    Digest(Digest),
}

impl FromStr for Reference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        // A tag has no colon, so the two cannot be mistaken for each other.
        if text.contains(':') {
            text.parse().map(Self::Digest).map_err(|InvalidDigest| InvalidReference::Digest)
        } else {
            text.parse().map(Self::Tag).map_err(|InvalidName| InvalidReference::Tag)
        }
    }
}

#[derive(Debug)]
pub(crate) enum InvalidReference {
    Tag,
    Digest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_repositories() {
        for good in ["a", "a/b", "org/app-1", "a.b/c_d/e__f", "a--b---c", "0"] {
            assert!(good.parse::<RepositoryName>().is_ok(), "{good:?}");
        }
        let long = "a".repeat(256);
        for bad in
            ["", "/", "a/", "/a", "a//b", "A", "a..b", "a___b", "-a", "a-", "a._b", "a/../b", &long]
        {
            assert!(bad.parse::<RepositoryName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_of_tags() {
        let longest = "a".repeat(128);
        for good in ["v1.0", "_x", "A-b", &longest] {
            assert!(good.parse::<Tag>().is_ok(), "{good:?}");
        }
        let long = "a".repeat(129);
        for bad in ["", ".a", "-a", "a b", "a/b", "ä", &long] {
            assert!(bad.parse::<Tag>().is_err(), "{bad:?}");
        }
    }
}
