//! Numbers as the API server compares and writes them: limits are floating point numbers, and are cut
//! to whole ones beside a whole number.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether a floating point number is a whole one that JSON could have written without a fraction.
pub(crate) fn is_whole(number: f64) -> bool {
    /// From here on not all whole numbers exist.
    const EXACT: f64 = 9_007_199_254_740_991.0;
    number.is_finite() && number.fract() == 0.0 && number.abs() <= EXACT
}

#[expect(clippy::cast_possible_truncation, reason = "that is how a limit applies to whole numbers")]
fn cut(limit: f64) -> i64 {
    limit as i64
}

pub(crate) fn compare(number: &Number, limit: f64) -> Ordering {
    match number.as_i64() {
        Some(int) => int.cmp(&cut(limit)),
        None => number.as_f64().unwrap_or(f64::NAN).partial_cmp(&limit).unwrap_or(Ordering::Equal),
    }
}

pub(crate) fn is_multiple(number: &Number, factor: f64) -> bool {
    if let Some(int) = number.as_i64() {
        let factor = cut(factor);
        return factor > 0 && int % factor == 0;
    }
    let number = number.as_f64().unwrap_or(f64::NAN);
    is_whole(if factor < 1.0 { 1.0 / factor * number } else { number / factor })
}

/// A limit as it is written beside a number.
pub(crate) fn go(limit: f64, beside: &Number) -> String {
    if beside.is_f64() { flumen_cel::double_to_text(limit) } else { cut(limit).to_string() }
}

/// Equality of values where `1` and `1.0` are the same.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

/// Floating point numbers that are whole become whole numbers, as they do when the server writes them.
pub(crate) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|_| number.is_f64())
                && is_whole(float)
            {
                *number = cut(float).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(map) => map.values_mut().for_each(normalize),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Number, json};

    use super::{go, is_multiple, normalize};

    #[test]
    fn limits_are_cut_beside_whole_numbers() {
        let (whole, half) = (Number::from(7), Number::from_f64(7.5).expect("finite"));
        assert_eq!(go(2.5, &whole), "2");
        assert_eq!(go(2.5, &half), "2.5");
        assert!(is_multiple(&half, 0.25) && !is_multiple(&half, 2.0));
        assert!(is_multiple(&whole, 7.0) && !is_multiple(&whole, 0.5));
    }

    #[test]
    fn whole_floats_become_whole_numbers() {
        let mut value = json!({"a": [1.0, 1.5, -2.0], "b": 1e300});
        normalize(&mut value);
        assert_eq!(value.to_string(), r#"{"a":[1,1.5,-2],"b":1e+300}"#);
    }
}
