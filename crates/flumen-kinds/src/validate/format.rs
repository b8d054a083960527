//! Forms of strings: names, labels, keys, paths. Each function answers what is wrong, in the
//! server's words, and nothing for what is right.

use std::fmt::Write as _;

pub(super) type Format = fn(&str) -> Vec<String>;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_LENGTH: usize = 63;
const SUBDOMAIN_LENGTH: usize = 253;

pub(super) fn between(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

pub(super) fn characters(maximum: usize) -> String {
    format!("must be no more than {maximum} characters")
}

fn pattern(message: &str, regex: &str, examples: &[&str]) -> String {
    let mut text = format!("{message} (");
    for (n, example) in examples.iter().enumerate() {
        let before = if n == 0 { "e.g. " } else { " or " };
        let _ = write!(text, "{before}'{example}', ");
    }
    let _ = write!(text, "regex used for validation is '{regex}')");
    text
}

fn is_label_inner(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Whether all bytes are of a set, and the first and the last of a narrower one.
fn is_framed(
    value: &str,
    first: fn(u8) -> bool,
    inner: fn(u8) -> bool,
    last: fn(u8) -> bool,
) -> bool {
    let bytes = value.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(start), Some(end)) => {
            first(*start) && last(*end) && bytes.iter().all(|byte| inner(*byte))
        }
        _ => false,
    }
}

fn is_label(value: &str) -> bool {
    is_framed(value, is_label_inner, |b| is_label_inner(b) || b == b'-', is_label_inner)
}

pub(super) fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

fn limited(value: &str, maximum: usize) -> Vec<String> {
    if value.len() > maximum { vec![characters(maximum)] } else { Vec::new() }
}

pub(crate) fn dns_label(value: &str) -> Vec<String> {
    let mut found = limited(value, LABEL_LENGTH);
    if !is_label(value) {
        found.push(if is_subdomain(value) {
            "must not contain dots".into()
        } else {
            let message = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
            pattern(message, LABEL, &["my-name", "123-abc"])
        });
    }
    found
}

const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

pub(super) fn dns_subdomain(value: &str) -> Vec<String> {
    let mut found = limited(value, SUBDOMAIN_LENGTH);
    if !is_subdomain(value) {
        found.push(pattern(SUBDOMAIN_MESSAGE, SUBDOMAIN, &["example.com"]));
    }
    found
}

/// A subdomain in any case, said as if it had to be lower case.
pub(super) fn dns_subdomain_any_case(value: &str) -> Vec<String> {
    dns_subdomain(&value.to_ascii_lowercase())
}

pub(super) fn dns_subdomain_with_underscore(value: &str) -> Vec<String> {
    let mut found = limited(value, SUBDOMAIN_LENGTH);
    let inner = |b: u8| is_label_inner(b) || b == b'-' || b == b'_';
    let underscored = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label);
        is_framed(label, is_label_inner, inner, is_label_inner)
    };
    if !value.split('.').all(underscored) {
        let message = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
        let regex = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
        found.push(pattern(message, regex, &["example.com"]));
    }
    found
}

pub(super) fn dns_wildcard(value: &str) -> Vec<String> {
    let mut found = limited(value, SUBDOMAIN_LENGTH);
    if !value.strip_prefix("*.").is_some_and(is_subdomain) {
        let message = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        found.push(pattern(message, &format!(r"\*\.{SUBDOMAIN}"), &["*.example.com"]));
    }
    found
}

pub(super) fn dns_1035_label(value: &str) -> Vec<String> {
    let mut found = limited(value, LABEL_LENGTH);
    if !is_label(value) || !value.starts_with(|c: char| c.is_ascii_lowercase()) {
        let message = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
        found.push(pattern(message, "[a-z]([-a-z0-9]*[a-z0-9])?", &["my-name", "abc-123"]));
    }
    found
}

fn is_name_inner(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn is_name(value: &str) -> bool {
    is_framed(value, |b| b.is_ascii_alphanumeric(), is_name_inner, |b| b.is_ascii_alphanumeric())
}

const NAME_MESSAGE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const NAME_EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];

