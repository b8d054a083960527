//! Functions by their names, and what is said when one does not apply.

use base64::{Engine, engine::general_purpose::STANDARD, engine::general_purpose::STANDARD_NO_PAD};

use crate::{
    Budget, Dialect, Fault, Outcome, collection::List, convert, library, operators, strings, time,
    value::Value,
};

/// Functions that are called by the name of their library: it is not a variable.
pub(crate) fn is_library(prefix: &str, name: &str) -> bool {
    match prefix {
        "format" => name == "named" || library::is_format(name),
        "ip" => name == "isCanonical",
        "lists" => name == "range",
        "sets" => matches!(name, "contains" | "equivalent" | "intersects"),
        "base64" => matches!(name, "encode" | "decode"),
        "strings" => name == "quote",
        "optional" => matches!(name, "none" | "of" | "ofNonZeroValue"),
        _ => false,
    }
}

/// Calls a function. What it is called on is the first argument, as it is in cel-go.
pub(crate) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    dialect: Dialect,
    budget: &mut Budget,
) -> Outcome<'a> {
    for arg in args {
        if let Value::Text(text) = arg {
            budget.spend_bytes(text.len())?;
        }
    }
    operators::apply(name, args, budget)
        .or_else(|| match dialect {
            Dialect::Kubernetes => library::apply(name, args, budget),
            Dialect::Flux => None,
        })
        .or_else(|| general(name, args, budget))
        .or_else(|| convert::apply(name, args))
        .or_else(|| strings::apply(name, args, budget))
        .or_else(|| time::apply(name, args))
        .unwrap_or_else(|| {
            Err(match args.first() {
                Some(first) => no_overload_for(name, first),
                None => Fault::new(format!("no such overload: {name}()")),
            })
        })
}

fn general<'a>(name: &str, args: &[Value<'a>], budget: &mut Budget) -> Option<Outcome<'a>> {
    let outcome = match (name, args) {
        ("size", [value]) => size(value),
        ("sets.contains", [Value::List(all), Value::List(some)]) => {
            contains_all(all, some, budget).map(Value::Bool)
        }
        ("sets.equivalent", [Value::List(a), Value::List(b)]) => match contains_all(a, b, budget) {
            Ok(true) => contains_all(b, a, budget).map(Value::Bool),
            other => other.map(Value::Bool),
        },
        ("sets.intersects", [Value::List(a), Value::List(b)]) => {
            intersects(a, b, budget).map(Value::Bool)
        }
        ("base64.encode", [Value::Bytes(bytes)]) => {
            budget.spend_bytes(bytes.len()).map(|()| Value::text(STANDARD.encode(bytes)))
        }
        ("base64.decode", [Value::Text(text)]) => decode(text),
        ("optional.none", []) => Ok(Value::Optional(None)),
        ("optional.ofNonZeroValue", [value]) if is_zero(value) => Ok(Value::Optional(None)),
        ("optional.of" | "optional.ofNonZeroValue", [value]) => Ok(Value::some(value.clone())),
        ("hasValue", [Value::Optional(inner)]) => Ok(Value::Bool(inner.is_some())),
        ("value", [Value::Optional(Some(inner))]) => Ok(inner.as_ref().clone()),
        ("value", [Value::Optional(None)]) => Err(Fault::new("optional.none() dereference")),
        ("sets.contains" | "sets.equivalent" | "sets.intersects", [_, _])
        | ("base64.encode" | "base64.decode" | "value" | "hasValue", [_]) => {
            Err(no_overload_of_types(name, args))
        }
        _ => return None,
    };
    Some(outcome)
}

fn size<'a>(value: &Value<'a>) -> Outcome<'a> {
    let size = match value {
        Value::Text(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(no_overload_for("size", other)),
    };
    Ok(Value::Int(size.try_into().unwrap_or(i64::MAX)))
}

fn contains_all<'a>(all: &List<'a>, some: &List<'a>, budget: &mut Budget) -> Result<bool, Fault> {
    for value in some.iter() {
        if !all.contains(&value, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(a: &List<'a>, b: &List<'a>, budget: &mut Budget) -> Result<bool, Fault> {
    for value in a.iter() {
        if b.contains(&value, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn decode<'a>(text: &str) -> Outcome<'a> {
    let decoded = STANDARD.decode(text).or_else(|_| STANDARD_NO_PAD.decode(text));
    decoded.map(|bytes| Value::Bytes(bytes.into())).map_err(|error| {
        let place = match error {
            base64::DecodeError::InvalidByte(place, _)
            | base64::DecodeError::InvalidLastSymbol(place, _) => place,
            base64::DecodeError::InvalidLength(length) => length,
            base64::DecodeError::InvalidPadding => text.len(),
        };
        Fault::new(format!("illegal base64 data at input byte {place}"))
    })
}

fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(bool) => !bool,
        Value::Int(int) => *int == 0,
        Value::Uint(int) => *int == 0,
        Value::Double(double) => *double == 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.len() == 0,
        Value::Map(map) => map.len() == 0,
        Value::Duration(duration) => duration.is_zero(),
        Value::Optional(inner) => inner.is_none(),
        Value::Timestamp(_) | Value::Type(_) | Value::Opaque(_) | Value::Unfit(_) => false,
    }
}

/// No function of this name takes such a first argument. Texts and times are asked first whether they
/// have a method of this name, and answer in their own words.
pub(crate) fn no_overload_for(name: &str, first: &Value<'_>) -> Fault {
    match first {
        Value::Text(_) | Value::Timestamp(_) | Value::Duration(_) => Fault::NO_OVERLOAD,
        _ => Fault::new(format!("no such overload: {name}")),
    }
}

/// The function exists, for other types.
pub(crate) fn no_overload_of_types(name: &str, args: &[Value<'_>]) -> Fault {
    let types: Vec<_> = args.iter().map(Value::type_name).collect();
    Fault::new(format!("no such overload: {name}({})", types.join(", ")))
}

/// A scalar as messages show it; of collections only what they are, for they may be large or secret.
pub(crate) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(int) => int.to_string(),
        Value::Double(double) => convert::double_to_text(*double),
        Value::Text(text) => text.to_string(),
        other => other.type_name().to_owned(),
    }
}

/// What cel-go calls the type of a value among its own.
pub(crate) const fn go_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::Text(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Timestamp(_) => "types.Timestamp",
        Value::Duration(_) => "types.Duration",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Opaque(_) => "types.Opaque",
        Value::Unfit(_) => "*types.Err",
    }
}
