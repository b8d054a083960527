//! `format`: values in the places that a text has for them.

use std::fmt::Write as _;

use crate::{Budget, Fault, Outcome, collection::List, time::duration_to_text, value::Value};

/// More digits than this behind a point are not a number but an attack.
const MOST_DECIMALS: usize = 1000;

pub(crate) fn format<'a>(template: &str, values: &List<'a>, budget: &mut Budget) -> Outcome<'a> {
    let mut text = String::new();
    let mut rest = template;
    let mut place = 0;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let (precision, clause, after) = clause(after)?;
        rest = after;
        if clause == '%' {
            text.push('%');
            continue;
        }
        let value =
            values.get(place).ok_or_else(|| Fault::new(format!("index {place} out of range")))?;
        place += 1;
        let start = text.len();
        write_value(&mut text, clause, precision, &value, budget)?;
        budget.spend_bytes(text.len() - start)?;
    }
    text.push_str(rest);
    Ok(Value::text(text))
}

/// What follows a percent sign: a precision, a letter, and the rest of the template.
fn clause(after: &str) -> Result<(usize, char, &str), Fault> {
    let (precision, after) = match after.strip_prefix('.') {
        None => (None, after),
        Some(after) => {
            let unfit = |why| {
                let text = "could not parse formatting clause: error while parsing precision";
                Fault::new(format!("{text}: {why}"))
            };
            let end = after
                .find(|c: char| !c.is_ascii_digit())
                .ok_or_else(|| unfit("could not find end of precision specifier"))?;
            let digits = after[..end].parse().ok().filter(|digits| *digits <= MOST_DECIMALS);
            let digits =
                digits.ok_or_else(|| unfit("error while converting precision to integer"))?;
            (Some(digits), &after[end..])
        }
    };
    let mut chars = after.chars();
    let clause = chars.next().ok_or_else(|| Fault::new("unexpected end of string"))?;
    if !"sdfexXbo%".contains(clause) {
        let text = "could not parse formatting clause: unrecognized formatting clause";
        return Err(Fault::new(format!("{text} \"{clause}\"")));
    }
    Ok((precision.unwrap_or(6), clause, chars.as_str()))
}

fn write_value(
    text: &mut String,
    clause: char,
    precision: usize,
    value: &Value<'_>,
    budget: &mut Budget,
) -> Result<(), Fault> {
    let unfit = |rule: &str| {
        Fault::new(format!("error during formatting: {rule}, was given {}", value.type_name()))
    };
    #[expect(clippy::cast_precision_loss, reason = "the clause asks for an approximation")]
    let double = match value {
        Value::Int(int) if matches!(clause, 'f' | 'e') => Some(Value::Double(*int as f64)),
        Value::Uint(int) if matches!(clause, 'f' | 'e') => Some(Value::Double(*int as f64)),
        _ => None,
    };
    let value = double.as_ref().unwrap_or(value);
    let done = match (clause, value) {
        ('s', value) => return write_plain(text, value, budget),
        ('d', Value::Int(int)) => write!(text, "{int}"),
        ('d', Value::Uint(int)) => write!(text, "{int}"),
        ('d', Value::Double(double)) => write!(text, "{}", plain_double(*double)),
        ('d', _) => {
            return Err(unfit("decimal clause can only be used on ints, uints, and doubles"));
        }
        ('f' | 'e', Value::Double(double)) if !double.is_finite() => {
            write!(text, "{}", plain_double(*double))
        }
        ('f', Value::Double(double)) => write!(text, "{double:.precision$}"),
        ('f', _) => {
            return Err(unfit("fixed-point clause can only be used on ints, uints, and doubles"));
        }
        ('e', Value::Double(double)) => write!(text, "{}", scientific(*double, precision)),
        ('e', _) => {
            return Err(unfit("scientific clause can only be used on ints, uints, and doubles"));
        }
        ('b', Value::Bool(bool)) => write!(text, "{}", u8::from(*bool)),
        ('b', Value::Int(int)) => write!(text, "{}{:b}", sign(*int), int.unsigned_abs()),
        ('b', Value::Uint(int)) => write!(text, "{int:b}"),
        ('b', _) => return Err(unfit("only ints, uints, and bools can be formatted as binary")),
        ('o', Value::Int(int)) => write!(text, "{}{:o}", sign(*int), int.unsigned_abs()),
        ('o', Value::Uint(int)) => write!(text, "{int:o}"),
        ('o', _) => return Err(unfit("octal clause can only be used on ints and uints")),
        (clause, value) => {
            let digits = hexadecimal(value).ok_or_else(|| {
                unfit("only ints, uints, bytes, and strings can be formatted as hex")
            })?;
            let upper = clause == 'X';
            text.push_str(&if upper { digits.to_ascii_uppercase() } else { digits });
            Ok(())
        }
    };
    done.map_err(|_| Fault::new("error during formatting"))
}

const fn sign(int: i64) -> &'static str {
    if int < 0 { "-" } else { "" }
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    };
    match value {
        Value::Int(int) => Some(format!("{}{:x}", sign(*int), int.unsigned_abs())),
        Value::Uint(int) => Some(format!("{int:x}")),
        Value::Text(text) => Some(of_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => None,
    }
}

/// `%s`: a value as people would write it. Keys of mappings are sorted.
fn write_plain(text: &mut String, value: &Value<'_>, budget: &mut Budget) -> Result<(), Fault> {
    budget.spend(1)?;
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(bool) => text.push_str(if *bool { "true" } else { "false" }),
        Value::Int(int) => text.push_str(&int.to_string()),
        Value::Uint(int) => text.push_str(&int.to_string()),
        Value::Double(double) => text.push_str(&plain_double(*double)),
        Value::Text(value) => text.push_str(value),
        Value::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
        Value::Timestamp(time) => text.push_str(&time.to_string()),
        Value::Duration(duration) => text.push_str(&duration_to_text(*duration)),
        Value::Type(name) => text.push_str(name),
        Value::List(list) => {
            text.push('[');
            for (place, value) in list.iter().enumerate() {
                text.push_str(if place > 0 { ", " } else { "" });
                write_plain(text, &value, budget)?;
            }
            text.push(']');
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, value) in map.to_vec() {
                let mut shown = String::new();
                write_plain(&mut shown, &key, budget)?;
                entries.push((shown, value));
            }
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            text.push('{');
            for (place, (key, value)) in entries.iter().enumerate() {
                text.push_str(if place > 0 { ", " } else { "" });
                text.push_str(key);
                text.push_str(": ");
                write_plain(text, value, budget)?;
            }
            text.push('}');
        }
        Value::Opaque(opaque) => text.push_str(&opaque.to_string()),
        Value::Unfit(fault) => return Err(fault.as_ref().clone()),
        Value::Optional(_) => {
            let rule = "string clause can only be used on strings, bools, bytes, ints, doubles, \
                        maps, lists, types, durations, and timestamps";
            let text = format!("error during formatting: {rule}, was given optional_type");
            return Err(Fault::new(text));
        }
    }
    Ok(())
}

fn plain_double(double: f64) -> String {
    if double.is_nan() {
        "NaN".to_owned()
    } else if double.is_infinite() {
        if double > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        double.to_string()
    }
}

/// With at least two digits in the exponent, and its sign.
fn scientific(double: f64, precision: usize) -> String {
    let text = format!("{double:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let sign = if exponent.starts_with('-') { '-' } else { '+' };
            format!("{digits}e{sign}{:0>2}", exponent.trim_start_matches('-'))
        }
        None => text,
    }
}
