//! Numbers as Go reads and prints them.
//!
//! A scalar keeps the text of the file (`0x1F`, `1_000`, `1e3`); only when it is printed or compared
//! does its value matter. Integers are those of 64 bits, signed or unsigned; what is larger has
//! been resolved to a float by the reader.

use std::fmt::{self, Write as _};

/// The value of an integer scalar, or nothing if go-yaml would not read the text as one.
///
/// The result is always within `i64::MIN..=u64::MAX`.
pub fn int_value(text: &str) -> Option<i128> {
    let bare;
    let text = if text.contains('_') {
        bare = text.replace('_', "");
        &bare
    } else {
        text
    };
    prefixed_int(text).or_else(|| {
        // The reader strips these prefixes itself and so lets a sign follow them.
        let signed_after = |prefix, radix| int_of_radix(text.strip_prefix(prefix)?, radix);
        signed_after("0b", 2).or_else(|| signed_after("0o", 8))
    })
}

/// Whether go-yaml v2, which knows no `0o` of its own, would read `bare` (without `_`) as an integer.
pub(crate) fn is_old_int(bare: &str) -> bool {
    prefixed_int(bare).is_some()
        || bare.strip_prefix("0b").is_some_and(|digits| int_of_radix(digits, 2).is_some())
}

/// An integer whose base is told by its prefix, the sign first.
fn prefixed_int(text: &str) -> Option<i128> {
    let (sign, digits) = split_sign(text);
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &digits[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &digits[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    in_range(sign, magnitude(digits, radix)?)
}

fn int_of_radix(text: &str, radix: u32) -> Option<i128> {
    let (sign, digits) = split_sign(text);
    in_range(sign, magnitude(digits, radix)?)
}

fn split_sign(text: &str) -> (Option<u8>, &str) {
    match text.as_bytes() {
        [sign @ (b'+' | b'-'), ..] => (Some(*sign), &text[1..]),
        _ => (None, text),
    }
}

fn magnitude(digits: &str, radix: u32) -> Option<u64> {
    // The parser of the standard library takes a sign, which must not stand here.
    if digits.starts_with(['+', '-']) { None } else { u64::from_str_radix(digits, radix).ok() }
}

/// Only what carries no sign may use the 64th bit.
fn in_range(sign: Option<u8>, magnitude: u64) -> Option<i128> {
    let value = i128::from(magnitude);
    match sign {
        None => Some(value),
        Some(b'-') => (value <= 1 << 63).then_some(-value),
        Some(_) => (value < 1 << 63).then_some(value),
    }
}

/// The value of a float scalar, or nothing if go-yaml would not read the text as a number.
pub(crate) fn float_value(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    if text.starts_with('.') && !underscores_separate_digits(text) {
        return None;
    }
    let bare;
    let text = if text.contains('_') {
        bare = text.replace('_', "");
        &bare
    } else {
        text
    };
    decimal_float(text)
}

/// A finite number in decimal notation, as both versions of go-yaml accept it.
pub(crate) fn decimal_float(text: &str) -> Option<f64> {
    if !is_decimal(text.as_bytes()) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// `[-+]? (\. digit+ | digit+ (\. digit*)?) ([eE] [-+]? digit+)?`
fn is_decimal(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if whole + count == 0 {
            return false;
        }
        rest = &fraction[count..];
    } else if whole == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    }
}

/// Go's rule for `_` in a literal without base prefix: between two digits only.
pub(crate) fn underscores_separate_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |index: Option<usize>| {
        index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit)
    };
    let mut underscores = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'_');
    underscores.all(|(index, _)| is_digit(index.checked_sub(1)) && is_digit(Some(index + 1)))
}

/// Appends a finite float as Go's JSON encoder writes it.
pub(crate) fn push_json_float(out: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let digits = Digits::of(format_args!("{value:e}"));
        let (mantissa, exponent) = digits.split_exponent();
        out.extend_from_slice(mantissa);
        out.extend_from_slice(if exponent.starts_with(b"-") { b"e" } else { b"e+" });
        out.extend_from_slice(exponent);
    } else {
        out.extend_from_slice(Digits::of(format_args!("{value}")).as_bytes());
    }
}

