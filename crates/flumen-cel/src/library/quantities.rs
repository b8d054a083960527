//! Amounts of resources: `500m`, `1Gi`.

use std::cmp::Ordering;

use flumen_object::Quantity;

use super::Opaque;
use crate::{Fault, Outcome, value::Value};

pub(super) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (name, args) {
        ("quantity", [Value::Text(text)]) => Some(match Quantity::parse(text) {
            Ok(quantity) => Ok(Opaque::Quantity(quantity).value()),
            Err(error) => Err(Fault::new(error.to_string())),
        }),
        ("isQuantity", [Value::Text(text)]) => Some(Ok(Value::Bool(Quantity::parse(text).is_ok()))),
        (_, [Value::Opaque(quantity), rest @ ..]) => match quantity.as_ref() {
            Opaque::Quantity(quantity) => of(name, quantity, rest),
            _ => None,
        },
        _ => None,
    }
}

fn of<'a>(name: &str, quantity: &Quantity, rest: &[Value<'a>]) -> Option<Outcome<'a>> {
    let other = match rest {
        [] => None,
        [Value::Int(int)] => Quantity::parse(&int.to_string()).ok(),
        [Value::Opaque(other)] => match other.as_ref() {
            Opaque::Quantity(other) => Some(other.clone()),
            _ => return None,
        },
        _ => return None,
    };
    let value = match (name, other) {
        ("sign", None) => Value::Int(if quantity.is_zero() {
            0
        } else if quantity.is_negative() {
            -1
        } else {
            1
        }),
        ("asInteger", None) if quantity.is_whole() => Value::Int(quantity.units()),
        ("asInteger", None) => return Some(Err(Fault::new("cannot convert value to integer"))),
        ("isInteger", None) => Value::Bool(quantity.is_whole()),
        ("asApproximateFloat", None) => Value::Double(approximate(quantity)),
        ("add", Some(other)) => Opaque::Quantity(quantity.plus(&other)).value(),
        ("sub", Some(other)) => Opaque::Quantity(quantity.minus(&other)).value(),
        ("compareTo", Some(other)) => Value::Int(match compare(quantity, &other) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }),
        ("isGreaterThan", Some(other)) => Value::Bool(compare(quantity, &other).is_gt()),
        ("isLessThan", Some(other)) => Value::Bool(compare(quantity, &other).is_lt()),
        _ => return None,
    };
    Some(Ok(value))
}

fn compare(a: &Quantity, b: &Quantity) -> Ordering {
    let difference = a.minus(b);
    if difference.is_zero() {
        Ordering::Equal
    } else if difference.is_negative() {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

#[expect(clippy::cast_precision_loss, reason = "the function is for an approximation")]
fn approximate(quantity: &Quantity) -> f64 {
    if quantity.is_whole() { quantity.units() as f64 } else { quantity.milli() as f64 / 1000.0 }
}
