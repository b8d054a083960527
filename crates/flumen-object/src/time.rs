//! Times as Go's RFC 3339 layouts read and print them: in UTC, in seconds or microseconds.

use jiff::{
    civil::{DateTime, datetime},
    tz::Offset,
};
use thiserror::Error;

/// How exact a kind of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Read with any fraction, printed without.
    Seconds,
    /// Read and printed with exactly six digits.
    Microseconds,
}

/// Why a text is no time, in the words of Go.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimeError {
    #[error("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}")]
    Syntax { text: String, layout: &'static str, rest: String, element: &'static str },
    #[error("parsing time {text:?}: {part} out of range")]
    Range { text: String, part: &'static str },
    #[error("parsing time {text:?}: extra text: {rest:?}")]
    Extra { text: String, rest: String },
}

/// The canonical form of a time. None for the zero time of Go, which is printed as null.
pub fn canonical_time(text: &str, precision: Precision) -> Result<Option<String>, TimeError> {
    let mut rest = Rest(text.as_bytes());
    let (local, offset) = rest.read(precision).map_err(|fault| fault.error(text, precision))?;
    if !rest.0.is_empty() {
        return Err(TimeError::Extra { text: text.to_owned(), rest: rest.to_string() });
    }
    let range = |part| TimeError::Range { text: text.to_owned(), part };
    let local = local.ok_or_else(|| range("day"))?;
    let utc = offset.to_timestamp(local).map_err(|_| range("year"))?;
    let utc = Offset::UTC.to_datetime(utc);
    if utc == datetime(1, 1, 1, 0, 0, 0, 0) {
        return Ok(None);
    }
    let layout = match precision {
        Precision::Seconds => "%Y-%m-%dT%H:%M:%SZ",
        Precision::Microseconds => "%Y-%m-%dT%H:%M:%S.%6fZ",
    };
    Ok(Some(utc.strftime(layout).to_string()))
}

