//! Positive decimal numbers of any length.

use std::{
    cmp::Ordering,
    fmt::{self, Write as _},
};

use super::{
    Notation,
    parts::{Parts, decimal_suffix},
};

/// The smallest power of ten that is kept; what is below is rounded away from zero.
pub(super) const NANO: i64 = -9;

/// Digits, most significant first and without zeros at either end, and the power of ten of the last
/// one. Zero has no digits.
#[derive(Clone, Debug)]
pub(super) struct Amount {
    digits: Vec<u8>,
    exponent: i64,
}

impl Amount {
    /// None if there are no digits where the reference needs some.
    pub(super) fn new(parts: &Parts<'_>) -> Option<Self> {
        if !parts.has_digits && !parts.is_short() {
            return None;
        }
        let digits = parts.whole.bytes().chain(parts.fraction.bytes());
        let digits = digits.map(|digit| digit - b'0').skip_while(|digit| *digit == 0).collect();
        Some(Self { digits, exponent: parts.scale() })
    }

    pub(super) fn from_nano(value: u128) -> Self {
        let mut amount = Self::from(value);
        amount.exponent += NANO;
        amount
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn exponent(&self) -> i64 {
        self.exponent
    }

    pub(super) fn multiply_by_power_of_two(&mut self, power: u8) {
        let factor = 1_u128 << power;
        let mut carry = 0;
        for digit in self.digits.iter_mut().rev() {
            let product = u128::from(*digit) * factor + carry;
            *digit = u8::try_from(product % 10).unwrap_or_default();
            carry = product / 10;
        }
        self.digits.splice(0..0, digits(carry));
    }

    /// Drops what is too small, rounding up, and then the zeros at the end.
    pub(super) fn round_up(&mut self) {
        self.round_up_to(NANO);
        self.trim();
    }

    /// The amount in units of a power of ten; none if it is whole in them.
    pub(super) fn rounded_up_to(&self, exponent: i64) -> Option<Self> {
        (self.exponent < exponent && !self.is_zero()).then(|| {
            let mut rounded = self.clone();
            rounded.round_up_to(exponent);
            rounded.trim();
            rounded
        })
    }

    fn round_up_to(&mut self, exponent: i64) {
        let excess = usize::try_from(exponent.saturating_sub(self.exponent)).unwrap_or(0);
        if excess > 0 {
            let kept = self.digits.len().saturating_sub(excess);
            let is_exact = self.digits.drain(kept..).all(|digit| digit == 0);
            self.exponent = exponent;
            if !is_exact {
                self.increment();
            }
        }
    }

    fn trim(&mut self) {
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

    /// The number of digits before the point; negative if there are zeros behind it.
    fn magnitude(&self) -> i64 {
        i64::try_from(self.digits.len()).unwrap_or(i64::MAX).saturating_add(self.exponent)
    }

    /// The value in units of a power of ten, rounded up. None if it does not fit.
    pub(super) fn scaled(&self, exponent: i64) -> Option<i128> {
        let length = self.magnitude().saturating_sub(exponent);
        if length > 38 {
            return None;
        }
        let length = usize::try_from(length).unwrap_or(0);
        let digits = self.digits.iter().copied().chain(std::iter::repeat(0)).take(length);
        let whole = digits.fold(0, |whole: i128, digit| whole * 10 + i128::from(digit));
        let is_exact = self.exponent >= exponent || self.is_zero();
        Some(whole + i128::from(!is_exact))
    }

    pub(super) fn exceeds_i64(&self) -> bool {
        self.scaled(0).is_none_or(|whole| whole > i128::from(i64::MAX))
    }

    /// The amount for a binary suffix. None if it has a fraction, or is too small for any.
    pub(super) fn binary(&self) -> Option<u64> {
        let whole = self.scaled(0).and_then(|whole| u64::try_from(whole).ok())?;
        (whole >= 1024 && self.exponent >= 0).then_some(whole)
    }

    pub(super) fn write_decimal(
        &self,
        f: &mut fmt::Formatter<'_>,
        notation: Notation,
    ) -> fmt::Result {
        // Powers of ten are those of a thousand.
        let zeros = self.exponent.rem_euclid(3);
        let exponent = self.exponent - zeros;
        for digit in &self.digits {
            f.write_char(char::from(digit + b'0'))?;
        }
        for _ in 0..zeros {
            f.write_char('0')?;
        }
        match notation {
            Notation::Exponent if exponent == 0 => Ok(()),
            Notation::Exponent => write!(f, "e{exponent}"),
            _ => f.write_str(decimal_suffix(exponent)),
        }
    }

    pub(super) fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => {
                let magnitude = self.magnitude().cmp(&other.magnitude());
                magnitude.then_with(|| self.digits.cmp(&other.digits))
            }
        }
    }
}

impl From<u128> for Amount {
    fn from(value: u128) -> Self {
        let mut amount = Self { digits: digits(value), exponent: 0 };
        amount.trim();
        amount
    }
}

fn digits(mut value: u128) -> Vec<u8> {
    let mut digits = Vec::new();
    while value > 0 {
        digits.push(u8::try_from(value % 10).unwrap_or_default());
        value /= 10;
    }
    digits.reverse();
    digits
}
