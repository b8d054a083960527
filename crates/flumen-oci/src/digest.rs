//! Names of content: the algorithm and the hash.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256, Sha512};

use crate::Error;

/// Hash functions that registries use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Algorithm {
    Sha256,
    Sha512,
}

impl Algorithm {
    pub const fn name(self) -> &'static str {
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

/// The name of content: `sha256:` and 64 lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    algorithm: Algorithm,
    hex: Box<str>,
}

impl Digest {
    /// The name of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new(Algorithm::Sha256);
        hasher.update(bytes);
        hasher.finish()
    }

    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The hash without its algorithm.
    pub fn hex(&self) -> &str {
        &self.hex
    }

    /// The first digits, for people.
    pub fn short(&self) -> &str {
        self.hex.get(..12).unwrap_or(&self.hex)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::InvalidDigest { text: text.to_owned() };
        let (name, hex) = text.split_once(':').ok_or_else(invalid)?;
        let algorithm = [Algorithm::Sha256, Algorithm::Sha512]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(invalid)?;
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if hex.len() != algorithm.hex_len() || !hex.bytes().all(is_hex) {
            return Err(invalid());
        }
        Ok(Self { algorithm, hex: hex.into() })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.hex)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Computes a digest piece by piece.
#[derive(Clone, Debug)]
pub struct Hasher(State);

#[derive(Clone, Debug)]
enum State {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl Hasher {
    pub fn new(algorithm: Algorithm) -> Self {
        Self(match algorithm {
            Algorithm::Sha256 => State::Sha256(Sha256::new()),
            Algorithm::Sha512 => State::Sha512(Sha512::new()),
        })
    }

    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Sha256(state) => state.update(bytes),
            State::Sha512(state) => state.update(bytes),
        }
    }

    pub fn finish(self) -> Digest {
        let (algorithm, hash) = match self.0 {
            State::Sha256(state) => (Algorithm::Sha256, state.finalize().to_vec()),
            State::Sha512(state) => (Algorithm::Sha512, state.finalize().to_vec()),
        };
        let digits = b"0123456789abcdef";
        let hex: String = hash
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|nibble| char::from(digits[usize::from(nibble)]))
            .collect();
        Digest { algorithm, hex: hex.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_known() {
        let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), expected);
        assert_eq!(expected.parse::<Digest>().expect("a digest"), Digest::of(b""));
    }

    #[test]
    fn anything_else_is_no_digest() {
        let upper = Digest::of(b"").to_string().to_uppercase();
        for text in ["", "sha256", "sha256:", "sha256:00", "md5:00", &upper, "sha256:../../etc"] {
            assert!(text.parse::<Digest>().is_err(), "{text:?}");
        }
    }
}