/// What Go complains about, before it is put into words.
enum Fault {
    /// The element of the layout, and where it was looked for: bytes from the end.
    Syntax(&'static str, String),
    Range(&'static str),
}

impl Fault {
    fn error(self, text: &str, precision: Precision) -> TimeError {
        let text = text.to_owned();
        let layout = match precision {
            Precision::Seconds => "2006-01-02T15:04:05Z07:00",
            Precision::Microseconds => "2006-01-02T15:04:05.000000Z07:00",
        };
        match self {
            Self::Syntax(element, rest) => TimeError::Syntax { text, layout, rest, element },
            Self::Range(part) => TimeError::Range { text, part },
        }
    }
}

type Read<T> = Result<T, Fault>;

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// The local time, unless its month has no such day, and how far it is from UTC.
    fn read(&mut self, precision: Precision) -> Read<(Option<DateTime>, Offset)> {
        let year = self.digits(4, "2006")?;
        self.skip(b'-', "-")?;
        let month = self.number(2, "01", "month", 1..=12)?;
        self.skip(b'-', "-")?;
        let day = self.number(2, "02", "day", 0..=99)?;
        self.skip(b'T', "T")?;
        // The one number for which the layout of Go takes a single digit.
        let is_long = self.0.get(1).is_some_and(u8::is_ascii_digit);
        let hour = self.number(if is_long { 2 } else { 1 }, "15", "hour", 0..=23)?;
        self.skip(b':', ":")?;
        let minute = self.number(2, "04", "minute", 0..=59)?;
        self.skip(b':', ":")?;
        let second = self.number(2, "05", "second", 0..=59)?;
        let nanosecond = self.fraction(precision)?;
        let offset = self.zone()?;
        let year = i16::try_from(year).unwrap_or_default();
        let local = DateTime::new(year, month, day, hour, minute, second, nanosecond).ok();
        Ok((local, offset))
    }

    fn fault(&self, element: &'static str) -> Fault {
        Fault::Syntax(element, self.to_string())
    }

    fn skip(&mut self, byte: u8, element: &'static str) -> Read<()> {
        self.0 = self.0.strip_prefix(&[byte]).ok_or_else(|| self.fault(element))?;
        Ok(())
    }

    /// Exactly so many digits.
    fn digits(&mut self, count: usize, element: &'static str) -> Read<i32> {
        let found = self.0.split_at_checked(count).and_then(|(digits, rest)| {
            let value = digits.iter().try_fold(0, |value, digit| {
                digit.is_ascii_digit().then(|| value * 10 + i32::from(digit - b'0'))
            });
            Some((value?, rest))
        });
        let (value, rest) = found.ok_or_else(|| self.fault(element))?;
        self.0 = rest;
        Ok(value)
    }

    fn number(
        &mut self,
        count: usize,
        element: &'static str,
        part: &'static str,
        range: std::ops::RangeInclusive<i8>,
    ) -> Read<i8> {
        let value = i8::try_from(self.digits(count, element)?).unwrap_or(i8::MAX);
        if range.contains(&value) { Ok(value) } else { Err(Fault::Range(part)) }
    }

    /// The nanoseconds after a point or a comma. Only seconds may go without, and may have any
    /// number of digits, of which the first nine count.
    fn fraction(&mut self, precision: Precision) -> Read<i32> {
        if precision == Precision::Microseconds {
            let whole = self.0;
            let element = ".000000";
            let [b'.' | b',', digits @ ..] = self.0 else { return Err(self.fault(element)) };
            self.0 = digits;
            return self.digits(6, element).map(|value| value * 1000).map_err(|_| {
                self.0 = whole;
                self.fault(element)
            });
        }
        let [b'.' | b',', digits @ ..] = self.0 else { return Ok(0) };
        let count = digits.iter().take_while(|digit| digit.is_ascii_digit()).count();
        if count == 0 {
            return Ok(0);
        }
        let (fraction, rest) = digits.split_at(count);
        self.0 = rest;
        let padded = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(9);
        Ok(padded.fold(0, |value, digit| value * 10 + i32::from(digit - b'0')))
    }

    fn zone(&mut self) -> Read<Offset> {
        const ELEMENT: &str = "Z07:00";
        if let [b'Z', rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(Offset::UTC);
        }
        let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2, rest @ ..] = self.0 else {
            return Err(self.fault(ELEMENT));
        };
        let hours = Rest(&[*h1, *h2]).digits(2, ELEMENT).map_err(|_| self.fault(ELEMENT))?;
        let minutes = Rest(&[*m1, *m2]).digits(2, ELEMENT).map_err(|_| self.fault(ELEMENT))?;
        if hours > 24 {
            return Err(Fault::Range("time zone offset hour"));
        }
        if minutes > 60 {
            return Err(Fault::Range("time zone offset minute"));
        }
        self.0 = rest;
        let seconds = hours * 3600 + minutes * 60;
        let seconds = if *sign == b'-' { -seconds } else { seconds };
        Offset::from_seconds(seconds).map_err(|_| Fault::Range("time zone offset hour"))
    }
}

impl std::fmt::Display for Rest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Precision::{self, Microseconds, Seconds},
        canonical_time,
    };

    #[track_caller]
    fn check(precision: Precision, text: &str, expected: &str) {
        let time = canonical_time(text, precision).expect("a time");
        assert_eq!(time.as_deref(), Some(expected));
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
            assert!(canonical_time(&text, Microseconds).is_err(), "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_null() {
        let zero = |text, precision| canonical_time(text, precision) == Ok(None);
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
            assert!(canonical_time(text, Seconds).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_are_those_of_go() {
        let check = |text: &str, expected: &str| {
            let error = canonical_time(text, Seconds).expect_err("is no time");
            assert_eq!(error.to_string(), expected);
        };
        let layout = "2006-01-02T15:04:05Z07:00";
        check("x", &format!(r#"parsing time "x" as "{layout}": cannot parse "x" as "2006""#));
        check(
            "2024-01-01",
            &format!(r#"parsing time "2024-01-01" as "{layout}": cannot parse "" as "T""#),
        );
        check("2024-13-01T00:00:00Z", r#"parsing time "2024-13-01T00:00:00Z": month out of range"#);
        check("2023-02-29T00:00:00Z", r#"parsing time "2023-02-29T00:00:00Z": day out of range"#);
        check("2024-01-01T00:00:00Zx", r#"parsing time "2024-01-01T00:00:00Zx": extra text: "x""#);
    }
}
