//! Versions of software.

use std::cmp::Ordering;

use semver::Version;

use super::{Opaque, count};
use crate::{Fault, Outcome, value::Value};

pub(super) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    let is_lenient = matches!(args, [_, Value::Bool(true)]);
    match (name, args) {
        ("semver", [Value::Text(text)] | [Value::Text(text), Value::Bool(_)]) => {
            Some(match parse(text, is_lenient) {
                Ok(version) => Ok(Opaque::Version(version).value()),
                Err(error) => Err(Fault::new(error)),
            })
        }
        ("isSemver", [Value::Text(text)] | [Value::Text(text), Value::Bool(_)]) => {
            Some(Ok(Value::Bool(parse(text, is_lenient).is_ok())))
        }
        (_, [Value::Opaque(version)]) => {
            let Opaque::Version(version) = version.as_ref() else { return None };
            Some(Ok(count(match name {
                "major" => version.major,
                "minor" => version.minor,
                "patch" => version.patch,
                _ => return None,
            })))
        }
        (_, [Value::Opaque(a), Value::Opaque(b)]) => {
            let (Opaque::Version(a), Opaque::Version(b)) = (a.as_ref(), b.as_ref()) else {
                return None;
            };
            let order = a.cmp_precedence(b);
            Some(Ok(match name {
                "isLessThan" => Value::Bool(order.is_lt()),
                "isGreaterThan" => Value::Bool(order.is_gt()),
                "compareTo" => Value::Int(match order {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                }),
                _ => return None,
            }))
        }
        _ => None,
    }
}

fn parse(text: &str, is_lenient: bool) -> Result<Version, String> {
    if !is_lenient {
        return Version::parse(text).map_err(|error| error.to_string());
    }
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, "0".to_owned());
    Version::parse(&parts.join(".")).map_err(|error| error.to_string())
}

fn without_zeros(part: &str) -> String {
    let trimmed = part.trim_start_matches('0');
    if part.len() <= 1 {
        part.to_owned()
    } else if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
        trimmed.to_owned()
    } else {
        format!("0{trimmed}")
    }
}
