//! Names of content: the algorithm and the hash.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256, Sha512};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    Sha256,
    Sha512,
}

impl Algorithm {
    pub(crate) const ALL: [Self; 2] = [Self::Sha256, Self::Sha512];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }

    const fn hex_len(self) -> usize {
        match self {
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }
}

/// `sha256:` and 64 lower-case hexadecimal digits, or the longer kind.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Digest(Box<str>);

impl Digest {
    pub(crate) fn of(algorithm: Algorithm, bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new(algorithm);
        hasher.update(bytes);
        hasher.finish()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        if self.0.len() == Algorithm::Sha256.hex_len() + "sha256:".len() {
            Algorithm::Sha256
        } else {
            Algorithm::Sha512
        }
    }

    /// The hash without its algorithm: a safe file name.
    pub(crate) fn hex(&self) -> &str {
        &self.0[self.algorithm().name().len() + 1..]
    }
}

/// The text is not the name of any content.
#[derive(Debug)]
pub(crate) struct InvalidDigest;

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let (name, hex) = text.split_once(':').ok_or(InvalidDigest)?;
        let algorithm = Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or(InvalidDigest)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hex.len() == algorithm.hex_len() && hex.bytes().all(is_hex) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidDigest)
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Computes a digest piece by piece.
#[derive(Debug)]
pub(crate) enum Hasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
            Algorithm::Sha512 => Self::Sha512(Sha512::new()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(state) => state.update(bytes),
            Self::Sha512(state) => state.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Digest {
        let text = match self {
            Self::Sha256(state) => format!("sha256:{:x}", state.finalize()),
            Self::Sha512(state) => format!("sha512:{:x}", state.finalize()),
        };
        Digest(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_algorithms_name_nothing_as_everyone_does() {
        let sha256 = Digest::of(Algorithm::Sha256, b"");
        assert_eq!(sha256.as_str().parse::<Digest>().expect("a digest"), sha256);
        assert_eq!(
            sha256.hex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let sha512 = Digest::of(Algorithm::Sha512, b"");
        assert_eq!(sha512.algorithm(), Algorithm::Sha512);
        assert!(sha512.hex().starts_with("cf83e1357eefb8bd"));
    }

    #[test]
    fn anything_else_is_no_digest() {
        let upper = Digest::of(Algorithm::Sha256, b"").as_str().to_uppercase();
        for text in ["", "sha256", "sha256:", "sha256:00", "md5:00", &upper, "sha256:../../etc"] {
            assert!(text.parse::<Digest>().is_err(), "{text:?}");
        }
    }
}