/// Appends a finite float as it looks after the passage through JSON and go-yaml v2: an integer if
/// the JSON text is one that fits, else the shortest digits, with an exponent from a million on.
pub(crate) fn push_yaml_float(out: &mut Vec<u8>, value: f64) {
    if value.abs() < 1e21 && value.fract() == 0.0 {
        let digits = Digits::of(format_args!("{value}"));
        if let Some(whole) = digits.as_str().and_then(prefixed_int) {
            out.extend_from_slice(Digits::of(format_args!("{whole}")).as_bytes());
            return;
        }
    }
    let scientific = Digits::of(format_args!("{value:e}"));
    let (mantissa, exponent) = scientific.split_exponent();
    let power: i32 = str::from_utf8(exponent).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    if (-4..6).contains(&power) {
        out.extend_from_slice(Digits::of(format_args!("{value}")).as_bytes());
        return;
    }
    out.extend_from_slice(mantissa);
    let exponent = Digits::of(format_args!("e{power:+03}"));
    out.extend_from_slice(exponent.as_bytes());
}

/// Room for any number this module prints, so that printing one allocates nothing.
struct Digits {
    bytes: [u8; 40],
    len: usize,
}

impl Digits {
    fn of(text: fmt::Arguments<'_>) -> Self {
        let mut digits = Self { bytes: [0; 40], len: 0 };
        // Fails only when the buffer is full, which no 64-bit number brings about.
        let _ = digits.write_fmt(text);
        digits
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn as_str(&self) -> Option<&str> {
        str::from_utf8(self.as_bytes()).ok()
    }

    fn split_exponent(&self) -> (&[u8], &[u8]) {
        let text = self.as_bytes();
        let at = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
        (&text[..at], text.get(at + 1..).unwrap_or_default())
    }
}

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_many_spellings() {
        let check = |text: &str, expected: Option<i128>| {
            assert_eq!(int_value(text), expected, "{text}");
        };
        check("0", Some(0));
        check("-0", Some(0));
        check("+1", Some(1));
        check("0x1F", Some(31));
        check("0X1f", Some(31));
        check("-0x1F", Some(-31));
        check("0x_1", Some(1));
        check("0o17", Some(15));
        check("0O17", Some(15));
        check("-0o17", Some(-15));
        check("0o-7", Some(-7));
        check("0b-1", Some(-1));
        check("0777", Some(511));
        check("08", None);
        check("0b", None);
        check("0x", None);
        check("1__0_", Some(10));
        check("9223372036854775808", Some(1 << 63));
        check("+9223372036854775808", None);
        check("-9223372036854775808", Some(-(1 << 63)));
        check("-9223372036854775809", None);
        check("18446744073709551615", Some((1 << 64) - 1));
        check("18446744073709551616", None);
        check("--1", None);
        check("", None);
    }

    #[test]
    fn floats_are_decimal() {
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(float_value(text), expected, "{text}");
        };
        check(".5", Some(0.5));
        check("5.", Some(5.0));
        check(".5_0", Some(0.5));
        check("._5", None);
        check(".5_e3", None);
        check("1_.5", Some(1.5));
        check("+1.5E+3", Some(1500.0));
        check("1e", None);
        check(".", None);
        check(".e1", None);
        check("0x1p4", None);
        check("1e400", None);
        check("1e-400", Some(0.0));
        check("-.Inf", Some(f64::NEG_INFINITY));
        check("inf", None);
    }

    #[test]
    fn floats_print_as_go_prints_them() {
        let check = |value: f64, json: &str, yaml: &str| {
            let (mut as_json, mut as_yaml) = (Vec::new(), Vec::new());
            push_json_float(&mut as_json, value);
            push_yaml_float(&mut as_yaml, value);
            assert_eq!(String::from_utf8_lossy(&as_json), json);
            assert_eq!(String::from_utf8_lossy(&as_yaml), yaml);
        };
        check(1.0, "1", "1");
        check(-0.0, "-0", "0");
        check(0.1, "0.1", "0.1");
        check(123_456.5, "123456.5", "123456.5");
        check(1_234_567.5, "1234567.5", "1.2345675e+06");
        check(1e-4, "0.0001", "0.0001");
        check(1e-5, "0.00001", "1e-05");
        check(1e-7, "1e-7", "1e-07");
        check(1.5e-10, "1.5e-10", "1.5e-10");
        check(1e18, "1000000000000000000", "1000000000000000000");
        check(1.8e19, "18000000000000000000", "18000000000000000000");
        check(18_446_744_073_709_551_616.0, "18446744073709552000", "1.8446744073709552e+19");
        check(-1e19, "-10000000000000000000", "-1e+19");
        check(1e20, "100000000000000000000", "1e+20");
        check(1e21, "1e+21", "1e+21");
        check(f64::MAX, "1.7976931348623157e+308", "1.7976931348623157e+308");
        check(5e-324, "5e-324", "5e-324");
    }
}
