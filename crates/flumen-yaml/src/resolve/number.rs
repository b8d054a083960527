//! Numbers as Go's `strconv` takes them.

/// Whether Go's `ParseInt` or `ParseUint` with base 0 takes the text: an optional sign, a prefix of
/// `0x`, `0o`, `0b` or a mere `0` for octal, digits. Signed numbers must fit 64 bits, unsigned ones
/// may use all 64 for themselves.
pub(super) fn is_integer(text: &str) -> bool {
    let (negative, unsigned) = split_sign(text);
    let Some((radix, digits)) = split_radix(unsigned) else { return false };
    let Some(magnitude) = parse_digits(digits, radix) else { return false };
    match (negative, text.len() == unsigned.len()) {
        (true, _) => magnitude <= 1 << 63,
        (false, true) => true,
        // `+` is for signed numbers only.
        (false, false) => magnitude < 1 << 63,
    }
}

pub(super) fn fits_int64(text: &str) -> bool {
    let (negative, unsigned) = split_sign(text);
    let magnitude = split_radix(unsigned).and_then(|(radix, digits)| parse_digits(digits, radix));
    magnitude.is_none_or(|magnitude| magnitude < (1 << 63) + u64::from(negative))
}

/// `0b` or `0o` with a sign behind it, which go-yaml lets through by parsing the rest on its own.
pub(super) fn is_based_integer(text: &str) -> bool {
    let (negative, unsigned) = split_sign(text);
    if text.starts_with('+') {
        return false;
    }
    let (radix, rest) = match unsigned.as_bytes() {
        [b'0', b'b', rest @ ..] => (2, rest),
        [b'0', b'o', rest @ ..] => (8, rest),
        _ => return false,
    };
    let (inner_negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, rest),
    };
    if negative && digits.len() != rest.len() {
        return false;
    }
    let Some(magnitude) = std::str::from_utf8(digits).ok().and_then(|d| parse_digits(d, radix))
    else {
        return false;
    };
    let signed = digits.len() != rest.len();
    match (negative || inner_negative, signed) {
        (true, _) => magnitude <= 1 << 63,
        (false, true) => magnitude < 1 << 63,
        (false, false) => true,
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
pub(super) fn looks_like_float(text: &str) -> bool {
    let rest = text.as_bytes();
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let (whole, rest) = split_digits(rest);
    let rest = match rest {
        [b'.', rest @ ..] => {
            let (fraction, rest) = split_digits(rest);
            if whole == 0 && fraction == 0 {
                return false;
            }
            rest
        }
        _ if whole == 0 => return false,
        _ => rest,
    };
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let digits = exponent
                .strip_prefix(b"-")
                .or_else(|| exponent.strip_prefix(b"+"))
                .unwrap_or(exponent);
            let (len, rest) = split_digits(digits);
            len > 0 && rest.is_empty()
        }
        _ => false,
    }
}

/// A decimal that begins with a point, as Go's `ParseFloat` takes it.
pub(super) fn is_go_decimal(text: &str) -> bool {
    looks_like_float(text)
}

/// Whether the number is within the range of a float; Go refuses those beyond, Rust gives infinity.
pub(super) fn is_finite_float(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn split_radix(text: &str) -> Option<(u32, &str)> {
    match text.as_bytes() {
        [] => None,
        [b'0', b'x' | b'X', _, ..] => Some((16, &text[2..])),
        [b'0', b'o' | b'O', _, ..] => Some((8, &text[2..])),
        [b'0', b'b' | b'B', _, ..] => Some((2, &text[2..])),
        [b'0', _, ..] => Some((8, &text[1..])),
        _ => Some((10, text)),
    }
}

fn parse_digits(text: &str, radix: u32) -> Option<u64> {
    // A sign is none of the digits; Rust would take one.
    let is_digits = !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix));
    is_digits.then(|| u64::from_str_radix(text, radix).ok()).flatten()
}

fn split_digits(text: &[u8]) -> (usize, &[u8]) {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (len, &text[len..])
}
