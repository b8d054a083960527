//! Times as Go's RFC 3339 layouts read and print them: in UTC, in seconds or microseconds.

use flumen_yaml::Node;
use jiff::{
    civil::{DateTime, datetime},
    tz::Offset,
};

/// How exact a kind of time is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// Read with any fraction, printed without.
    Seconds,
    /// Read and printed with exactly six digits.
    Microseconds,
}

/// The canonical form of a time: null for the zero time of Go. Nothing if the text is no time.
pub(super) fn canonical(text: &str, precision: Precision) -> Option<Node> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.digits(4)?;
    rest.skip(b'-')?;
    let month = rest.two_digits()?;
    rest.skip(b'-')?;
    let day = rest.two_digits()?;
    rest.skip(b'T')?;
    // The one number for which the layout of Go takes a single digit.
    let hour = rest.two_digits().or_else(|| rest.small(1))?;
    rest.skip(b':')?;
    let minute = rest.two_digits()?;
    rest.skip(b':')?;
    // A leap second is none to Go.
    let second = rest.two_digits().filter(|second| *second < 60)?;
    let nanosecond = rest.fraction(precision)?;
    let offset = rest.zone()?;
    if !rest.0.is_empty() {
        return None;
    }
    let local =
        DateTime::new(i16::try_from(year).ok()?, month, day, hour, minute, second, nanosecond);
    let utc = Offset::UTC.to_datetime(offset.to_timestamp(local.ok()?).ok()?);
    if utc == datetime(1, 1, 1, 0, 0, 0, 0) {
        return Some(Node::null());
    }
    let layout = match precision {
        Precision::Seconds => "%Y-%m-%dT%H:%M:%SZ",
        Precision::Microseconds => "%Y-%m-%dT%H:%M:%S.%6fZ",
    };
    Some(Node::string(utc.strftime(layout).to_string()))
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn skip(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// Exactly so many digits.
    fn digits(&mut self, count: usize) -> Option<i32> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let value = digits.iter().try_fold(0, |value, digit| {
            digit.is_ascii_digit().then(|| value * 10 + i32::from(digit - b'0'))
        })?;
        self.0 = rest;
        Some(value)
    }

    fn small(&mut self, count: usize) -> Option<i8> {
        self.digits(count).and_then(|value| i8::try_from(value).ok())
    }

    fn two_digits(&mut self) -> Option<i8> {
        self.small(2)
    }

    /// The nanoseconds after a point or a comma. Only seconds may go without, and may have any
    /// number of digits, of which the first nine count.
    fn fraction(&mut self, precision: Precision) -> Option<i32> {
        if precision == Precision::Microseconds {
            self.0 = self.0.strip_prefix(b".").or_else(|| self.0.strip_prefix(b","))?;
            return self.digits(6).map(|value| value * 1000);
        }
        let [b'.' | b',', digits @ ..] = self.0 else { return Some(0) };
        let count = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if count == 0 {
            return Some(0);
        }
        let (fraction, rest) = digits.split_at(count);
        self.0 = rest;
        let padded = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(9);
        Some(padded.fold(0, |value, digit| value * 10 + i32::from(digit - b'0')))
    }

    fn zone(&mut self) -> Option<Offset> {
        if self.skip(b'Z').is_some() {
            return Some(Offset::UTC);
        }
        let sign = if self.skip(b'+').is_some() { 1 } else { self.skip(b'-').map(|()| -1)? };
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        self.skip(b':')?;
        let minutes = self.digits(2).filter(|minutes| *minutes <= 60)?;
        Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Precision::{self, Microseconds, Seconds},
        canonical,
    };

    #[track_caller]
    fn check(precision: Precision, text: &str, expected: &str) {
        let time = canonical(text, precision).expect("a time");
        assert_eq!(time.as_str(), Some(expected));
    }

    #[test]
    fn seconds_are_in_utc_without_fraction() {
        check(Seconds, "2024-02-29T12:30:00Z", "2024-02-29T12:30:00Z");
        check(Seconds, "2024-02-29T23:30:00-01:30", "2024-03-01T01:00:00Z");
        check(Seconds, "2024-01-01T00:00:00.999999999999Z", "2024-01-01T00:00:00Z");
        check(Seconds, "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00Z");
        check(Seconds, "2024-01-01T1:02:03Z", "2024-01-01T01:02:03Z");
        check(Seconds, "0001-01-01T00:00:00.5Z", "0001-01-01T00:00:00Z");
    }

    #[test]
    fn microseconds_have_six_digits() {
        let expected = "2024-01-01T00:00:00.000001Z";
        check(Microseconds, "2024-01-01T02:00:00.000001+02:00", expected);
        for fraction in ["", ".", ".123", ".1234567"] {
            let text = format!("2024-01-01T00:00:00{fraction}Z");
            assert!(canonical(&text, Microseconds).is_none(), "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_null() {
        let zero = |text, precision| canonical(text, precision).is_some_and(|time| time.is_null());
        assert!(zero("0001-01-01T00:00:00Z", Seconds));
        assert!(zero("0001-01-01T01:00:00.000000+01:00", Microseconds));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "2024-01-01",
            "2024-01-01 00:00:00Z",
            "2024-01-01t00:00:00Z",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00z",
            "2024-01-01T00:00:60Z",
            "2024-01-01T24:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+0100",
            "2024-01-01T00:00:00Z ",
        ] {
            assert!(canonical(text, Seconds).is_none(), "{text}");
        }
    }
}
