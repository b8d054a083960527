use super::{Quantity, QuantityError};

fn canonical(text: &str) -> Option<String> {
    Quantity::canonical(text).ok().map(std::borrow::Cow::into_owned)
}

#[test]
fn spellings_become_canonical() {
    let check = |text: &str, expected: &str| {
        assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
    };
    check("0", "0");
    check("0.0Gi", "0");
    check("1000m", "1");
    check("0.5", "500m");
    check("1.5", "1500m");
    check("1.5Gi", "1536Mi");
    check("1024Mi", "1Gi");
    check("1000Mi", "1000Mi");
    check("1000Ki", "1000Ki");
    check("8Gi", "8Gi");
    check("0.5Gi", "512Mi");
    check("0.5Ki", "512");
    check("0.9765625Ki", "1k");
    check("15.625Ki", "16000");
    check("189062.5Ki", "193600000");
    check("193600000", "193600k");
    check("0.001Ki", "1024m");
    check("1.0001Ki", "1024102400u");
    check("1e3", "1e3");
    check("1000e0", "1e3");
    check("100e1", "1e3");
    check("1e-1", "100e-3");
    check("-1500", "-1500");
    check("-0.5Gi", "-512Mi");
    check("128974848", "128974848");
    check("129e6", "129e6");
    check("129M", "129M");
    check("123000", "123k");
    check("100000000000000000000", "100E");
}

#[test]
fn what_is_too_small_is_rounded_up() {
    let check = |text: &str, expected: &str| {
        assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
    };
    check("0.0000000001", "1n");
    check("1.0000000001", "1000000001n");
    check("0.9999999999", "1");
    check("-0.1n", "-1n");
    check("1e-10", "1e-9");
}

#[test]
fn what_is_too_large_for_a_binary_suffix_is_cut() {
    let largest = Some("9223372036854775807");
    assert_eq!(canonical("8Ei").as_deref(), largest);
    assert_eq!(canonical("9223372036854775808Ki").as_deref(), largest);
    assert_eq!(canonical("99999999999999999999.5Gi").as_deref(), largest);
    assert_eq!(canonical("7Ei").as_deref(), Some("7Ei"));
}

#[test]
fn some_spellings_are_kept() {
    for text in ["1.500", "+1", "01", "05Mi", "1E3", "1e+3", "250m", "1Gi", "3Ei"] {
        assert_eq!(canonical(text).as_deref(), Some(text));
    }
}

#[test]
fn other_texts_are_no_amounts() {
    for text in ["", "a", "1.2.3", "1 Gi", "1gi", "1KB", "e", "1e", "1e+", "0x10", "--1", "1Mi "] {
        assert_eq!(canonical(text), None, "{text}");
    }
}

#[test]
fn errors_say_which_part_is_wrong() {
    let check = |text: &str, expected| {
        assert_eq!(Quantity::parse(text).expect_err("is no quantity"), expected, "{text}");
    };
    check("1x", QuantityError::Format);
    check("1 Gi", QuantityError::Format);
    check("1GB", QuantityError::Format);
    check("1KK", QuantityError::Suffix);
    check("1e", QuantityError::Suffix);
    check(".e-20", QuantityError::Number);
}

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).expect("is a quantity")
}

#[test]
fn quantities_compare_by_value() {
    let ordered =
        ["-1Gi", "-1", "-1m", "0", "1n", "999u", "1m", "0.5", "1", "1k", "1Ki", "1M", "1E", "1e30"];
    for (place, text) in ordered.iter().enumerate() {
        for (other_place, other) in ordered.iter().enumerate() {
            assert_eq!(
                quantity(text).cmp(&quantity(other)),
                place.cmp(&other_place),
                "{text} {other}"
            );
        }
    }
    assert_eq!(quantity("1000m"), quantity("1"));
    assert_eq!(quantity("1Ki"), quantity("1024"));
    assert_eq!(quantity("-0"), quantity("0"));
}

#[test]
fn sums_keep_the_notation() {
    let check = |a: &str, b: &str, sum: &str, difference: &str| {
        assert_eq!(quantity(a).plus(&quantity(b)).to_string(), sum, "{a} + {b}");
        assert_eq!(quantity(a).minus(&quantity(b)).to_string(), difference, "{a} - {b}");
    };
    check("500m", "1500m", "2", "-1");
    check("1Gi", "1Gi", "2Gi", "0");
    check("0", "1Gi", "1Gi", "-1Gi");
    check("1Gi", "1", "1073741825", "1073741823");
    check("-1", "-1", "-2", "0");
}

#[test]
fn whole_numbers_are_rounded_away_from_zero() {
    let check = |text: &str, units: i64, milli: i64| {
        let quantity = quantity(text);
        assert_eq!((quantity.units(), quantity.milli()), (units, milli), "{text}");
    };
    check("1", 1, 1000);
    check("1n", 1, 1);
    check("-1500m", -2, -1500);
    check("1Ki", 1024, 1_024_000);
    check("1e40", i64::MAX, i64::MAX);
    check("-1e40", i64::MIN, i64::MIN);
    assert!(quantity("2k").is_whole());
    assert!(!quantity("2m").is_whole());
    assert_eq!(Quantity::from(-7).to_string(), "-7");
}

#[test]
fn thousandths_are_rounded_up() {
    let check = |text: &str, expected: Option<&str>| {
        let rounded = quantity(text).rounded_to_milli().map(|rounded| rounded.to_string());
        assert_eq!(rounded.as_deref(), expected, "{text}");
    };
    check("1n", Some("1m"));
    check("1500u", Some("2m"));
    check("-1500u", Some("-2m"));
    check("999999u", Some("1"));
    check("1m", None);
    check("1Gi", None);
    check("0", None);
}
