//! Signs between values: sums, comparisons, membership.

use std::cmp::Ordering;

use crate::{Budget, Fault, Outcome, collection::List, functions, value::Value};

/// Applies an operator by the name that it has in the tree of an expression; `None` if there is none.
pub(crate) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    let outcome = match (name, args) {
        ("!_", [Value::Bool(bool)]) => Ok(Value::Bool(!bool)),
        ("-_", [value]) => negate(value),
        ("_==_", [a, b]) => a.equals(b, budget).map(Value::Bool),
        ("_!=_", [a, b]) => a.equals(b, budget).map(|equal| Value::Bool(!equal)),
        ("_<_", [a, b]) => compare(name, a, b, Ordering::is_lt),
        ("_<=_", [a, b]) => compare(name, a, b, Ordering::is_le),
        ("_>_", [a, b]) => compare(name, a, b, Ordering::is_gt),
        ("_>=_", [a, b]) => compare(name, a, b, Ordering::is_ge),
        ("@in", [value, Value::List(list)]) => list.contains(value, budget).map(Value::Bool),
        ("@in", [key, Value::Map(map)]) => {
            map.get(key, budget).map(|found| Value::Bool(found.is_some()))
        }
        ("!_", [_]) | ("@in", [_, _]) => Err(Fault::NO_OVERLOAD),
        ("_+_", [a, b]) => add(a, b, budget),
        ("_-_", [a, b]) => subtract(a, b),
        ("_*_", [a, b]) => multiply(a, b),
        ("_/_", [a, b]) => divide(a, b),
        ("_%_", [a, b]) => remainder(a, b),
        _ => return None,
    };
    Some(outcome)
}

/// Why an operator cannot be applied. Who may stand on its left side is told apart from who may not.
fn unsupported(name: &str, left: &Value<'_>, supporting: &[&str]) -> Fault {
    if supporting.contains(&left.type_name()) {
        Fault::NO_OVERLOAD
    } else {
        functions::no_overload_for(name, left)
    }
}

const NUMBERS: &[&str] = &["int", "uint", "double"];

fn overflow<'a>(value: Option<Value<'a>>, message: &'static str) -> Outcome<'a> {
    value.ok_or_else(|| Fault::new(message))
}

fn signed<'a>(value: Option<i64>) -> Outcome<'a> {
    overflow(value.map(Value::Int), "integer overflow")
}

fn unsigned<'a>(value: Option<u64>) -> Outcome<'a> {
    overflow(value.map(Value::Uint), "unsigned integer overflow")
}

fn negate<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Int(int) => signed(int.checked_neg()),
        Value::Double(double) => Ok(Value::Double(-double)),
        Value::Duration(duration) => {
            overflow(duration.checked_neg().map(Value::Duration), "duration overflow")
        }
        other => Err(unsupported("-_", other, &["bool"])),
    }
}

fn compare<'a>(
    name: &str,
    a: &Value<'a>,
    b: &Value<'a>,
    holds: fn(Ordering) -> bool,
) -> Outcome<'a> {
    match a.compare(b) {
        Some(ordering) => Ok(Value::Bool(holds(ordering))),
        None if a.is_number() && b.is_number() => Err(Fault::new("NaN values cannot be ordered")),
        None => {
            let ordered = ["bool", "int", "uint", "double", "string", "bytes"];
            Err(unsupported(name, a, &ordered))
        }
    }
}

fn add<'a>(a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => signed(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::Text(a), Value::Text(b)) => {
            budget.spend_bytes(a.len() + b.len())?;
            Ok(Value::text([a.as_str(), b.as_str()].concat()))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.spend_bytes(a.len() + b.len())?;
            Ok(Value::Bytes([&a[..], &b[..]].concat().into()))
        }
        (Value::List(a), Value::List(b)) => {
            budget.spend((a.len() + b.len()) as u64)?;
            Ok(Value::list(a.joined(b)))
        }
        (Value::Duration(a), Value::Duration(b)) => {
            overflow(a.checked_add(*b).map(Value::Duration), "duration overflow")
        }
        (Value::Timestamp(time), Value::Duration(duration))
        | (Value::Duration(duration), Value::Timestamp(time)) => {
            overflow(time.checked_add(*duration).ok().map(Value::Timestamp), "timestamp overflow")
        }
        (a, _) => Err(unsupported("_+_", a, &["int", "uint", "double", "string", "bytes", "list"])),
    }
}

/// Appends one value to a list that nobody else looks at, or to a copy of it.
pub(crate) fn push<'a>(list: Value<'a>, value: Value<'a>, budget: &mut Budget) -> Outcome<'a> {
    match list {
        Value::List(List::Made(mut values)) => {
            std::rc::Rc::make_mut(&mut values).push(value);
            Ok(Value::List(List::Made(values)))
        }
        other => add(&other, &Value::list(vec![value]), budget),
    }
}

fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => signed(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => {
            overflow(a.checked_sub(*b).map(Value::Duration), "duration overflow")
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(Value::Duration(a.duration_since(*b))),
        (Value::Timestamp(time), Value::Duration(duration)) => {
            overflow(time.checked_sub(*duration).ok().map(Value::Timestamp), "timestamp overflow")
        }
        (a, _) => Err(unsupported("_-_", a, NUMBERS)),
    }
}

fn multiply<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => signed(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        (a, _) => Err(unsupported("_*_", a, NUMBERS)),
    }
}

fn divide<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Fault::new("division by zero"))
        }
        (Value::Int(a), Value::Int(b)) => signed(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        (a, _) => Err(unsupported("_/_", a, NUMBERS)),
    }
}

fn remainder<'a>(a: &Value<'a>, b: &Value<'a>) -> Outcome<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Fault::new("modulus by zero"))
        }
        (Value::Int(a), Value::Int(b)) => signed(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => unsigned(a.checked_rem(*b)),
        (a, _) => Err(unsupported("_%_", a, &["int", "uint"])),
    }
}
