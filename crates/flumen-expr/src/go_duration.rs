//! Durations as Go reads and prints them: `1m30s`, `1.5h`, `250ms`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A duration in the notation of Go that is never negative, as fields of objects are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoDuration(pub Duration);

/// Reason why a text is no duration, in Go's words. A [`GoDuration`] is none below zero, either.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDuration {
    #[error("time: invalid duration {0:?}")]
    Malformed(String),
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit { unit: String, text: String },
}

impl From<Duration> for GoDuration {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<GoDuration> for Duration {
    fn from(duration: GoDuration) -> Self {
        duration.0
    }
}

impl FromStr for GoDuration {
    type Err = InvalidDuration;

    fn from_str(text: &str) -> Result<Self, InvalidDuration> {
        if text.starts_with('-') {
            return Err(InvalidDuration::Malformed(text.to_owned()));
        }
        Ok(Self(Duration::from_nanos(parse_go_duration(text)?.unsigned_abs())))
    }
}

/// Returns the nanoseconds of a duration with a sign.
pub fn parse_go_duration(text: &str) -> Result<i64, InvalidDuration> {
    let malformed = || InvalidDuration::Malformed(text.to_owned());
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(malformed());
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let (whole, behind) = digits(rest);
        let (fraction, behind) = behind.strip_prefix('.').map_or(("", behind), digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(malformed());
        }
        let end = behind.find(|c: char| c == '.' || c.is_ascii_digit());
        let (unit, behind) = behind.split_at(end.unwrap_or(behind.len()));
        if unit.is_empty() {
            return Err(InvalidDuration::MissingUnit(text.to_owned()));
        }
        let scale = nanoseconds(unit).ok_or_else(|| InvalidDuration::UnknownUnit {
            unit: unit.to_owned(),
            text: text.to_owned(),
        })?;
        sum = part(whole, fraction, scale)
            .and_then(|part| sum.checked_add(part))
            .filter(|sum| *sum <= i64::MIN.unsigned_abs())
            .ok_or_else(malformed)?;
        rest = behind;
    }
    i64::try_from(i128::from(sum) * sign).map_err(|_| malformed())
}

/// Splits off the digits at the beginning.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // Both of the letters that look like this one.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Nanoseconds of `whole.fraction` units; fractions of a nanosecond are dropped.
fn part(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    let number: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More digits than these mean nothing in nanoseconds, whatever the unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let mut rest: u128 = 0;
    let mut one: u128 = 1;
    for digit in fraction.bytes() {
        rest = rest * 10 + u128::from(digit - b'0');
        one *= 10;
    }
    let rest = u64::try_from(rest * u128::from(scale) / one).ok()?;
    number.checked_mul(scale)?.checked_add(rest)
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.subsec_nanos();
        let (hours, minutes) = (self.0.as_secs() / 3600, self.0.as_secs() / 60 % 60);
        let seconds = decimal(self.0.as_secs() % 60, nanoseconds, 9);
        match (hours, minutes) {
            (0, 0) if self.0.as_secs() > 0 || nanoseconds == 0 => write!(f, "{seconds}s"),
            (0, 0) if nanoseconds >= 1_000_000 => {
                let (whole, rest) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000);
                write!(f, "{}ms", decimal(whole.into(), rest, 6))
            }
            (0, 0) if nanoseconds >= 1_000 => {
                let (whole, rest) = (nanoseconds / 1_000, nanoseconds % 1_000);
                write!(f, "{}µs", decimal(whole.into(), rest, 3))
            }
            (0, 0) => write!(f, "{nanoseconds}ns"),
            (0, _) => write!(f, "{minutes}m{seconds}s"),
            _ => write!(f, "{hours}h{minutes}m{seconds}s"),
        }
    }
}

/// A number with `digits` places behind the point, without the zeros at its end.
fn decimal(whole: u64, fraction: u32, digits: usize) -> String {
    let text = format!("{whole}.{fraction:0digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_read(text: &str, expected: Duration) {
        assert_eq!(text.parse(), Ok(GoDuration(expected)));
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        let error = text.parse::<GoDuration>().expect_err("this is not a duration");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn durations_are_read_as_go_reads_them() {
        check_read("1m30s", Duration::from_secs(90));
        check_read("1.5h", Duration::from_mins(90));
        check_read("10m0s", Duration::from_mins(10));
        check_read("+.5s", Duration::from_millis(500));
        check_read("1.s", Duration::from_secs(1));
        check_read("0", Duration::ZERO);
        check_read("100us2µs3μs4ns", Duration::from_nanos(105_004));
        check_read("0.0000000000000000000000001h", Duration::ZERO);
        check_read("9.007199254740993ms", Duration::from_nanos(9_007_199));
        check_read("9223372036854775807ns", Duration::from_nanos(u64::MAX / 2));
    }

    #[test]
    fn what_go_refuses_is_refused_with_its_words() {
        check_refused("", r#"time: invalid duration """#);
        check_refused("soon", r#"time: invalid duration "soon""#);
        check_refused("-1s", r#"time: invalid duration "-1s""#);
        check_refused(".s", r#"time: invalid duration ".s""#);
        check_refused("5", r#"time: missing unit in duration "5""#);
        check_refused("1d", r#"time: unknown unit "d" in duration "1d""#);
        check_refused("1 m", r#"time: unknown unit " m" in duration "1 m""#);
        check_refused("3000000h", r#"time: invalid duration "3000000h""#);
        check_refused("99999999999999999999s", r#"time: invalid duration "99999999999999999999s""#);
    }

    #[test]
    fn a_sign_is_read_where_it_is_allowed() {
        assert_eq!(parse_go_duration("-1.5h"), Ok(-5_400_000_000_000));
        assert_eq!(parse_go_duration("+1m"), Ok(60_000_000_000));
        assert_eq!(parse_go_duration("-0"), Ok(0));
        assert_eq!(parse_go_duration("-9223372036854775808ns"), Ok(i64::MIN));
        for text in ["", "-", "+", "+-1s", "--1s", "9223372036854775808ns"] {
            assert!(parse_go_duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn durations_are_written_as_go_writes_them() {
        let check = |nanoseconds: u64, expected: &str| {
            assert_eq!(GoDuration(Duration::from_nanos(nanoseconds)).to_string(), expected);
        };
        check(0, "0s");
        check(7, "7ns");
        check(1_500, "1.5µs");
        check(250_000_000, "250ms");
        check(1_000_000_001, "1.000000001s");
        check(10_000_000_000, "10s");
        check(60_000_000_000, "1m0s");
        check(3_600_000_000_000, "1h0m0s");
        check(90_061_500_000_000, "25h1m1.5s");
    }
}
