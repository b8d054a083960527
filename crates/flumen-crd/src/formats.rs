//! Formats of texts that definitions may ask for.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::LazyLock,
};

use flumen_cel::Regex;
use jiff::civil::Date;

use crate::names::is_label;

/// How to check a format; `None` for those that mean nothing to the server. Dashes in names do not count.
pub(crate) fn known(format: &str) -> Option<fn(&str) -> bool> {
    Some(match format.replace('-', "").as_str() {
        "bsonobjectid" => |it| it.len() == 24 && it.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => flumen_cel::is_request_uri,
        "email" => is_email,
        "hostname" => is_hostname,
        "ipv4" => |it| it.contains('.') && parse_ip_leniently(it).is_some(),
        "ipv6" => |it| it.contains(':') && it.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr,
        "mac" => is_mac,
        "uuid" => |it| is_uuid(it, None, false),
        "uuid3" => |it| is_uuid(it, Some('3'), false),
        "uuid4" => |it| is_uuid(it, Some('4'), true),
        "uuid5" => |it| is_uuid(it, Some('5'), true),
        "isbn" => |it| is_isbn10(it) || is_isbn13(it),
        "isbn10" => is_isbn10,
        "isbn13" => is_isbn13,
        "creditcard" => is_credit_card,
        "ssn" => |it| matches(&SSN, it),
        "hexcolor" => is_hex_color,
        "rgbcolor" => |it| matches(&RGB_COLOR, it),
        "byte" => is_base64,
        "password" => |_| true,
        "date" => is_date,
        "duration" => |it| flumen_cel::parse_lenient_duration(it).is_some(),
        "datetime" => is_date_time,
        "k8sshortname" => |it| it.len() <= 63 && is_label(it),
        "k8slongname" => |it| it.len() <= 253 && it.split('.').all(is_label),
        _ => return None,
    })
}

static SSN: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"));

static RGB_COLOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*";
    pattern(&format!(r"^rgb\({part},{part},{part}\)$"))
});

static CREDIT_CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}\
         |3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$",
    )
});

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$")
});

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// An address with or without a name before it, as mail programs write it.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(rest) => match rest.rsplit_once('<') {
            Some((_, address)) => address,
            None => return false,
        },
        None => text,
    };
    let is_atom =
        |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii();
    let is_dotted =
        |text: &str| text.split('.').all(|it| !it.is_empty() && it.chars().all(is_atom));
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal = domain
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'))
        .is_some_and(|it| it.parse::<IpAddr>().is_ok());
    (is_quoted || is_dotted(local)) && (is_literal || is_dotted(domain))
}

/// A name with a top-level domain of letters, or one label alone.
fn is_hostname(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c.is_alphabetic() || is_symbol(c);
    let labels: Vec<_> = text.split('.').collect();
    let is_part = |label: &&str| {
        label.starts_with(is_inner)
            && label.ends_with(is_inner)
            && label.chars().all(|c| is_inner(c) || c == '-')
            && label.chars().count() <= 63
    };
    if text.len() > 255 || labels.iter().any(|label| label.len() > 63) {
        return false;
    }
    match labels.as_slice() {
        [only] => {
            // One dash, after the first character, is what a single label may have.
            let mut rest = only.chars();
            rest.next().is_some_and(is_inner) && {
                let rest = rest.as_str();
                let rest = rest.strip_prefix('-').unwrap_or(rest);
                rest.chars().all(is_inner)
            }
        }
        [parts @ .., last] => {
            let count = last.chars().count();
            parts.iter().all(is_part)
                && (2..=63).contains(&count)
                && last.chars().all(|c| c.is_ascii_alphabetic() || c.is_alphabetic())
        }
        [] => false,
    }
}

/// Neither letter nor digit nor anything that ASCII has: signs such as emoji.
fn is_symbol(c: char) -> bool {
    "$+<=>^`|~".contains(c)
        || !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control()
}

/// An address where numbers may have leading zeros, as they once could.
fn parse_ip_leniently(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let parts: Option<Vec<u8>> = text
        .split('.')
        .map(|part| {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u32>().ok()).flatten()?.try_into().ok()
        })
        .collect();
    let parts: [u8; 4] = parts?.try_into().ok()?;
    Some(parts.into())
}

fn is_cidr(text: &str) -> bool {
    let Some((address, prefix)) = text.split_once('/') else { return false };
    let Some(address) = parse_ip_leniently(address) else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
    is_number && prefix.parse::<u32>().is_ok_and(|prefix| prefix <= most)
}

/// Six, eight or twenty bytes with colons, dashes or, in pairs, dots between them.
fn is_mac(text: &str) -> bool {
    let (separator, digits) = match text {
        _ if text.contains(':') => (':', 2),
        _ if text.contains('-') => ('-', 2),
        _ => ('.', 4),
    };
    let parts: Vec<_> = text.split(separator).collect();
    let is_part = |it: &&str| it.len() == digits && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.iter().all(is_part) && matches!(parts.len() * digits, 12 | 16 | 40)
}

