//! Equality and order of values, as ownership is decided by them.
//!
//! Numbers are compared by value, whether they are written as integers or not.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A number as the API server holds it: what does not fit an `i64` is a float.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numeric {
    Int(i64),
    Float(f64),
}

impl Numeric {
    pub(crate) fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(int) => Self::Int(int),
            None => Self::Float(number.as_f64().unwrap_or(f64::MAX)),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "mixed numbers are compared as floats")]
    fn as_float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (a, b) => a.as_float().partial_cmp(&b.as_float()).unwrap_or(Ordering::Equal),
        }
    }
}

pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            Numeric::of(a).order(Numeric::of(b)) == Ordering::Equal
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((ka, va), (kb, vb))| ka == kb && equal(va, vb))
        }
        (a, b) => a == b,
    }
}

pub(crate) fn order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Numeric::of(a).order(Numeric::of(b)),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let unequal = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a.iter().zip(b);
            let unequal = pairs
                .map(|((ka, va), (kb, vb))| ka.cmp(kb).then_with(|| order(va, vb)))
                .find(|order| order.is_ne());
            unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (a, b) => rank(a).cmp(&rank(b)),
    }
}

const fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use serde_json::json;

    use super::{equal, order};

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(&json!([{"a": 2.0}]), &json!([{"a": 2}])));
        assert!(!equal(&json!(1), &json!("1")));
        assert_eq!(order(&json!(9), &json!(10)), Ordering::Less);
        assert_eq!(order(&json!(1.5), &json!(1)), Ordering::Greater);
    }

    #[test]
    fn kinds_of_values_have_an_order() {
        let sorted = [
            json!(7),
            json!("a"),
            json!("b"),
            json!(true),
            json!([1]),
            json!({"a": 1}),
            json!(null),
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                assert_eq!(order(a, b), n.cmp(&m), "{a} {b}");
            }
        }
    }
}
