//! Conversions between types, by the names of the types.

use jiff::Timestamp;

use crate::{
    Fault, Outcome,
    functions::no_overload_of_types,
    time::{duration_to_text, parse_duration},
    value::{DURATION, TIMESTAMP, Value},
};

/// Whether a function makes one type of another. Applied to a constant, it fails before anything is
/// evaluated.
pub(crate) fn is_conversion(name: &str) -> bool {
    matches!(
        name,
        "int" | "uint" | "double" | "string" | "bytes" | "bool" | "timestamp" | "duration"
    )
}

pub(crate) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let [value] = args else { return None };
    Some(match name {
        "dyn" => Ok(value.clone()),
        "type" => Ok(Value::Type(value.type_name())),
        _ if !is_conversion(name) => return None,
        _ if value.type_name() == type_of(name) => Ok(value.clone()),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "double" => to_double(value),
        "string" => to_text(value),
        "bytes" => match value {
            Value::Text(text) => Ok(Value::Bytes(text.as_bytes().into())),
            _ => Err(no_overload_of_types(name, args)),
        },
        "bool" => match value {
            Value::Text(text) => to_bool(text),
            _ => Err(no_overload_of_types(name, args)),
        },
        "timestamp" => to_timestamp(value),
        _ => match value {
            Value::Text(text) => parse_duration(text)
                .map(Value::Duration)
                .ok_or_else(|| unconvertible("string", DURATION)),
            Value::Int(_) => Err(unconvertible("int", DURATION)),
            _ => Err(no_overload_of_types(name, args)),
        },
    })
}

fn type_of(conversion: &str) -> &str {
    match conversion {
        "timestamp" => TIMESTAMP,
        "duration" => DURATION,
        other => other,
    }
}

fn unconvertible(from: &str, to: &str) -> Fault {
    Fault::new(format!("type conversion error from '{from}' to '{to}'"))
}

fn none_for<'a>(name: &str, value: &Value<'a>) -> Outcome<'a> {
    Err(no_overload_of_types(name, std::slice::from_ref(value)))
}

fn to_int<'a>(value: &Value<'a>) -> Outcome<'a> {
    let int = match value {
        Value::Uint(int) => i64::try_from(*int).ok(),
        Value::Double(double) => whole(*double).and_then(|whole| whole.try_into().ok()),
        Value::Text(text) => {
            let int = text.parse().map(Value::Int);
            return int.map_err(|_| unconvertible("string", "int"));
        }
        Value::Timestamp(time) => Some(time.as_second()),
        Value::Duration(duration) => duration.as_nanos().try_into().ok(),
        other => return none_for("int", other),
    };
    int.map(Value::Int).ok_or_else(|| Fault::new("integer overflow"))
}

fn to_uint<'a>(value: &Value<'a>) -> Outcome<'a> {
    let int = match value {
        Value::Int(int) => u64::try_from(*int).ok(),
        Value::Double(double) => whole(*double).and_then(|whole| whole.try_into().ok()),
        Value::Text(text) => {
            let int = text.parse().map(Value::Uint);
            return int.map_err(|_| unconvertible("string", "uint"));
        }
        other => return none_for("uint", other),
    };
    int.map(Value::Uint).ok_or_else(|| Fault::new("unsigned integer overflow"))
}

/// The whole part of a number that has one.
fn whole(double: f64) -> Option<i128> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what does not fit saturates, beyond any int"
    )]
    double.is_finite().then_some(double as i128)
}

#[expect(clippy::cast_precision_loss, reason = "that is what the conversion means")]
fn to_double<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Int(int) => Ok(Value::Double(*int as f64)),
        Value::Uint(int) => Ok(Value::Double(*int as f64)),
        Value::Text(text) => {
            text.parse().map(Value::Double).map_err(|_| unconvertible("string", "double"))
        }
        other => none_for("double", other),
    }
}

fn to_text<'a>(value: &Value<'a>) -> Outcome<'a> {
    Ok(Value::text(match value {
        Value::Bool(bool) => bool.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(int) => int.to_string(),
        Value::Double(double) => double_to_text(*double),
        Value::Bytes(bytes) => std::str::from_utf8(bytes)
            .map_err(|_| Fault::new("invalid UTF-8 in bytes, cannot convert to string"))?
            .to_owned(),
        Value::Timestamp(time) => time.to_string(),
        Value::Duration(duration) => duration_to_text(*duration),
        other => return none_for("string", other),
    }))
}

fn to_bool<'a>(text: &str) -> Outcome<'a> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
        _ => Err(unconvertible("string", "bool")),
    }
}

fn to_timestamp<'a>(value: &Value<'a>) -> Outcome<'a> {
    match value {
        Value::Text(text) => {
            text.parse().map(Value::Timestamp).map_err(|_| unconvertible("string", TIMESTAMP))
        }
        Value::Int(seconds) => Timestamp::from_second(*seconds)
            .map(Value::Timestamp)
            .map_err(|_| Fault::new("timestamp overflow")),
        other => none_for("timestamp", other),
    }
}

/// The shortest digits that mean the number, with an exponent where Go would write one.
pub fn double_to_text(double: f64) -> String {
    if double.is_nan() {
        return "NaN".to_owned();
    }
    if double.is_infinite() {
        return if double > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{double:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if double == 0.0 || (-4..6).contains(&exponent) {
        return format!("{double}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
