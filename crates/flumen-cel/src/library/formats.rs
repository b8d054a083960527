//! Formats of texts that have names.

use super::Opaque;
use crate::{Fault, Outcome, url::Url, value::Value};

/// A format: its name, and what is wrong with a text that has not got it.
#[derive(Debug)]
pub struct NamedFormat {
    function: &'static str,
    pub(super) name: &'static str,
    check: fn(&str) -> Vec<String>,
}

impl PartialEq for NamedFormat {
    fn eq(&self, other: &Self) -> bool {
        self.function == other.function
    }
}

const fn format(
    function: &'static str,
    name: &'static str,
    check: fn(&str) -> Vec<String>,
) -> NamedFormat {
    NamedFormat { function, name, check }
}

static FORMATS: [NamedFormat; 13] = [
    format("dns1123Label", "DNS1123Label", label),
    format("dns1123Subdomain", "DNS1123Subdomain", subdomain),
    format("dns1035Label", "DNS1035Label", label_1035),
    format("qualifiedName", "QualifiedName", qualified),
    format("dns1123LabelPrefix", "DNS1123LabelPrefix", |text| label(&before_suffix(text))),
    format("dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", |text| {
        subdomain(&before_suffix(text))
    }),
    format("dns1035LabelPrefix", "DNS1035LabelPrefix", |text| label_1035(&before_suffix(text))),
    format("labelValue", "LabelValue", label_value),
    format("uri", "URI", |text| Url::parse_request(text).err().into_iter().collect()),
    format("uuid", "uuid", |text| unless(is_uuid(text), "does not match the UUID format")),
    format("byte", "byte", |text| unless(is_base64(text), "invalid base64")),
    format("date", "date", |text| unless(is_date(text), "invalid date")),
    format("datetime", "datetime", |text| unless(is_date_time(text), "invalid datetime")),
];

fn find(function: &str) -> Option<&'static NamedFormat> {
    FORMATS.iter().find(|format| format.function == function)
}

/// Whether `format.` may stand before a name.
pub(crate) fn is_format(function: &str) -> bool {
    find(function).is_some()
}

pub(super) fn apply<'a>(name: &str, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    match (name, args) {
        ("format.named", [Value::Text(name)]) => Some(Ok(match find(name) {
            Some(format) => Value::some(Opaque::Format(format).value()),
            None => Value::Optional(None),
        })),
        (name, []) => {
            let format = name.strip_prefix("format.").and_then(find)?;
            Some(Ok(Opaque::Format(format).value()))
        }
        ("validate", [Value::Opaque(format), Value::Text(text)]) => {
            let Opaque::Format(format) = format.as_ref() else {
                return Some(Err(Fault::NO_OVERLOAD));
            };
            let problems = (format.check)(text);
            Some(Ok(if problems.is_empty() {
                Value::Optional(None)
            } else {
                Value::some(Value::list(problems.into_iter().map(Value::text).collect()))
            }))
        }
        _ => None,
    }
}

fn unless(is_right: bool, problem: &str) -> Vec<String> {
    if is_right { Vec::new() } else { vec![problem.to_owned()] }
}

/// A name to which something is appended may end in what names must not end in.
fn before_suffix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if text.len() > 1 => format!("{rest}a"),
        _ => text.to_owned(),
    }
}

fn is_label(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|c| is_end(c) || c == '-')
}

fn limited(text: &str, most: usize, is_right: bool, problem: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > most {
        problems.push(format!("must be no more than {most} characters"));
    }
    if !is_right {
        problems.push(problem.to_owned());
    }
    problems
}

fn label(text: &str) -> Vec<String> {
    let problem = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
                   '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
                   '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    limited(text, 63, is_label(text), problem)
}

fn label_1035(text: &str) -> Vec<String> {
    let problem = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
                   with an alphabetic character, and end with an alphanumeric character (e.g. \
                   'my-name',  or 'abc-123', regex used for validation is \
                   '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let starts = text.starts_with(|c: char| c.is_ascii_lowercase());
    limited(text, 63, starts && is_label(text), problem)
}

fn subdomain(text: &str) -> Vec<String> {
    let problem = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
                   '-' or '.', and must start and end with an alphanumeric character (e.g. \
                   'example.com', regex used for validation is \
                   '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    limited(text, 253, text.split('.').all(is_label), problem)
}

fn is_name(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_end)
        && text.ends_with(is_end)
        && text.chars().all(|c| is_end(c) || "-_.".contains(c))
}

fn qualified(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) if !name.contains('/') => (Some(prefix), name),
        Some(_) => {
            return vec![
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must \
                 start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or \
                 '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') \
                 with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
                    .to_owned(),
            ];
        }
        None => (None, text),
    };
    let mut problems = Vec::new();
    match prefix {
        Some("") => problems.push("prefix part must be non-empty".to_owned()),
        Some(prefix) => {
            problems.extend(subdomain(prefix).into_iter().map(|it| format!("prefix part {it}")));
        }
        None => {}
    }
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push("name part must be no more than 63 characters".to_owned());
    }
    if !is_name(name) {
        problems.push(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and \
             end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex \
             used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
                .to_owned(),
        );
    }
    problems
}

fn label_value(text: &str) -> Vec<String> {
    let problem = "a valid label must be an empty string or consist of alphanumeric characters, '-', \
                   '_' or '.', and must start and end with an alphanumeric character (e.g. \
                   'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                   '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    limited(text, 63, text.is_empty() || is_name(text), problem)
}

fn is_uuid(text: &str) -> bool {
    let digits: Vec<_> = text.bytes().filter(|byte| *byte != b'-').collect();
    let dashes = [8, 13, 18, 23];
    let is_placed = !text.contains('-') || dashes.iter().all(|at| text.get(*at..=*at) == Some("-"));
    digits.len() == 32 && is_placed && digits.iter().all(u8::is_ascii_hexdigit)
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    text.to_ascii_lowercase().split_once('t').is_some_and(|(date, _)| is_date(date))
        && text.to_ascii_uppercase().parse::<jiff::Timestamp>().is_ok()
}
