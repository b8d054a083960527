//! Functions of text. Places are counted in characters.

use regex_lite::Regex;

use crate::{
    Budget, Fault, Outcome,
    collection::List,
    format::format,
    functions::{no_overload_for, no_overload_of_types},
    value::Value,
};

pub(crate) fn apply<'a>(
    name: &str,
    args: &[Value<'a>],
    budget: &mut Budget,
) -> Option<Outcome<'a>> {
    let outcome = match (name, args) {
        ("startsWith", [Value::Text(text), Value::Text(part)]) => {
            Ok(Value::Bool(text.starts_with(part.as_str())))
        }
        ("endsWith", [Value::Text(text), Value::Text(part)]) => {
            Ok(Value::Bool(text.ends_with(part.as_str())))
        }
        ("contains", [Value::Text(text), Value::Text(part)]) => {
            Ok(Value::Bool(text.contains(part.as_str())))
        }
        ("matches", [Value::Text(text), Value::Text(pattern)]) => matches(text, pattern, budget),
        ("startsWith" | "endsWith" | "contains", [_, _]) => Err(Fault::NO_OVERLOAD),
        ("matches", [other, _]) => Err(no_overload_for(name, other)),

        ("lowerAscii", [Value::Text(text)]) => Ok(Value::text(text.to_ascii_lowercase())),
        ("upperAscii", [Value::Text(text)]) => Ok(Value::text(text.to_ascii_uppercase())),
        ("trim", [Value::Text(text)]) => Ok(Value::text(text.trim().to_owned())),
        ("reverse", [Value::Text(text)]) => Ok(Value::text(text.chars().rev().collect::<String>())),
        ("strings.quote", [Value::Text(text)]) => Ok(Value::text(quote(text))),
        ("charAt", [Value::Text(text), Value::Int(at)]) => char_at(text, *at),
        ("substring", [Value::Text(text), Value::Int(start)]) => substring(text, *start, None),
        ("substring", [Value::Text(text), Value::Int(start), Value::Int(end)]) => {
            substring(text, *start, Some(*end))
        }
        ("indexOf", [Value::Text(text), Value::Text(part)]) => index_of(text, part, 0),
        ("indexOf", [Value::Text(text), Value::Text(part), Value::Int(from)]) => {
            index_of(text, part, *from)
        }
        ("lastIndexOf", [Value::Text(text), Value::Text(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Value::Text(text), Value::Text(part), Value::Int(to)]) => {
            last_index_of(text, part, Some(*to))
        }
        ("replace", [Value::Text(text), Value::Text(from), Value::Text(to)]) => {
            replace(text, from, to, -1, budget)
        }
        ("replace", [Value::Text(text), Value::Text(from), Value::Text(to), Value::Int(limit)]) => {
            replace(text, from, to, *limit, budget)
        }
        ("split", [Value::Text(text), Value::Text(by)]) => split(text, by, -1, budget),
        ("split", [Value::Text(text), Value::Text(by), Value::Int(limit)]) => {
            split(text, by, *limit, budget)
        }
        ("join", [Value::List(list)]) => return Some(join(list, "", args, budget)),
        ("join", [Value::List(list), Value::Text(by)]) => {
            return Some(join(list, by, args, budget));
        }
        ("format", [Value::Text(text), Value::List(values)]) => format(text, values, budget),
        (
            "lowerAscii" | "upperAscii" | "trim" | "reverse" | "strings.quote" | "charAt"
            | "substring" | "indexOf" | "lastIndexOf" | "replace" | "split" | "join" | "format",
            _,
        ) => Err(no_overload_of_types(name, args)),
        _ => return None,
    };
    Some(outcome)
}

/// Compiles a pattern, which must not become large by repetition.
pub(crate) fn pattern(source: &str) -> Result<Regex, Fault> {
    crate::regex::pattern(source, LARGEST_PATTERN).map_err(Fault::new)
}

/// In bytes, once compiled.
const LARGEST_PATTERN: usize = 16 * 1024;

