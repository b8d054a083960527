//! Versions as tags carry them.

use std::{cmp::Ordering, fmt};

use semver::{BuildMetadata, Prerelease};
use thiserror::Error;

use crate::parts::Parts;

/// No sensible version is longer; the reference library has the same limit.
const LONGEST: usize = 256;

/// A semantic version. Build metadata is kept and printed, but does not take part in comparisons.
#[derive(Debug, Clone)]
pub struct Version(semver::Version);

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VersionError {
    #[error("the version is longer than {LONGEST} bytes")]
    TooLong,
    #[error("{0:?} is no semantic version")]
    Malformed(String),
    /// Only strict parsing asks for all three.
    #[error("{0:?} has fewer than three numbers")]
    Partial(String),
}

impl Version {
    /// Reads what people write: `v1`, `1.2` and `01.2.3` are `1.0.0`, `1.2.0` and `1.2.3`.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        if text.len() > LONGEST {
            return Err(VersionError::TooLong);
        }
        Parts::cut(text, |byte| byte.is_ascii_digit())
            .filter(|(_, rest)| rest.is_empty())
            .and_then(|(parts, _)| Self::from_parts(&parts))
            .ok_or_else(|| VersionError::Malformed(text.to_owned()))
    }

    /// Reads a tag: like [`Version::parse`], but `3` and `3.0` are names of moving tags and no
    /// versions.
    ///
    /// As in Flux, two dots are enough: the second may stand in the pre-release (`1.2-rc.1`).
    pub fn parse_strict(text: &str) -> Result<Self, VersionError> {
        if text.bytes().filter(|&byte| byte == b'.').count() < 2 {
            // Both errors may apply; that it is no version at all is the more useful one.
            return Self::parse(text).and(Err(VersionError::Partial(text.to_owned())));
        }
        Self::parse(text)
    }

    /// `None` when a number does not fit or a numeric identifier starts with a zero.
    pub(crate) fn from_parts(parts: &Parts<'_>) -> Option<Self> {
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok() };
        Some(Self(semver::Version {
            major: number(parts.numbers[0])?,
            minor: number(parts.numbers[1])?,
            patch: number(parts.numbers[2])?,
            pre: Prerelease::new(parts.pre).ok()?,
            build: BuildMetadata::new(parts.build).ok()?,
        }))
    }

    pub(crate) fn major(&self) -> u64 {
        self.0.major
    }

    pub(crate) fn minor(&self) -> u64 {
        self.0.minor
    }

    pub(crate) fn patch(&self) -> u64 {
        self.0.patch
    }

    pub(crate) fn prerelease(&self) -> &str {
        self.0.pre.as_str()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp_precedence(&other.0)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_does_not_count_but_prints() {
        let (plain, built) = (Version::parse("1.2.3"), Version::parse("v1.2.3+linux"));
        assert_eq!(plain, built);
        assert_eq!(built.expect("a version").to_string(), "1.2.3+linux");
    }

    #[test]
    fn precedence_follows_the_specification() {
        let ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0"];
        let versions: Vec<_> = ordered.iter().map(|text| Version::parse(text)).collect();
        assert!(versions.iter().all(Result::is_ok));
        assert!(versions.windows(2).all(|pair| pair[0].as_ref().ok() < pair[1].as_ref().ok()));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let strict = |text| Version::parse_strict(text).expect_err("no version").to_string();
        assert_eq!(strict("3.0"), "\"3.0\" has fewer than three numbers");
        assert_eq!(strict("latest"), "\"latest\" is no semantic version");
        assert_eq!(strict("1.2.x"), "\"1.2.x\" is no semantic version");
        assert_eq!(strict(&"1".repeat(257)), "the version is longer than 256 bytes");
    }
}
