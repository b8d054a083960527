//! Digests of artifacts in all the algorithms that Flux takes.

use std::io::{self, Read};

use aws_lc_rs::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512};
use thiserror::Error;

const BLAKE3: &str = "blake3";

/// What bytes are expected to be.
#[derive(Clone, Debug)]
pub(crate) struct Checksum {
    algorithm: Kind,
    hex: String,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Sha(&'static Algorithm),
    Blake3,
}

/// The words are those of the library behind Flux.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ChecksumError {
    #[error("invalid checksum digest format")]
    Format,
    #[error("invalid checksum digest length")]
    Length,
    #[error("unsupported digest algorithm")]
    Algorithm,
}

impl Checksum {
    /// Reads `algorithm:hex`.
    pub(crate) fn parse(text: &str) -> Result<Self, ChecksumError> {
        let (name, hex) = text.split_once(':').ok_or(ChecksumError::Format)?;
        if name.is_empty() || hex.is_empty() {
            return Err(ChecksumError::Format);
        }
        let algorithm = match name {
            "sha1" => Kind::Sha(&SHA1_FOR_LEGACY_USE_ONLY),
            "sha256" => Kind::Sha(&SHA256),
            "sha384" => Kind::Sha(&SHA384),
            "sha512" => Kind::Sha(&SHA512),
            BLAKE3 => Kind::Blake3,
            _ => return Err(ChecksumError::Algorithm),
        };
        let bytes = match algorithm {
            Kind::Sha(algorithm) => algorithm.output_len(),
            Kind::Blake3 => blake3::OUT_LEN,
        };
        if hex.len() != 2 * bytes {
            return Err(ChecksumError::Length);
        }
        if !hex.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
            return Err(ChecksumError::Format);
        }
        Ok(Self { algorithm, hex: hex.to_owned() })
    }

    pub(crate) fn begin(&self) -> Comparison<'_> {
        let state = match self.algorithm {
            Kind::Sha(algorithm) => State::Sha(Context::new(algorithm)),
            Kind::Blake3 => State::Blake3(Box::default()),
        };
        Comparison { state, expected: &self.hex }
    }

    /// Whether these are the bytes.
    pub(crate) fn fits(&self, mut bytes: impl Read) -> io::Result<bool> {
        let mut comparison = self.begin();
        io::copy(&mut bytes, &mut comparison)?;
        Ok(comparison.holds())
    }
}

/// Bytes on their way to being compared.
pub(crate) struct Comparison<'c> {
    state: State,
    expected: &'c str,
}

enum State {
    Sha(Context),
    Blake3(Box<blake3::Hasher>),
}

impl Comparison<'_> {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Sha(context) => context.update(bytes),
            State::Blake3(hasher) => {
                hasher.update(bytes);
            }
        }
    }

    pub(crate) fn holds(self) -> bool {
        match self.state {
            State::Sha(context) => is_hex(context.finish().as_ref(), self.expected),
            State::Blake3(hasher) => is_hex(hasher.finalize().as_bytes(), self.expected),
        }
    }
}

impl io::Write for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_hex(bytes: &[u8], hex: &str) -> bool {
    const DIGITS: &[u8] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| DIGITS[usize::from(digit)]).eq(hex.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_algorithms_know_the_digest_of_a_text() {
        for digest in [
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "sha384:cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
            "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            "blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
        ] {
            let checksum = Checksum::parse(digest).expect(digest);
            assert!(checksum.fits(&b"abc"[..]).expect("read"), "{digest}");
            assert!(!checksum.fits(&b"abd"[..]).expect("read"), "{digest}");
        }
    }

    #[test]
    fn other_texts_are_no_digests() {
        use ChecksumError::{Algorithm, Format, Length};
        for (text, expected) in [
            ("", Format),
            ("sha256", Format),
            ("sha256:", Format),
            (":00", Format),
            ("md5:00", Algorithm),
            ("sha256:00", Length),
            ("sha1:A9993E364706816ABA3E25717850C26C9CD0D89D", Format),
        ] {
            assert_eq!(Checksum::parse(text).expect_err(text), expected, "{text:?}");
        }
    }
}
