//! What may be the key or the value of a label, in the words of the Kubernetes API.

use std::fmt::Write as _;

use super::Wording;

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
    and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used \
    for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PREFIX_RULE: &str = "a DNS-1123 subdomain must consist of lower case alphanumeric \
    characters, '-' or '.', and must start and end with an alphanumeric character (e.g. \
    'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric \
    characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
    'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const MAX_NAME: usize = 63;
const MAX_PREFIX: usize = 253;

pub(super) fn check_key(key: &str, wording: Wording) -> Result<(), String> {
    let mut problems = Vec::new();
    match key.split('/').collect::<Vec<_>>()[..] {
        [name] => check_name(name, &mut problems),
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > MAX_PREFIX {
                    problems
                        .push(format!("prefix part must be no more than {MAX_PREFIX} characters"));
                }
                if !is_subdomain(prefix) {
                    problems.push(format!("prefix part {PREFIX_RULE}"));
                }
            }
            check_name(name, &mut problems);
        }
        _ => problems.push(format!(
            "a qualified name {NAME_RULE} with an optional DNS subdomain prefix and '/' \
             (e.g. 'example.com/MyName')"
        )),
    }
    if problems.is_empty() {
        return Ok(());
    }
    let problems = problems.join("; ");
    Err(match wording {
        Wording::Tools => format!("invalid label key {key:?}: {problems}"),
        Wording::Server => format!("<nil>: Invalid value: {key:?}: {problems}"),
    })
}

fn check_name(name: &str, problems: &mut Vec<String>) {
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        problems.push(format!("name part must be no more than {MAX_NAME} characters"));
    }
    if !is_name(name) {
        problems.push(format!("name part {NAME_RULE}"));
    }
}

pub(super) fn check_value(
    key: &str,
    place: usize,
    value: &str,
    wording: Wording,
) -> Result<(), String> {
    let mut problems = String::new();
    if value.len() > MAX_NAME {
        let _ = write!(problems, "must be no more than {MAX_NAME} characters");
    }
    if !value.is_empty() && !is_name(value) {
        let separator = if problems.is_empty() { "" } else { "; " };
        let _ = write!(problems, "{separator}{VALUE_RULE}");
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(match wording {
        Wording::Tools => format!("invalid label value: {value:?}: at key: {key:?}: {problems}"),
        Wording::Server => format!("values[{place}][{key}]: Invalid value: {value:?}: {problems}"),
    })
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(name: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.split('.').map(str::as_bytes).all(|label| {
        label.first().is_some_and(is_alphanumeric)
            && label.last().is_some_and(is_alphanumeric)
            && label.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
    })
}
