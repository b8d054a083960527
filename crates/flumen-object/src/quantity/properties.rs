//! Quantities compared with plain whole numbers of billionths.

use proptest::prelude::*;

use super::Quantity;

const SUFFIXES: [(&str, i32, u32); 12] = [
    ("n", -9, 0),
    ("u", -6, 0),
    ("m", -3, 0),
    ("", 0, 0),
    ("k", 3, 0),
    ("M", 6, 0),
    ("e3", 3, 0),
    ("E-2", -2, 0),
    ("e-12", -12, 0),
    ("Ki", 0, 10),
    ("Mi", 0, 20),
    ("Gi", 0, 30),
];

/// A spelling, and its value in billionths, rounded away from zero.
fn spelled() -> impl Strategy<Value = (String, i128)> {
    let parts = (any::<bool>(), 0..1_000_000_i128, 0..5_usize, 0..SUFFIXES.len());
    (parts, 0..100_000_i128).prop_map(|((is_negative, whole, decimals, suffix), fraction)| {
        let scale = 10_i128.pow(u32::try_from(decimals).expect("is small"));
        let fraction = fraction % scale;
        let (suffix, tens, twos) = SUFFIXES[suffix];
        let sign = if is_negative { "-" } else { "" };
        let text = match decimals {
            0 => format!("{sign}{whole}{suffix}"),
            _ => format!("{sign}{whole}.{fraction:0decimals$}{suffix}"),
        };
        // In units of 10⁻²¹ every value is whole.
        let unit = 10_i128.pow(u32::try_from(21 + tens).expect("is positive")) / scale;
        let exact = (whole * scale + fraction) * unit * 2_i128.pow(twos);
        let billionths =
            exact.div_euclid(10_i128.pow(12)) + i128::from(exact % 10_i128.pow(12) != 0);
        (text, if is_negative { -billionths } else { billionths })
    })
}

fn read(text: &str) -> Quantity {
    Quantity::parse(text).expect("is a quantity")
}

fn spell(text: &str) -> String {
    Quantity::canonical(text).expect("is a quantity").into_owned()
}

fn is_binary(text: &str) -> bool {
    text.ends_with('i')
}

proptest! {
    #[test]
    fn values_are_those_of_the_model((text, value) in spelled()) {
        prop_assert_eq!(read(&text).nano(), value, "{}", text);
    }

    #[test]
    fn the_canonical_spelling_is_the_same_value_and_stays((text, value) in spelled()) {
        let canonical = spell(&text);
        prop_assert_eq!(read(&canonical).nano(), value, "{} {}", text, canonical);
        let again = spell(&canonical);
        if is_binary(&text) && !is_binary(&canonical) {
            // Without a suffix it is read as a decimal amount, also by Kubernetes: `15.625Ki` becomes `16000`,
            // and that becomes `16k`.
            prop_assert_eq!(read(&again).nano(), value, "{} {}", text, again);
            prop_assert_eq!(spell(&again), again);
        } else {
            prop_assert_eq!(again, canonical);
        }
        let printed = read(&text).to_string();
        prop_assert_eq!(read(&printed).nano(), value, "{} {}", text, printed);
        prop_assert!(!printed.contains('.'), "{}", printed);
    }

    #[test]
    fn order_sum_and_difference_are_those_of_the_model(
        (one, a) in spelled(),
        (other, b) in spelled(),
    ) {
        let (one, other) = (read(&one), read(&other));
        prop_assert_eq!(one.cmp(&other), a.cmp(&b));
        prop_assert_eq!(one.plus(&other).nano(), a + b);
        prop_assert_eq!(one.minus(&other).nano(), a - b);
    }
}