/// The engine needs time in proportion to the text and to the pattern, of which a counted repetition
/// may have made up to some hundred parts.
fn matches<'a>(text: &str, source: &str, budget: &mut Budget) -> Outcome<'a> {
    let parts = source.len() + if source.contains('{') { 500 } else { 0 };
    budget.spend((parts * (1 + text.len() / 16)) as u64)?;
    Ok(Value::Bool(pattern(source)?.is_match(text)))
}

fn out_of_range(index: i64) -> Fault {
    Fault::new(format!("index out of range: {index}"))
}

/// The byte at which a character starts, or the end of the text.
fn byte_of(text: &str, index: i64) -> Result<usize, Fault> {
    let place = usize::try_from(index).map_err(|_| out_of_range(index))?;
    let ends = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
    ends.into_iter().nth(place).ok_or_else(|| out_of_range(index))
}

fn char_at<'a>(text: &str, index: i64) -> Outcome<'a> {
    let rest = &text[byte_of(text, index)?..];
    Ok(Value::text(rest.chars().next().map(String::from).unwrap_or_default()))
}

fn substring<'a>(text: &str, start: i64, end: Option<i64>) -> Outcome<'a> {
    if let Some(end) = end
        && start > end
    {
        let message = format!("invalid substring range. start: {start}, end: {end}");
        return Err(Fault::new(message));
    }
    let last = end.map_or(Ok(text.len()), |end| byte_of(text, end))?;
    Ok(Value::text(text[byte_of(text, start)?..last].to_owned()))
}

fn char_index<'a>(text: &str, byte: Option<usize>) -> Value<'a> {
    let index = byte.map(|byte| text[..byte].chars().count());
    Value::Int(index.and_then(|index| i64::try_from(index).ok()).unwrap_or(-1))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Outcome<'a> {
    if from < 0 {
        return Err(out_of_range(from));
    }
    let Ok(start) = byte_of(text, from) else { return Ok(Value::Int(-1)) };
    let found = text[start..].find(part).map(|byte| start + byte);
    Ok(char_index(text, found))
}

fn last_index_of<'a>(text: &str, part: &str, to: Option<i64>) -> Outcome<'a> {
    let end = match to {
        None => text.len(),
        Some(to) if to < 0 => return Err(out_of_range(to)),
        Some(to) => match byte_of(text, to) {
            Ok(byte) => (byte + part.len()).min(text.len()),
            Err(_) => return Ok(Value::Int(-1)),
        },
    };
    let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
    Ok(char_index(text, text[..end].rfind(part)))
}

fn replace<'a>(text: &str, from: &str, to: &str, limit: i64, budget: &mut Budget) -> Outcome<'a> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let times = text.matches(from).take(limit).count();
    budget.spend_bytes(text.len() + times * to.len())?;
    Ok(Value::text(text.replacen(from, to, times)))
}

fn split<'a>(text: &str, by: &str, limit: i64, budget: &mut Budget) -> Outcome<'a> {
    budget.spend(text.len() as u64)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let parts: Vec<&str> = if limit == 0 {
        Vec::new()
    } else if by.is_empty() {
        characters(text, limit)
    } else {
        text.splitn(limit, by).collect()
    };
    Ok(Value::list(parts.into_iter().map(|part| Value::text(part.to_owned())).collect()))
}

/// One text for each character; the last has all that is left.
fn characters(text: &str, limit: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if parts.len() + 1 == limit { rest.len() } else { first.len_utf8() };
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

fn join<'a>(list: &List<'a>, by: &str, args: &[Value<'a>], budget: &mut Budget) -> Outcome<'a> {
    let mut joined = String::new();
    for (place, value) in list.iter().enumerate() {
        let Value::Text(text) = value else { return Err(no_overload_of_types("join", args)) };
        budget.spend_bytes(text.len() + by.len() + 16)?;
        if place > 0 {
            joined.push_str(by);
        }
        joined.push_str(&text);
    }
    Ok(Value::text(joined))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
