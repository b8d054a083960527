//! Types, texts, numbers and choices.

use serde_json::{Number, Value};

use super::{Outcome, Place, failure::Failure};
use crate::{formats, number, schema::Schema};

/// Whether anything is said about the type. Formats that are not known say nothing.
pub(super) fn has_type(schema: &Schema) -> bool {
    !schema.kind.is_empty() || schema.int_or_string || formats::known(&schema.format).is_some()
}

/// The names of the types that are allowed.
fn types(schema: &Schema) -> Vec<&str> {
    if schema.int_or_string {
        vec!["integer", "string"]
    } else if schema.kind.is_empty() {
        Vec::new()
    } else {
        vec![&schema.kind]
    }
}

pub(super) fn check_type(value: &Value, schema: &Schema, place: &Place<'_>, outcome: &mut Outcome) {
    let types = types(schema);
    let allows = |kind: &str| types.contains(&kind);
    if value.is_null() {
        if types.is_empty() || schema.nullable || allows("null") {
            outcome.matches += 1;
        } else {
            outcome.add(Failure::of_type(place, "null", &types.join(",")));
        }
        return;
    }
    let (kind, own_format) = kind_of(value);
    let fits = allows(kind)
        || kind == "integer" && allows("number")
        || kind == "number" && allows("integer") && is_whole(value);
    let format = formats::known(&schema.format).map_or("", |_| schema.format.as_str());
    let listed = matches!(value, Value::String(_) | Value::Array(_));
    if !listed && !format.is_empty() && !fits && own_format != format {
        outcome.add(Failure::of_type(place, own_format, format));
    } else if fits || listed && !format.is_empty() && !allows("number") && !allows("integer") {
        outcome.matches += 1;
    } else {
        outcome.add(Failure::of_type(place, kind, &types.join(",")));
    }
}

/// The type of a value and the format that it has by itself.
fn kind_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_f64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(number::is_whole)
}

pub(super) fn check_choices(
    value: &Value,
    schema: &Schema,
    place: &Place<'_>,
    outcome: &mut Outcome,
) {
    let choices = &schema.choices;
    if choices.is_empty() || !value.is_null() && choices.iter().any(|it| number::equal(it, value)) {
        return;
    }
    outcome.add(Failure::not_among(place, value, choices));
}

/// The first of length and pattern that does not hold.
pub(super) fn check_text(text: &str, schema: &Schema, place: &Place<'_>, outcome: &mut Outcome) {
    let shown = || Value::from(text);
    let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(most) = schema.max_length
        && length() > most
    {
        outcome.add(Failure::too_long(place, most));
    } else if let Some(least) = schema.min_length
        && length() < least
    {
        let detail = format!("{place} in body should be at least {least} chars long");
        outcome.add(Failure::invalid(place, shown(), detail));
    } else if let Some(pattern) = &schema.pattern {
        let source = &pattern.source;
        let detail = match pattern.compiled() {
            Ok(compiled) if compiled.is_match(text) => return,
            Ok(_) => format!("{place} in body should match '{source}'"),
            Err(error) => {
                format!("{place} in body should match '{source}, but pattern is invalid: {error}'")
            }
        };
        outcome.add(Failure::invalid(place, shown(), detail));
    }
}

/// Whether there is a known format, which is then checked.
pub(super) fn check_format(
    text: &str,
    schema: &Schema,
    place: &Place<'_>,
    outcome: &mut Outcome,
) -> bool {
    let Some(is_valid) = formats::known(&schema.format) else { return false };
    if !is_valid(text) {
        outcome.add(Failure::of_type(place, text, &schema.format));
    }
    true
}

pub(super) fn check_number(
    number: &Number,
    schema: &Schema,
    place: &Place<'_>,
    outcome: &mut Outcome,
) {
    let shown = || Value::Number(number.clone());
    if let Some(factor) = schema.multiple_of {
        if factor <= 0.0 {
            let factor = number::go(factor, number);
            let detail =
                format!("factor MultipleOf declared for {place} must be positive: {factor}");
            outcome.add(Failure::invalid(place, shown(), detail));
        } else if !number::is_multiple(number, factor) {
            let factor = number::go(factor, number);
            let detail = format!("{place} in body should be a multiple of {factor}");
            outcome.add(Failure::invalid(place, shown(), detail));
        }
    }
    if let Some(least) = schema.minimum {
        let order = number::compare(number, least);
        if order.is_lt() || schema.exclusive_minimum && order.is_eq() {
            let words =
                if schema.exclusive_minimum { "greater than" } else { "greater than or equal to" };
            let detail = format!("{place} in body should be {words} {}", number::go(least, number));
            outcome.add(Failure::invalid(place, shown(), detail));
        }
    }
    if let Some(most) = schema.maximum {
        let order = number::compare(number, most);
        if order.is_gt() || schema.exclusive_maximum && order.is_eq() {
            let words =
                if schema.exclusive_maximum { "less than" } else { "less than or equal to" };
            let detail = format!("{place} in body should be {words} {}", number::go(most, number));
            outcome.add(Failure::invalid(place, shown(), detail));
        }
    }
    outcome.matches += 1;
}