fn is_uuid(text: &str, version: Option<char>, has_variant: bool) -> bool {
    let mut digits = String::new();
    let mut rest = text;
    for (place, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if place > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some(part) = rest.get(..length) else { return false };
        digits.push_str(part);
        rest = &rest[length..];
    }
    rest.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && version.is_none_or(|version| digits[12..].starts_with(version))
        && (!has_variant || digits[16..].starts_with(['8', '9', 'a', 'b', 'A', 'B']))
}

/// Without spaces and dashes.
fn digits_of(text: &str) -> Vec<u8> {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'-').collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = digits_of(text);
    let [numbers @ .., last] = digits.as_slice() else { return false };
    let is_number = numbers.len() == 9 && numbers.iter().all(u8::is_ascii_digit);
    if !is_number || !(last.is_ascii_digit() || *last == b'X') {
        return false;
    }
    let check = if *last == b'X' { 100 } else { 10 * u32::from(last - b'0') };
    let weighted = numbers.iter().zip(1..).map(|(digit, weight)| weight * u32::from(digit - b'0'));
    (weighted.sum::<u32>() + check) % 11 == 0
}

fn is_isbn13(text: &str) -> bool {
    let digits = digits_of(text);
    let [numbers @ .., last] = digits.as_slice() else { return false };
    if numbers.len() != 12 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weights = [1, 3].into_iter().cycle();
    let weighted =
        numbers.iter().zip(weights).map(|(digit, weight)| weight * u32::from(digit - b'0'));
    u32::from(last - b'0') == (10 - weighted.sum::<u32>() % 10) % 10
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !matches(&CREDIT_CARD, &digits) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            let doubled = if place % 2 == 1 { digit * 2 } else { digit };
            if doubled >= 10 { doubled % 10 + 1 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Groups of four, the last filled up.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.is_ascii() && text.parse::<Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let part =
        |range: std::ops::Range<usize>, most: &str| time.get(range).is_some_and(|it| it <= most);
    is_date(date)
        && matches(&TIME, time)
        && part(0..2, "23")
        && part(3..5, "59")
        && part(6..8, "59")
}

#[cfg(test)]
mod tests {
    use super::known;

    #[track_caller]
    fn check(format: &str, good: &[&str], bad: &[&str]) {
        let is_valid = known(format).expect("a format");
        for text in good {
            assert!(is_valid(text), "{format}: {text}");
        }
        for text in bad {
            assert!(!is_valid(text), "{format}: {text}");
        }
    }

    #[test]
    fn addresses() {
        check("ipv4", &["1.2.3.4", "01.2.3.4"], &["1.2.3", "::1", "1.2.3.256", "1.2.3.4.5", ""]);
        check("ipv6", &["::1", "fe80::1"], &["1.2.3.4", ":::", "x"]);
        check("cidr", &["10.0.0.0/8", "::/0"], &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/+8", "/8"]);
        check("mac", &["00:00:5e:00:53:01", "0000.5e00.5301"], &["00:00", "00-00-5e-00-53-0x"]);
        check("uri", &["https://x", "/a", "mailto:a@b"], &["::", "x", "", "http://[::1", "a b"]);
        check("email", &["a@example.com", "Ann <a@b>"], &["a", "@b", "a@", "a b@c", "a@b..c"]);
        check(
            "hostname",
            &["a", "a-b", "example.com", "1.example.com"],
            &["", "-a", "a.b1", "a_b.c"],
        );
    }

    #[test]
    fn times() {
        check("date", &["2001-01-01"], &["x", "2001-1-1", "2001-02-30", "2001-01-01T00:00:00Z"]);
        check(
            "duration",
            &["5m", "1h30m", "22 ns", "3 days", "0"],
            &["5", "", "m", "5 lightyears"],
        );
        check(
            "date-time",
            &["2001-01-01T23:59:59Z", "2001-01-01t00:00:00.5+01:00"],
            &["2001-01-01", "2001-01-01T24:00:00Z", "2001-01-01T00:00:60Z", "2001-01-01 00:00:00Z"],
        );
    }

    #[test]
    fn codes() {
        let uuid = "123e4567-e89b-42d3-a456-426614174000";
        check("uuid", &[uuid, "123E4567E89B42D3A456426614174000"], &["x", &uuid[1..]]);
        check("uuid4", &[uuid], &["123e4567-e89b-12d3-a456-426614174000"]);
        check("uuid3", &[], &[uuid]);
        check("isbn", &["0321751043", "978-0321751041"], &["0321751044", "978-0321751042", ""]);
        check("creditcard", &["4111 1111 1111 1111"], &["4111111111111112", "1"]);
        check("ssn", &["111-22-3333", "111223333"], &["1"]);
        check("hexcolor", &["#fff", "FFFFFF"], &["#ff", "#ggg"]);
        check("rgbcolor", &["rgb(0, 1,255)"], &["rgb(0,1)", "rgb(0,1,256)"]);
        check("byte", &["YQ==", "YWI="], &["YQ", "", "Y===", "a b="]);
        check("bsonobjectid", &["507f1f77bcf86cd799439011"], &["507f"]);
        check("k8s-short-name", &["a-b"], &["a.b", "A", ""]);
        check("k8s-long-name", &["a.b-c"], &["a..b", "A"]);
        check("password", &[""], &[]);
        assert!(known("nope").is_none() && known("int32").is_none() && known("").is_none());
    }
}
