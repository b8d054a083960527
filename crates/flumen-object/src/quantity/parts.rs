//! How a quantity is spelled.

use std::fmt;

use super::{Notation, QuantityError, amount::NANO};

/// The most digits that are certain to fit an integer of 64 bits.
const SAFE_DIGITS: usize = 18;

const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The parts of a spelling, as written.
pub(super) struct Parts<'a> {
    pub(super) is_negative: bool,
    /// Digits before the point, without leading zeros.
    pub(super) whole: &'a str,
    /// Digits after the point.
    pub(super) fraction: &'a str,
    /// Whether there is a digit at all, leading zeros included.
    pub(super) has_digits: bool,
    pub(super) notation: Notation,
    /// What the suffix stands for: a power of ten, or one of two.
    decimal_power: i64,
    pub(super) binary_power: u8,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (digits, rest) = leading_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), leading_digits);
        let mut parts = Self {
            is_negative: text.starts_with('-'),
            whole: digits.trim_start_matches('0'),
            fraction,
            has_digits: !digits.is_empty() || !fraction.is_empty(),
            notation: Notation::Decimal,
            decimal_power: 0,
            binary_power: 0,
        };
        parts.read_suffix(suffix)?;
        Ok(parts)
    }

    fn read_suffix(&mut self, suffix: &str) -> Result<(), QuantityError> {
        if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            self.decimal_power = i64::from(*power);
            return Ok(());
        }
        if let Some(index) = BINARY.iter().position(|known| *known == suffix) {
            self.notation = Notation::Binary;
            self.binary_power = u8::try_from(index * 10 + 10).unwrap_or(u8::MAX);
            return Ok(());
        }
        let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let digits = letters.strip_prefix(['-', '+']).unwrap_or(letters);
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(QuantityError::Format);
        }
        let exponent = suffix.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
        let exponent: i32 = exponent.parse().map_err(|_| QuantityError::Suffix)?;
        self.notation = Notation::Exponent;
        self.decimal_power = i64::from(exponent);
        Ok(())
    }

    /// The number of digits; a missing whole part counts as `0`.
    fn count(&self) -> usize {
        self.whole.len().max(1) + self.fraction.len()
    }

    /// The power of ten of the last digit.
    pub(super) fn scale(&self) -> i64 {
        self.decimal_power - i64::try_from(self.fraction.len()).unwrap_or(i64::MAX)
    }

    /// Whether the reference reads it as a small number, without arithmetic of any size.
    pub(super) fn is_short(&self) -> bool {
        match self.notation {
            // The factor counts too: three digits for ten bits.
            Notation::Binary => {
                let factor = usize::from(self.binary_power / 10 * 3);
                self.fraction.is_empty() && self.count() + factor < 15
            }
            _ => self.count() <= SAFE_DIGITS && self.scale() >= NANO,
        }
    }

    /// Whether the reference takes the spelling for canonical and repeats it. It errs on the side of
    /// keeping: `1.500`, `+1` and `01` are repeated as well.
    pub(super) fn is_kept(&self) -> bool {
        let mut last_digits = self.whole.bytes().chain(self.fraction.bytes()).rev().take(3);
        self.is_short()
            && match self.notation {
                Notation::Binary => {
                    self.whole.parse().is_ok_and(|whole: u64| !whole.is_multiple_of(8))
                }
                _ => {
                    !self.whole.is_empty()
                        && self.scale() % 3 == 0
                        && last_digits.any(|digit| digit != b'0')
                }
            }
    }
}

fn leading_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The suffix for a power of ten. Beyond the largest one the reference prints none.
pub(super) fn decimal_suffix(exponent: i64) -> &'static str {
    let suffix = DECIMAL.iter().find(|(_, power)| i64::from(*power) == exponent);
    suffix.map_or("", |(suffix, _)| suffix)
}

pub(super) fn write_binary(f: &mut fmt::Formatter<'_>, mut whole: u64) -> fmt::Result {
    let mut suffixes = BINARY.iter();
    let mut suffix = "";
    while whole.is_multiple_of(1024)
        && let Some(next) = suffixes.next()
    {
        whole /= 1024;
        suffix = next;
    }
    write!(f, "{whole}{suffix}")
}
