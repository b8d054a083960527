//! Quantities, to be compared. They come in their canonical form.

use std::fmt;

use serde_json::Value;

/// A number of billionths, the finest that the server keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const UNIT: i128 = 1_000_000_000;

impl Quantity {
    pub(crate) const ZERO: Self = Self(0);

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::parse(text).unwrap_or_default(),
            Value::Number(number) => Self::parse(&number.to_string()).unwrap_or_default(),
            _ => Self::ZERO,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-'));
        let (number, suffix) = text.split_at(digits.unwrap_or(text.len()));
        let (sign, number) = match number.strip_prefix('-') {
            Some(number) => (-1, number),
            None => (1, number.strip_prefix('+').unwrap_or(number)),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut value: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        value = value.checked_mul(UNIT)?;
        let mut place = UNIT;
        for digit in fraction.chars() {
            place /= 10;
            value += i128::from(digit.to_digit(10)?) * place;
        }
        let (multiply, divide) = scale(suffix)?;
        value.checked_mul(multiply).map(|value| Self(sign * value / divide))
    }

    /// The next whole number, away from zero.
    pub(crate) fn ceiling(self) -> i128 {
        self.0.div_euclid(UNIT) + i128::from(self.0.rem_euclid(UNIT) != 0 && self.0 > 0)
    }

    /// Whether it is whole when it is rounded up to thousandths.
    pub(crate) fn is_integer(self) -> bool {
        let thousandth = UNIT / 1000;
        let rounded =
            self.0.div_euclid(thousandth) + i128::from(self.0.rem_euclid(thousandth) != 0);
        rounded % 1000 == 0
    }

    #[expect(clippy::cast_precision_loss, reason = "ratios are shown with six digits")]
    pub(crate) fn ratio(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }

    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Only sums are printed; what was sent is shown as it was written.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % UNIT == 0 {
            return write!(f, "{}", self.0 / UNIT);
        }
        write!(f, "{}m", self.0 / (UNIT / 1000))
    }
}

fn scale(suffix: &str) -> Option<(i128, i128)> {
    let binary = |power: u32| 1_i128.checked_shl(10 * power);
    Some(match suffix {
        "" => (1, 1),
        "n" => (1, 1_000_000_000),
        "u" => (1, 1_000_000),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (1_000_000, 1),
        "G" => (1_000_000_000, 1),
        "T" => (1_000_000_000_000, 1),
        "P" => (1_000_000_000_000_000, 1),
        "E" => (1_000_000_000_000_000_000, 1),
        "Ki" => (binary(1)?, 1),
        "Mi" => (binary(2)?, 1),
        "Gi" => (binary(3)?, 1),
        "Ti" => (binary(4)?, 1),
        "Pi" => (binary(5)?, 1),
        "Ei" => (binary(6)?, 1),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let ten = 10_i128.checked_pow(power.unsigned_abs())?;
            if power < 0 { (1, ten) } else { (ten, 1) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[track_caller]
    fn check_equal(left: &str, right: &str) {
        assert_eq!(Quantity::parse(left), Quantity::parse(right));
        assert!(Quantity::parse(left).is_some());
    }

    #[test]
    fn suffixes_scale() {
        check_equal("1", "1000m");
        check_equal("1Ki", "1024");
        check_equal("1.5k", "1500");
        check_equal("-1e3", "-1000");
        assert_eq!(Quantity::parse("1x"), None);
    }

    #[test]
    fn whole_numbers_are_known() {
        assert!(Quantity::parse("3").is_some_and(Quantity::is_integer));
        assert!(Quantity::parse("1500m").is_some_and(|q| !q.is_integer() && q.ceiling() == 2));
    }
}