/// A label key: a name with an optional domain before it.
pub(super) fn qualified_name(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut parts = value.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) => name,
        (Some(""), Some(name), None) => {
            found.push("prefix part must be non-empty".into());
            name
        }
        (Some(prefix), Some(name), None) => {
            if prefix.len() > SUBDOMAIN_LENGTH {
                found.push(format!("prefix part must be no more than {SUBDOMAIN_LENGTH} bytes"));
            }
            if !is_subdomain(prefix) {
                let message = pattern(SUBDOMAIN_MESSAGE, SUBDOMAIN, &["example.com"]);
                found.push(format!("prefix part {message}"));
            }
            name
        }
        _ => {
            let message = pattern(NAME_MESSAGE, NAME, &NAME_EXAMPLES);
            return vec![format!(
                "a valid label key {message} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        found.push("name part must be non-empty".into());
    } else if name.len() > LABEL_LENGTH {
        found.push(format!("name part must be no more than {LABEL_LENGTH} bytes"));
    }
    if !is_name(name) {
        found.push(format!("name part {}", pattern(NAME_MESSAGE, NAME, &NAME_EXAMPLES)));
    }
    found
}

pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut found = Vec::new();
    if value.len() > LABEL_LENGTH {
        found.push(format!("must be no more than {LABEL_LENGTH} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        let message = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
        found.push(pattern(message, &format!("({NAME})?"), &["MyValue", "my_value", "12345"]));
    }
    found
}

/// What can be a part of a path of the API.
pub(super) fn path_segment(value: &str) -> Vec<String> {
    if matches!(value, "." | "..") {
        return vec![format!("may not be '{value}'")];
    }
    path_segment_start(value)
}

/// What can be the start of a part of a path of the API.
pub(super) fn path_segment_start(value: &str) -> Vec<String> {
    let forbidden = ['/', '%'].into_iter().filter(|part| value.contains(*part));
    forbidden.map(|part| format!("may not contain '{part}'")).collect()
}

pub(super) fn port_name(value: &str) -> Vec<String> {
    let mut found = limited(value, 15);
    if value.is_empty() || !value.bytes().all(|b| is_label_inner(b) || b == b'-') {
        found.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".into());
    }
    if !value.bytes().any(|b| b.is_ascii_lowercase()) {
        found.push("must contain at least one letter (a-z)".into());
    }
    if value.contains("--") {
        found.push("must not contain consecutive hyphens".into());
    }
    if value.starts_with('-') || value.ends_with('-') {
        found.push("must not begin or end with a hyphen".into());
    }
    found
}

pub(super) fn percent(value: &str) -> Vec<String> {
    let digits = value.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Vec::new();
    }
    let message = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![pattern(message, "[0-9]+%", &["1%", "93%"])]
}

pub(super) fn http_header(value: &str) -> Vec<String> {
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        return Vec::new();
    }
    let message = "a valid HTTP header must consist of alphanumeric characters or '-'";
    vec![pattern(message, "[-A-Za-z0-9]+", &["X-Header-Name"])]
}

pub(super) fn environment_name(value: &str) -> Vec<String> {
    if value.is_empty() {
        return vec!["environment variable name must be non-empty".into()];
    }
    if value.bytes().all(|b| (b' '..=b'~').contains(&b) && b != b'=') {
        return Vec::new();
    }
    vec!["a valid environment variable name must consist only of printable ASCII characters other than '='".into()]
}

pub(super) fn data_key(value: &str) -> Vec<String> {
    let mut found = limited(value, SUBDOMAIN_LENGTH);
    if value.is_empty() || !value.bytes().all(is_name_inner) {
        let message = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        found.push(pattern(message, "[-._a-zA-Z0-9]+", &["key.name", "KEY_NAME", "key-name"]));
    }
    match value {
        "." | ".." => found.push(format!("must not be '{value}'")),
        _ if value.starts_with("..") => found.push("must not start with '..'".into()),
        _ => {}
    }
    found
}

pub(super) fn c_identifier(value: &str) -> Vec<String> {
    let start = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if is_framed(value, start, inner, inner) {
        return Vec::new();
    }
    let message = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
    vec![pattern(message, "[A-Za-z_][A-Za-z0-9_]*", &["my_name", "MY_NAME", "MyName"])]
}

pub(super) fn condition_reason(value: &str) -> Vec<String> {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b',' | b':');
    let last = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    if is_framed(value, |b| b.is_ascii_alphabetic(), inner, last) {
        return Vec::new();
    }
    let message = "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
    let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
    vec![pattern(message, "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", &examples)]
}

pub(super) fn is_sysctl(value: &str) -> bool {
    let inner = |b: u8| is_label_inner(b) || b == b'-' || b == b'_';
    let segment = |part: &str| is_framed(part, is_label_inner, inner, is_label_inner);
    value.len() <= SUBDOMAIN_LENGTH && value.split(['.', '/']).all(segment)
}

/// The part of a name before what the server adds to it.
pub(super) fn before_suffix(form: Format, value: &str) -> Vec<String> {
    if value.len() > 1 && value.ends_with('-') {
        let mut masked = value[..value.len() - 2].to_owned();
        masked.push('a');
        return form(&masked);
    }
    form(value)
}
