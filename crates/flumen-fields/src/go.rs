//! Values as messages of the API server print them, which is how Go does.

use std::fmt::{self, Write as _};

use serde_json::Value;

use crate::order::Numeric;

/// A string in quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if printable(c) => out.push(c),
            c if c < '\u{80}' => push(&mut out, format_args!("\\x{:02x}", u32::from(c))),
            c if c < '\u{10000}' => push_escape(&mut out, c),
            c => push(&mut out, format_args!("\\U{:08x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// A character as `\u003c`.
pub(crate) fn push_escape(out: &mut String, c: char) {
    push(out, format_args!("\\u{:04x}", u32::from(c)));
}

fn push(out: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
}

fn printable(c: char) -> bool {
    let invisible = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    c == ' ' || !(c.is_control() || c.is_whitespace() || invisible)
}

/// The type of a value that was decoded without one.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) => match Numeric::of(number) {
            Numeric::Int(_) => "int64",
            Numeric::Float(_) => "float64",
        },
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value for people: `map[a:1 b:[x y]]`.
pub fn plain(value: &Value) -> String {
    let mut out = String::new();
    push_plain(&mut out, value);
    out
}

/// A value as Go prints it where a text is expected: `%!s(int64=1)` for what is none.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", type_name(value), plain(value)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(as_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let member = |(key, value): (&String, &Value)| format!("{key}:{}", as_text(value));
            format!("map[{}]", map.iter().map(member).collect::<Vec<_>>().join(" "))
        }
    }
}

fn push_plain(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&shortest(Numeric::of(number))),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(' ');
                }
                push_plain(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (n, (key, value)) in map.iter().enumerate() {
                if n > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                push_plain(out, value);
            }
            out.push(']');
        }
    }
}

/// A value as source text: `map[string]interface {}{"a":1}`.
pub(crate) fn syntax(value: &Value) -> String {
    let mut out = String::new();
    push_syntax(&mut out, value);
    out
}

fn push_syntax(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::Bool(_) | Value::Number(_) => push_plain(out, value),
        Value::String(text) => out.push_str(&quote(text)),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                push_syntax(out, item);
            }
            out.push('}');
        }
        Value::Object(map) => {
            out.push_str("map[string]interface {}{");
            for (n, (key, value)) in map.iter().enumerate() {
                if n > 0 {
                    out.push_str(", ");
                }
                out.push_str(&quote(key));
                out.push(':');
                push_syntax(out, value);
            }
            out.push('}');
        }
    }
}

/// The shortest form that reads back as the same number, with an exponent where it has many digits.
pub(crate) fn shortest(number: Numeric) -> String {
    match number {
        Numeric::Int(int) => int.to_string(),
        Numeric::Float(float) => with_exponent(float, -4, 6),
    }
}

/// As numbers are in JSON.
pub(crate) fn json_number(number: Numeric) -> String {
    match number {
        Numeric::Int(int) => int.to_string(),
        Numeric::Float(float) => with_exponent(float, -6, 21).replace("e-0", "e-"),
    }
}

fn with_exponent(float: f64, smallest: i32, largest: i32) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if float == 0.0 || (smallest..largest).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{json_number, plain, quote, shortest, syntax};
    use crate::order::Numeric;

    #[test]
    fn strings_are_quoted_as_source_text() {
        assert_eq!(quote("a\"b\\c\n\u{1}ü\u{a0}"), r#""a\"b\\c\n\x01ü\u00a0""#);
    }

    #[test]
    fn values_are_printed_for_people_and_as_source() {
        let value = json!({"a": [1, "x", null], "b": {}, "c": true});
        assert_eq!(plain(&value), "map[a:[1 x <nil>] b:map[] c:true]");
        assert_eq!(
            syntax(&value),
            r#"map[string]interface {}{"a":[]interface {}{1, "x", interface {}(nil)}, "b":map[string]interface {}{}, "c":true}"#
        );
    }

    #[test]
    fn floats_get_an_exponent_when_they_are_large_or_small() {
        for (float, people, json) in [
            (1.5, "1.5", "1.5"),
            (1000.0, "1000", "1000"),
            (1e20, "1e+20", "100000000000000000000"),
            (123_456_789.0, "1.23456789e+08", "123456789"),
            (1.25e21, "1.25e+21", "1.25e+21"),
            (0.00001, "1e-05", "0.00001"),
            (0.000_000_1, "1e-07", "1e-7"),
        ] {
            assert_eq!(shortest(Numeric::Float(float)), people);
            assert_eq!(json_number(Numeric::Float(float)), json);
        }
    }
}
