//! Timestamps as go-yaml recognises them, which is as Go's `time.Parse` takes four layouts:
//! `2006-1-2`, and with a time behind `T`, `t` or spaces; with a zone unless behind spaces.

/// Whether the text is a timestamp.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let year_ends = matches!(bytes, [a, b, c, d, b'-', ..]
        if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()));
    year_ends && parse(bytes).is_some()
}

fn parse(text: &[u8]) -> Option<()> {
    let (year, rest) = text.split_at_checked(4)?;
    let year = year.iter().fold(0, |year, digit| year * 10 + u32::from(digit - b'0'));
    let (month, rest) = number(rest.strip_prefix(b"-")?)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?)?;
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    match rest {
        [] => Some(()),
        [b'T' | b't', rest @ ..] => zone(time(rest)?),
        [b' ', ..] => time(skip_spaces(rest))?.is_empty().then_some(()),
        _ => None,
    }
}

/// `15:4:5` with an optional fraction; gives what follows.
fn time(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = number(text)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?)?;
    let (second, rest) = number(rest.strip_prefix(b":")?)?;
    if hour >= 24 || minute >= 60 || second >= 60 {
        return None;
    }
    let rest = match rest {
        [b'.' | b',', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
            let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            &digits[len..]
        }
        _ => rest,
    };
    Some(rest)
}

/// `Z` or an offset such as `+02:00`, and nothing behind it.
fn zone(text: &[u8]) -> Option<()> {
    if text == b"Z" {
        return Some(());
    }
    let &[b'+' | b'-', h1, h2, b':', m1, m2] = text else { return None };
    let (hours, _) = number(&[h1, h2]).filter(|(_, rest)| rest.is_empty())?;
    let (minutes, _) = number(&[m1, m2]).filter(|(_, rest)| rest.is_empty())?;
    (hours <= 24 && minutes <= 60).then_some(())
}

/// One digit or two.
fn number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    let (&first, rest) = text.split_first()?;
    let first = digit(first)?;
    match rest.split_first().and_then(|(&second, rest)| Some((digit(second)?, rest))) {
        Some((second, rest)) => Some((first * 10 + second, rest)),
        None => Some((first, rest)),
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let len = text.iter().take_while(|&&byte| byte == b' ').count();
    &text[len..]
}
