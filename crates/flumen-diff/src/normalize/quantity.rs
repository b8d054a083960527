//! Amounts such as `500m` and `1Gi` in the one spelling that Kubernetes prints.
//!
//! An amount remembers in which notation it was written: decimal suffixes, binary suffixes or an
//! exponent. Its canonical form has no fraction and the largest suffix that loses nothing. Amounts
//! have any number of digits, so they are kept as digits.

use std::{borrow::Cow, fmt::Write as _};

/// The smallest power of ten that is kept; what is below is rounded away from zero.
const NANO: i64 = -9;
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Decimal suffixes, with the power of ten of the one that was written.
    Decimal(i32),
    Exponent(i32),
    /// Binary suffixes, with the power of two.
    Binary(u8),
}

/// The canonical spelling of an amount, or nothing if the text is none.
pub(super) fn canonical(text: &str) -> Option<Cow<'_, str>> {
    let parts = Parts::split(text)?;
    if parts.is_kept() {
        return Some(Cow::Borrowed(text));
    }
    let mut amount = Amount::new(&parts)?;
    if amount.digits.is_empty() {
        return Some(Cow::Borrowed("0"));
    }
    let mut out = String::with_capacity(text.len() + 4);
    if parts.is_negative {
        out.push('-');
    }
    let binary = if let Notation::Binary(power) = parts.notation {
        amount.double(power);
        amount.round_up();
        amount.binary()
    } else {
        amount.round_up();
        None
    };
    match binary {
        Some(whole) => push_binary(&mut out, whole),
        None => amount.push_decimal(&mut out, parts.notation),
    }
    Some(Cow::Owned(out))
}

