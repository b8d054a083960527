//! Numbers on their way through JSON.

use std::fmt;

use flumen_yaml::int_value;

/// The value of a scalar that is a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(value) = int_value(text) {
            return Some(Self::Int(value));
        }
        let unsigned = text.trim_start_matches(['+', '-']);
        if unsigned.eq_ignore_ascii_case(".nan") {
            return Some(Self::Float(f64::NAN));
        }
        if unsigned.eq_ignore_ascii_case(".inf") {
            let negative = text.starts_with('-');
            return Some(Self::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        text.replace('_', "").parse().ok().map(Self::Float)
    }

    /// The integer that JSON would show; `1e3` is one, `1.5` is not.
    pub(super) fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int(value) => i64::try_from(value).ok(),
            // Below this JSON has no exponent, and only numbers that fit have no more digits.
            Self::Float(value) if value.fract() == 0.0 && value.abs() < 1e21 => {
                format!("{value:.0}").parse().ok()
            }
            Self::Float(_) => None,
        }
    }

    pub(super) fn is_finite(self) -> bool {
        matches!(self, Self::Int(_)) || matches!(self, Self::Float(value) if value.is_finite())
    }

    /// The string that a number becomes where one is wanted: at most the digits of a 32-bit float.
    #[expect(clippy::cast_possible_truncation, reason = "that is the rule")]
    pub(super) fn to_text(self) -> String {
        match self {
            Self::Int(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => "NaN".to_owned(),
            Self::Float(value) if value as f32 == f32::INFINITY => "+Inf".to_owned(),
            Self::Float(value) if value as f32 == f32::NEG_INFINITY => "-Inf".to_owned(),
            Self::Float(value) => {
                let value = value as f32;
                let scientific = format!("{value:e}");
                let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
                let power: i32 = power.parse().unwrap_or(0);
                // Shortest digits, with an exponent from a million on.
                if value == 0.0 || (-4..6).contains(&power) {
                    value.to_string()
                } else {
                    format!("{mantissa}e{power:+03}")
                }
            }
        }
    }
}

/// As JSON writes it.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) if (1e-6..1e21).contains(&value.abs()) => write!(f, "{value}"),
            Self::Float(value) => {
                let text = format!("{value:e}");
                let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
                let sign = if power.starts_with('-') { "" } else { "+" };
                write!(f, "{mantissa}e{sign}{power}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The integer, the JSON text and the string that a number becomes.
    #[track_caller]
    fn check(text: &str, integer: Option<i64>, json: &str, string: &str) {
        let number = Number::parse(text).expect("a number");
        assert_eq!(number.as_i64(), integer, "{text} as an integer");
        assert_eq!(number.to_string(), json, "{text} as JSON");
        assert_eq!(number.to_text(), string, "{text} as a string");
    }

    #[test]
    fn numbers_pass_through_json() {
        check("0x10", Some(16), "16", "16");
        check("-7", Some(-7), "-7", "-7");
        check("1.10", None, "1.1", "1.1");
        check("3.0", Some(3), "3", "3");
        check("1e6", Some(1_000_000), "1000000", "1e+06");
        check("1e-7", None, "1e-7", "1e-07");
        check("99999999999999999999", None, "100000000000000000000", "1e+20");
        check("1e30", None, "1e+30", "1e+30");
        check("3.14159265358979", None, "3.14159265358979", "3.1415927");
    }

    #[test]
    fn infinities_are_not_json() {
        assert!(!Number::parse("-.Inf").expect("a number").is_finite());
        assert!(!Number::parse(".nan").expect("a number").is_finite());
        assert_eq!(Number::parse("1.2.3"), None);
    }
}
