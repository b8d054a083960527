//! Floats as Go prints them.

/// Go's shortest notation: an exponent below a ten-thousandth and from a million on.
pub(crate) fn shortest(number: f64) -> String {
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        number.to_string()
    } else {
        format!("{mantissa}e{exponent:+03}")
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn exponents_begin_where_go_has_them() {
        let check = |number: f64, expected: &str| assert_eq!(shortest(number), expected);
        check(0.0, "0");
        check(0.0001, "0.0001");
        check(0.000_01, "1e-05");
        check(123_456.5, "123456.5");
        check(1_000_000.0, "1e+06");
        check(-1.5e300, "-1.5e+300");
    }
}