/// The parts of a spelling, as written.
struct Parts<'a> {
    is_negative: bool,
    /// Digits before the point, without leading zeros.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether there is a digit at all, leading zeros included.
    has_digits: bool,
    notation: Notation,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (digits, rest) = leading_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), leading_digits);
        Some(Self {
            is_negative: text.starts_with('-'),
            whole: digits.trim_start_matches('0'),
            fraction,
            has_digits: !digits.is_empty() || !fraction.is_empty(),
            notation: notation(suffix)?,
        })
    }

    /// The number of digits; a missing whole part counts as `0`.
    fn count(&self) -> usize {
        self.whole.len().max(1) + self.fraction.len()
    }

    /// The power of ten of the last digit.
    fn scale(&self) -> i64 {
        let power = match self.notation {
            Notation::Decimal(power) | Notation::Exponent(power) => i64::from(power),
            Notation::Binary(_) => 0,
        };
        power - i64::try_from(self.fraction.len()).unwrap_or(i64::MAX)
    }

    /// Whether the reference reads it as a small number, without arithmetic of any size.
    fn is_short(&self) -> bool {
        match self.notation {
            // The factor counts too: three digits for ten bits.
            Notation::Binary(power) => {
                self.fraction.is_empty() && self.count() + usize::from(power / 10 * 3) < 15
            }
            _ => self.count() <= SAFE_DIGITS && self.scale() >= NANO,
        }
    }

    /// Whether the reference takes the spelling for canonical and repeats it. It errs on the side of
    /// keeping: `1.500`, `+1` and `01` are repeated as well.
    fn is_kept(&self) -> bool {
        let mut last_digits = self.whole.bytes().chain(self.fraction.bytes()).rev().take(3);
        self.is_short()
            && match self.notation {
                Notation::Binary(_) => {
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

fn notation(suffix: &str) -> Option<Notation> {
    if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Some(Notation::Decimal(*power));
    }
    if let Some(index) = BINARY.iter().position(|known| *known == suffix) {
        return u8::try_from(index * 10 + 10).ok().map(Notation::Binary);
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    i32::try_from(exponent).ok().map(Notation::Exponent)
}

/// A positive number: digits, most significant first and without leading zeros, and the power of ten
/// of the last one. Zero has no digits.
struct Amount {
    digits: Vec<u8>,
    exponent: i64,
}

impl Amount {
    fn new(parts: &Parts<'_>) -> Option<Self> {
        if !parts.has_digits && !parts.is_short() {
            return None;
        }
        let digits = parts.whole.bytes().chain(parts.fraction.bytes());
        let digits = digits.map(|digit| digit - b'0').skip_while(|digit| *digit == 0).collect();
        Some(Self { digits, exponent: parts.scale() })
    }

    fn double(&mut self, times: u8) {
        for _ in 0..times {
            let mut carry = 0;
            for digit in self.digits.iter_mut().rev() {
                let doubled = *digit * 2 + carry;
                (carry, *digit) = (doubled / 10, doubled % 10);
            }
            if carry > 0 {
                self.digits.insert(0, carry);
            }
        }
    }

    /// Drops what is too small, rounding up, and then the zeros at the end.
    fn round_up(&mut self) {
        let excess = usize::try_from(NANO.saturating_sub(self.exponent)).unwrap_or(0);
        if excess > 0 {
            let kept = self.digits.len().saturating_sub(excess);
            let is_exact = self.digits.drain(kept..).all(|digit| digit == 0);
            self.exponent = NANO;
            if !is_exact {
                self.increment();
            }
        }
        while self.digits.pop_if(|digit| *digit == 0).is_some() {
            self.exponent += 1;
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit > 0 {
                return;
            }
        }
        self.digits.insert(0, 1);
    }

    /// The amount for a binary suffix, at most what an integer of 64 bits holds. None if it has a
    /// fraction, or is too small for any.
    fn binary(&self) -> Option<u64> {
        const MAX: u64 = i64::MAX.unsigned_abs();
        let length = i64::try_from(self.digits.len()).ok()?.saturating_add(self.exponent);
        let length = usize::try_from(length).ok()?;
        if length > 19 {
            return Some(MAX);
        }
        let digits = self.digits.iter().copied().chain(std::iter::repeat(0)).take(length);
        let whole = digits.fold(0, |whole: u64, digit| whole * 10 + u64::from(digit));
        let has_fraction = self.exponent < 0;
        if whole > MAX || whole == MAX && has_fraction {
            return Some(MAX);
        }
        (whole >= 1024 && !has_fraction).then_some(whole)
    }

    fn push_decimal(&self, out: &mut String, notation: Notation) {
        // Powers of ten are those of a thousand.
        let zeros = self.exponent.rem_euclid(3);
        let exponent = self.exponent - zeros;
        out.extend(self.digits.iter().map(|digit| char::from(digit + b'0')));
        out.extend((0..zeros).map(|_| '0'));
        match notation {
            Notation::Exponent(_) if exponent == 0 => {}
            Notation::Exponent(_) => {
                let _ = write!(out, "e{exponent}");
            }
            // Beyond the largest suffix the reference prints none.
            _ => {
                let suffix = DECIMAL.iter().find(|(_, power)| i64::from(*power) == exponent);
                out.push_str(suffix.map_or("", |(suffix, _)| suffix));
            }
        }
    }
}

fn push_binary(out: &mut String, mut whole: u64) {
    let mut suffixes = BINARY.iter();
    let mut suffix = "";
    while whole.is_multiple_of(1024)
        && let Some(next) = suffixes.next()
    {
        whole /= 1024;
        suffix = next;
    }
    let _ = write!(out, "{whole}{suffix}");
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn spellings_become_canonical() {
        let check = |text: &str, expected: &str| {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        };
        check("0", "0");
        check("0.0Gi", "0");
        check("1000m", "1");
        check("0.5", "500m");
        check("1.5", "1500m");
        check("1.5Gi", "1536Mi");
        check("1024Mi", "1Gi");
        check("1000Mi", "1000Mi");
        check("1000Ki", "1000Ki");
        check("8Gi", "8Gi");
        check("0.5Gi", "512Mi");
        check("0.5Ki", "512");
        check("0.001Ki", "1024m");
        check("1.0001Ki", "1024102400u");
        check("1e3", "1e3");
        check("1000e0", "1e3");
        check("100e1", "1e3");
        check("1e-1", "100e-3");
        check("-1500", "-1500");
        check("-0.5Gi", "-512Mi");
        check("128974848", "128974848");
        check("129e6", "129e6");
        check("129M", "129M");
        check("123000", "123k");
        check("100000000000000000000", "100E");
    }

    #[test]
    fn what_is_too_small_is_rounded_up() {
        let check = |text: &str, expected: &str| {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        };
        check("0.0000000001", "1n");
        check("1.0000000001", "1000000001n");
        check("0.9999999999", "1");
        check("-0.1n", "-1n");
        check("1e-10", "1e-9");
    }

    #[test]
    fn what_is_too_large_for_a_binary_suffix_is_cut() {
        let largest = Some("9223372036854775807");
        assert_eq!(canonical("8Ei").as_deref(), largest);
        assert_eq!(canonical("9223372036854775808Ki").as_deref(), largest);
        assert_eq!(canonical("99999999999999999999.5Gi").as_deref(), largest);
        assert_eq!(canonical("7Ei").as_deref(), Some("7Ei"));
    }

    #[test]
    fn some_spellings_are_kept() {
        for text in ["1.500", "+1", "01", "05Mi", "1E3", "1e+3", "250m", "1Gi", "3Ei"] {
            assert_eq!(canonical(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn other_texts_are_no_amounts() {
        for text in
            ["", "a", "1.2.3", "1 Gi", "1gi", "1KB", "e", "1e", "1e+", "0x10", "--1", "1Mi "]
        {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
