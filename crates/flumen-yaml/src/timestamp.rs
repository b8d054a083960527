//! Timestamps, which go-yaml recognises in plain scalars and prints in one form only.

use std::{fmt::Write as _, ops::RangeInclusive};

/// A moment as it was written; the zone is kept, not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamp {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    nanosecond: u32,
    /// Minutes east of Greenwich.
    offset: i32,
}

impl Timestamp {
    /// Reads the four forms that go-yaml knows: a date, a date and a time without zone, and the
    /// RFC 3339 form with `T` or `t`. All but the year may have one digit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (year, rest) = text.as_bytes().split_at_checked(4)?;
        if !year.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let year = year.iter().fold(0, |year, digit| year * 10 + u16::from(digit - b'0'));
        let mut rest = Rest(rest);
        rest.literal(b'-')?;
        let month = rest.number(1..=12)?;
        rest.literal(b'-')?;
        let day = rest.number(1..=days_in(month, year))?;
        let date =
            Self { year, month, day, hour: 0, minute: 0, second: 0, nanosecond: 0, offset: 0 };
        let zoned = match rest.0 {
            [] => return Some(date),
            [b'T' | b't', time @ ..] => {
                rest = Rest(time);
                true
            }
            [b' ', time @ ..] => {
                rest = Rest(time);
                while rest.literal(b' ').is_some() {}
                false
            }
            _ => return None,
        };
        let hour = rest.number(0..=23)?;
        rest.literal(b':')?;
        let minute = rest.number(0..=59)?;
        rest.literal(b':')?;
        let second = rest.number(0..=59)?;
        let nanosecond = rest.fraction();
        let offset = if zoned { rest.zone()? } else { 0 };
        rest.0.is_empty().then_some(Self { hour, minute, second, nanosecond, offset, ..date })
    }

    /// The RFC 3339 form, which has no place for a zone of a day or more.
    pub(crate) fn rfc3339(&self) -> Option<String> {
        let Self { year, month, day, hour, minute, second, .. } = self;
        let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        if self.nanosecond != 0 {
            let fraction = format!("{:09}", self.nanosecond);
            text.push('.');
            text.push_str(fraction.trim_end_matches('0'));
        }
        if self.offset == 0 {
            text.push('Z');
            return Some(text);
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (self.offset.abs() / 60, self.offset.abs() % 60);
        write!(text, "{sign}{hours:02}:{minutes:02}").ok()?;
        (hours < 24).then_some(text)
    }
}

fn days_in(month: u8, year: u16) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn literal(&mut self, byte: u8) -> Option<()> {
        let (&first, rest) = self.0.split_first()?;
        (first == byte).then(|| self.0 = rest)
    }

    /// A number of one or two digits.
    fn number(&mut self, range: RangeInclusive<u8>) -> Option<u8> {
        let (number, rest) = match self.0 {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
                ((tens - b'0') * 10 + (ones - b'0'), rest)
            }
            [digit @ b'0'..=b'9', rest @ ..] => (digit - b'0', rest),
            _ => return None,
        };
        self.0 = rest;
        range.contains(&number).then_some(number)
    }

    fn two_digits(&mut self, range: RangeInclusive<u8>) -> Option<u8> {
        self.0.get(1)?.is_ascii_digit().then_some(())?;
        self.number(range)
    }

    /// An optional fraction in nanoseconds; digits beyond the ninth are dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', rest @ ..] = self.0 else { return 0 };
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        let (digits, rest) = rest.split_at(count);
        self.0 = rest;
        let digits = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
        digits.fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    }

    fn zone(&mut self) -> Option<i32> {
        if self.literal(b'Z').is_some() {
            return Some(0);
        }
        let (&sign, rest) = self.0.split_first()?;
        self.0 = rest;
        let hours = self.two_digits(0..=24)?;
        self.literal(b':')?;
        let minutes = self.two_digits(0..=60)?;
        let offset = i32::from(hours) * 60 + i32::from(minutes);
        match sign {
            b'+' => Some(offset),
            b'-' => Some(-offset),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_normalised() {
        let check = |text: &str, expected: Option<&str>| {
            let printed = Timestamp::parse(text).and_then(|time| time.rfc3339());
            assert_eq!(printed.as_deref(), expected, "{text}");
        };
        check("2001-01-01", Some("2001-01-01T00:00:00Z"));
        check("2001-1-1T1:2:3.1234567890123Z", Some("2001-01-01T01:02:03.123456789Z"));
        check("2001-1-1t1:2:3,5+05:30", Some("2001-01-01T01:02:03.5+05:30"));
        check("2001-01-01    10:20:30", Some("2001-01-01T10:20:30Z"));
        check("2001-01-01T10:20:30-00:00", Some("2001-01-01T10:20:30Z"));
        check("2000-02-29", Some("2000-02-29T00:00:00Z"));
        check("1900-02-29", None);
        check("2001-02-30", None);
        check("2001-01-01T10:20:30", None);
        check("2001-01-01 10:20:30Z", None);
        check("2001-01-01T10:20:30+24:00", None);
        check("2001-01-01T24:00:00Z", None);
        check("201-01-01", None);
        check("2001-13-01", None);
        check("20010-1-1", None);
    }
}
