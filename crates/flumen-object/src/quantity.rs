//! Amounts such as `500m` and `1Gi`: read, compared, added, and printed in the one spelling that
//! Kubernetes prints.
//!
//! An amount remembers in which notation it was written: decimal suffixes, binary suffixes or an
//! exponent. Its canonical form has no fraction and the largest suffix that loses nothing. Amounts
//! have any number of digits, so they are kept as digits.

mod amount;
mod parts;

use std::{
    borrow::Cow,
    cmp::Ordering,
    fmt::{self, Write as _},
};

use amount::Amount;
use parts::Parts;
use thiserror::Error;

/// Why a text is no quantity, in the words of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantityError {
    #[error(
        "quantities must match the regular expression \
         '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    #[error("unable to parse numeric part of quantity")]
    Number,
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    Decimal,
    Exponent,
    Binary,
}

/// An amount with the notation in which it is printed. Comparisons are by value.
#[derive(Clone, Debug)]
pub struct Quantity {
    is_negative: bool,
    amount: Amount,
    notation: Notation,
}

impl Quantity {
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let mut amount = Amount::new(&parts).ok_or(QuantityError::Number)?;
        amount.multiply_by_power_of_two(parts.binary_power);
        amount.round_up();
        let mut quantity =
            Self { is_negative: parts.is_negative, amount, notation: parts.notation };
        if quantity.notation == Notation::Binary && quantity.amount.exceeds_i64() {
            quantity.amount = Amount::from(u128::from(i64::MAX.unsigned_abs()));
        }
        quantity.is_negative &= !quantity.is_zero();
        Ok(quantity)
    }

    /// The canonical spelling of a text. The reference repeats some spellings that are not canonical,
    /// such as `01` and `1.500`.
    pub fn canonical(text: &str) -> Result<Cow<'_, str>, QuantityError> {
        if Parts::split(text)?.is_kept() {
            return Ok(Cow::Borrowed(text));
        }
        Ok(Cow::Owned(Self::parse(text)?.to_string()))
    }

    pub fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }

    pub fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// Whether there is nothing behind the point.
    pub fn is_whole(&self) -> bool {
        self.amount.exponent() >= 0 || self.is_zero()
    }

    /// The value in units, rounded away from zero; at most what an integer of 64 bits holds.
    pub fn units(&self) -> i64 {
        self.scaled(0)
    }

    /// The value in thousandths, rounded away from zero; at most what an integer of 64 bits holds.
    pub fn milli(&self) -> i64 {
        self.scaled(-3)
    }

    /// The value rounded away from zero to thousandths; none if it is one already.
    pub fn rounded_to_milli(&self) -> Option<Self> {
        let amount = self.amount.rounded_up_to(-3)?;
        Some(Self { amount, ..self.clone() })
    }

    fn scaled(&self, exponent: i64) -> i64 {
        let magnitude = self.amount.scaled(exponent).unwrap_or(i128::MAX);
        let value = if self.is_negative { -magnitude } else { magnitude };
        i64::try_from(value).unwrap_or(if self.is_negative { i64::MIN } else { i64::MAX })
    }

    /// The sum, in the notation of `self` unless that is zero. Sums beyond 10²⁰ are cut.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = self.nano().saturating_add(other.nano());
        let notation = if self.is_zero() { other.notation } else { self.notation };
        Self { is_negative: sum < 0, amount: Amount::from_nano(sum.unsigned_abs()), notation }
    }

    /// The difference, in the notation of `self` unless that is zero. Differences beyond 10²⁰ are
    /// cut.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut negated = other.clone();
        negated.is_negative = !other.is_negative && !other.is_zero();
        self.plus(&negated)
    }

    fn nano(&self) -> i128 {
        let magnitude = self.amount.scaled(amount::NANO).unwrap_or(i128::MAX);
        if self.is_negative { -magnitude } else { magnitude }
    }
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Self {
        let amount = Amount::from(u128::from(value.unsigned_abs()));
        Self { is_negative: value < 0, amount, notation: Notation::Decimal }
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.amount.cmp(&other.amount),
            (true, true) => other.amount.cmp(&self.amount),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_char('0');
        }
        if self.is_negative {
            f.write_char('-')?;
        }
        match self.notation {
            Notation::Binary => match self.amount.binary() {
                Some(whole) => parts::write_binary(f, whole),
                None => self.amount.write_decimal(f, Notation::Decimal),
            },
            notation => self.amount.write_decimal(f, notation),
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
