//! Numbers as Go reads and prints them.
//!
//! A scalar keeps the text of the file (`0x1F`, `1_000`, `1e3`); only when it is printed or compared
//! does its value matter. Integers are those of 64 bits, signed or unsigned; what is larger has
//! been resolved to a float by the reader.

use std::{
    fmt::{self, Write as _},
    io,
};

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
    let decimal = Decimal::of(value);
    if (-6..21).contains(&decimal.exponent) {
        decimal.push_fixed(out);
    } else {
        decimal.push_scientific(out, 1);
    }
}

/// Appends a finite float as it looks after the passage through JSON and go-yaml v2: an integer if
/// the JSON text is one that fits, else the shortest digits, with an exponent from a million on.
pub(crate) fn push_yaml_float(out: &mut Vec<u8>, value: f64) {
    let decimal = Decimal::of(value);
    let start = out.len();
    if value.fract() == 0.0 && decimal.exponent < 21 {
        decimal.push_fixed(out);
        let whole = str::from_utf8(&out[start..]).ok().and_then(prefixed_int);
        if let Some(whole) = whole {
            if whole == 0 {
                out.truncate(start);
                out.push(b'0');
            }
            return;
        }
        out.truncate(start);
    }
    if (-4..6).contains(&decimal.exponent) {
        decimal.push_fixed(out);
    } else {
        decimal.push_scientific(out, 2);
    }
}

/// The shortest digits that stand for a float; of two candidates as near, the even one.
struct Decimal {
    negative: bool,
    /// As many as a float can need, and a sign, a point and an exponent while it is being formatted.
    text: [u8; 32],
    /// How many digits stand in `text`.
    count: usize,
    /// The power of ten of the first digit.
    exponent: i32,
}

impl Decimal {
    fn of(value: f64) -> Self {
        let size = value.abs();
        let shortest = Self::parse(format_args!("{size:e}"));
        // The standard library does not choose the even one of two candidates unless it is told
        // the number of digits. Below a power of two that may lead to a neighbour, though.
        let even = Self::parse(format_args!("{:.*e}", shortest.count.max(1) - 1, size));
        let chosen = if even.value() == Some(size) { even } else { shortest };
        Self { negative: value.is_sign_negative(), ..chosen }
    }

    fn value(&self) -> Option<f64> {
        let mut text = Vec::with_capacity(32);
        self.push_scientific(&mut text, 1);
        str::from_utf8(&text).ok()?.parse().ok()
    }

    fn parse(scientific: fmt::Arguments<'_>) -> Self {
        let mut decimal = Self { negative: false, text: [0; 32], count: 0, exponent: 0 };
        // Fails only when the buffer is full, which 17 digits and an exponent do not bring about.
        let _ = decimal.write_fmt(scientific);
        let text = decimal.text;
        let text = &text[..decimal.count];
        let mantissa_end = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
        let exponent = text.get(mantissa_end + 1..).and_then(|text| str::from_utf8(text).ok());
        decimal.exponent = exponent.and_then(|text| text.parse().ok()).unwrap_or(0);
        decimal.count = 0;
        for &digit in text[..mantissa_end].iter().filter(|&&byte| byte != b'.') {
            decimal.text[decimal.count] = digit;
            decimal.count += 1;
        }
        decimal
    }

    fn digits(&self) -> &[u8] {
        &self.text[..self.count]
    }

    fn push_sign(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
    }

    fn push_fixed(&self, out: &mut Vec<u8>) {
        self.push_sign(out);
        let digits = self.digits();
        let Ok(exponent) = usize::try_from(self.exponent) else {
            out.extend_from_slice(b"0.");
            let zeros = self.exponent.unsigned_abs() as usize - 1;
            out.extend(std::iter::repeat_n(b'0', zeros));
            out.extend_from_slice(digits);
            return;
        };
        let whole = exponent + 1;
        if let Some((whole, fraction)) = digits.split_at_checked(whole) {
            out.extend_from_slice(whole);
            if !fraction.is_empty() {
                out.push(b'.');
                out.extend_from_slice(fraction);
            }
        } else {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
        }
    }

    /// The exponent has a sign and at least two digits, but negative ones only `min_digits`.
    fn push_scientific(&self, out: &mut Vec<u8>, min_digits: usize) {
        self.push_sign(out);
        if let Some((first, rest)) = self.digits().split_first() {
            out.push(*first);
            if !rest.is_empty() {
                out.push(b'.');
                out.extend_from_slice(rest);
            }
        }
        let width = if self.exponent < 0 { min_digits } else { 2 };
        // Writing to a vector cannot fail.
        let _ = io::Write::write_fmt(out, format_args!("e{:+0w$}", self.exponent, w = width + 1));
    }
}

impl fmt::Write for Decimal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.text.get_mut(self.count..self.count + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.count += text.len();
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
        check(237_396_530_994_697.0 + 0.125, "237396530994697.12", "2.3739653099469712e+14");
        check(-986_390_809_265_646.0 - 0.25, "-986390809265646.2", "-9.863908092656462e+14");
        check(-986_390_809_265_646.0 - 0.75, "-986390809265646.8", "-9.863908092656468e+14");
        check(2f64.powi(89), "6.189700196426902e+26", "6.189700196426902e+26");
        check(0.0, "0", "0");
        check(1e-6, "0.000001", "1e-06");
        check(-12.5, "-12.5", "-12.5");
    }
}
