//! Names of builds: in the order of time, never twice, and fit to be a tag.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const PREFIX: &str = "bld";
/// Crockford's base 32: digits and letters in the order of their bytes, none mistaken for another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 48 bits of time and 80 random ones, five to a letter.
const LETTERS: usize = 26;
const RANDOM_BITS: u32 = 80;

/// `bld` and 26 letters: the time in milliseconds, then chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId(u128);

impl BuildId {
    /// Clock and randomness come from the caller.
    pub fn new(now: Timestamp, random: [u8; 10]) -> Self {
        let millis = u128::from(now.as_millisecond().max(0).unsigned_abs());
        let random = random.iter().fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
        Self((millis << RANDOM_BITS) | random)
    }

    /// When it was made.
    pub fn created(self) -> Timestamp {
        let millis = i64::try_from(self.0 >> RANDOM_BITS).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        for index in (0..LETTERS).rev() {
            let value = usize::try_from((self.0 >> (5 * index)) & 31).unwrap_or(0);
            write!(f, "{}", char::from(ALPHABET[value]))?;
        }
        Ok(())
    }
}

impl FromStr for BuildId {
    type Err = NotABuildId;

    fn from_str(text: &str) -> Result<Self, NotABuildId> {
        let letters = text.strip_prefix(PREFIX).ok_or(NotABuildId)?;
        if letters.len() != LETTERS {
            return Err(NotABuildId);
        }
        let bits = letters.bytes().try_fold(0u128, |bits, letter| {
            let value = ALPHABET.iter().position(|known| *known == letter)?;
            bits.checked_mul(32)?.checked_add(value as u128)
        });
        bits.map(Self).ok_or(NotABuildId)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a build")]
pub struct NotABuildId;

impl Serialize for BuildId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BuildId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_read_back() {
        let at = |millis| Timestamp::from_millisecond(millis).expect("a time");
        let early = BuildId::new(at(1_700_000_000_000), [255; 10]);
        let late = BuildId::new(at(1_700_000_000_001), [0; 10]);
        assert!(early.to_string() < late.to_string(), "{early} {late}");
        assert_eq!(early.to_string().len(), 29);
        assert_eq!(early.to_string().parse(), Ok(early));
        assert_eq!(early.created(), at(1_700_000_000_000));
    }

    #[test]
    fn other_texts_are_no_ids() {
        let long = format!("bld{}", "z".repeat(26));
        for text in ["", "bld", "v1.0.0", "latest", &long, "bld0123456789abcdefghijklmnop"] {
            assert_eq!(text.parse::<BuildId>(), Err(NotABuildId), "{text}");
        }
    }
}
