//! Answers without what two equal servers say differently: identities, versions, times, random names.

use jiff::{Timestamp, ToSpan as _};
use serde_json::{Map, Value, json};

/// The addresses of services, as both servers have them.
const SERVICES: &str = "10.0.";
/// How the prefixes of generated names begin.
pub(crate) const GENERATED: &str = "made-";
/// What the server adds to them.
const RANDOM_LETTERS: usize = 5;
const NODE_PORTS: std::ops::Range<i64> = 30_000..32_768;

/// Numbers what a server makes up by first appearance, so that equal things stay equal.
#[derive(Debug)]
pub(crate) struct Normal {
    now: Timestamp,
    uids: Vec<String>,
    versions: Vec<String>,
    addresses: Vec<String>,
    node_ports: Vec<i64>,
}

impl Normal {
    pub(crate) fn new() -> Self {
        Self {
            now: Timestamp::now(),
            uids: Vec::new(),
            versions: Vec::new(),
            addresses: Vec::new(),
            node_ports: Vec::new(),
        }
    }

    pub(crate) fn value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(self.object(map)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::String(text) => Value::String(self.text(&text)),
            other => other,
        }
    }

    fn object(&mut self, map: Map<String, Value>) -> Map<String, Value> {
        let is_list = map.contains_key("items") || map.contains_key("rows");
        let mut normal = Map::new();
        for (key, value) in map {
            let value = match (&*key, value) {
                ("metadata", Value::Object(metadata)) => self.metadata(metadata, is_list),
                ("managedFields", Value::Array(entries)) => {
                    let entries = entries.into_iter().map(|entry| self.value(entry));
                    // The server sorts by time, so the clock would decide.
                    sorted(entries.collect(), |entry| {
                        ["manager", "operation", "apiVersion", "subresource"]
                            .map(|key| entry[key].as_str().unwrap_or_default().to_owned())
                    })
                }
                // When a deletion begins, the server keeps those of a namespace in a hash map.
                ("finalizers", Value::Array(names))
                    if names
                        .iter()
                        .any(|name| name == "orphan" || name == "foregroundDeletion") =>
                {
                    sorted(names, Value::to_string)
                }
                ("causes", causes @ Value::Array(_)) => {
                    // In places the server goes through a hash map.
                    let Value::Array(causes) = self.value(causes) else { continue };
                    sorted(causes, Value::to_string)
                }
                ("nodePort" | "healthCheckNodePort", Value::Number(port)) => self.node_port(&port),
                ("cells", Value::Array(cells)) => cells.into_iter().map(|c| self.cell(c)).collect(),
                (_, value) => self.value(value),
            };
            normal.insert(self.text(&key), value);
        }
        without_repeated_causes(&mut normal);
        normal
    }

    fn metadata(&mut self, mut metadata: Map<String, Value>, is_list: bool) -> Value {
        if let Some(Value::String(version)) = metadata.get("resourceVersion") {
            let version = if is_list {
                // The versions of others are in between.
                "<list>".to_owned()
            } else {
                format!("<rv#{}>", number(&mut self.versions, version.clone()))
            };
            metadata.insert("resourceVersion".to_owned(), version.into());
        }
        if metadata.get("continue").is_some_and(|token| *token != "") {
            metadata.insert("continue".to_owned(), "<continue>".into());
        }
        Value::Object(self.object(metadata))
    }

    fn node_port(&mut self, port: &serde_json::Number) -> Value {
        match port.as_i64() {
            Some(port) if NODE_PORTS.contains(&port) => {
                format!("<nodePort#{}>", number(&mut self.node_ports, port)).into()
            }
            _ => Value::Number(port.clone()),
        }
    }

    fn cell(&mut self, cell: Value) -> Value {
        match cell.as_str() {
            Some(text) if is_age(text) => "<age>".into(),
            // `80:31234/TCP`: the ports of a service.
            Some(text) if text.contains('/') => {
                let parts: Vec<&str> = text.split_inclusive([':', '/', ',']).collect();
                let parts = parts.into_iter().map(|part| {
                    let digits = part.trim_end_matches([':', '/', ',']);
                    match digits.parse::<i64>() {
                        Ok(port) if NODE_PORTS.contains(&port) => {
                            let place = number(&mut self.node_ports, port);
                            part.replace(digits, &format!("<nodePort#{place}>"))
                        }
                        _ => part.to_owned(),
                    }
                });
                let text: String = parts.collect();
                self.text(&text).into()
            }
            _ => self.value(cell),
        }
    }

    fn text(&mut self, text: &str) -> String {
        if is_recent(self.now, text) {
            let form = if text.contains('.') { "<microtime>" } else { "<time>" };
            return form.to_owned();
        }
        let mut text = text.to_owned();
        text = in_any_order(&text);
        if let Some((begin, end)) = quoted_map(&text) {
            return self.text(&format!("{}<patch>{}", &text[..begin], &text[end..]));
        }
        if let Some((head, object, tail)) = quoted_object(&text) {
            // The real server quotes the keys of a patched object in the order of their arrival.
            return format!("{head}{}{tail}", self.value(object));
        }
        text = replace(&text, generated_at, |name| {
            format!("{}<random>", &name[..name.len() - RANDOM_LETTERS])
        });
        let now = self.now;
        text =
            replace(
                &text,
                time_at,
                |time| {
                    if is_recent(now, &time) { "<time>".to_owned() } else { time }
                },
            );
        text = replace(&text, uid_at, |uid| format!("<uid#{}>", number(&mut self.uids, uid)));
        text = replace(&text, address_at, |ip| format!("<ip#{}>", number(&mut self.addresses, ip)));
        if text.contains("esourceVersion") {
            let versions = &self.versions;
            text = replace(&text, digits_at, |digits| {
                let place = versions.iter().position(|version| *version == digits);
                match place {
                    Some(place) => format!("<rv#{place}>"),
                    // Of an object that was never shown. Those that are made up are small.
                    None if digits.len() > 1 => "<rv>".to_owned(),
                    None => digits,
                }
            });
        }
        text
    }
}

fn is_recent(now: Timestamp, text: &str) -> bool {
    let is_time = text.len() >= 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
    let around = now - 24.hours()..now + 24.hours();
    is_time && text.parse::<Timestamp>().is_ok_and(|time| around.contains(&time))
}

/// A time to the second inside of a message.
fn time_at(text: &str) -> Option<usize> {
    const LENGTH: usize = "2001-01-01T00:00:00Z".len();
    let time = text.get(..LENGTH).filter(|time| time.ends_with('Z'))?;
    time.parse::<Timestamp>().is_ok().then_some(LENGTH)
}

/// The message of several causes repeats them, in the order that was normalised away.
fn without_repeated_causes(status: &mut Map<String, Value>) {
    let causes = status.get("details").and_then(|details| details["causes"].as_array());
    if status.get("code") != Some(&json!(422)) || causes.is_none_or(|causes| causes.len() < 2) {
        return;
    }
    if let Some(Value::String(message)) = status.get_mut("message")
        && let Some(end) = message.find(" is invalid: ")
    {
        message.truncate(end);
    }
}

/// Errors of a schema come as the fields do, which are in a hash map.
fn in_any_order(message: &str) -> String {
    match message.split_once(": errors:\n") {
        Some((head, errors)) => {
            let mut lines: Vec<&str> = errors.lines().collect();
            lines.sort_unstable();
            format!("{head}: errors:\n{}", lines.join("\n"))
        }
        None => message.to_owned(),
    }
}

/// Where a message about an invalid patch quotes it as Go prints maps. What is quoted is what the merge
/// left of the patch.
fn quoted_map(message: &str) -> Option<(usize, usize)> {
    const BEGIN: &str = "Invalid value: \"map[";
    const END: &str = "]\": ";
    let begin = message.find(BEGIN)? + BEGIN.len() - "map[".len();
    Some((begin, message.rfind(END)? + 1))
}

/// The JSON object that a message about an invalid patch quotes, with what is around it.
fn quoted_object(message: &str) -> Option<(&str, Value, &str)> {
    const BEGIN: &str = "Invalid value: \"{";
    let begin = message.find(BEGIN)? + BEGIN.len() - 2;
    let mut values = serde_json::Deserializer::from_str(&message[begin..]).into_iter::<String>();
    let text = values.next()?.ok()?;
    let end = begin + values.byte_offset();
    let object = serde_json::from_str(&text).ok()?;
    Some((&message[..begin], object, &message[end..]))
}

fn sorted<K: Ord>(mut values: Vec<Value>, key: impl Fn(&Value) -> K) -> Value {
    values.sort_by_cached_key(key);
    Value::Array(values)
}

fn number<T: PartialEq>(seen: &mut Vec<T>, value: T) -> usize {
    seen.iter().position(|known| *known == value).unwrap_or_else(|| {
        seen.push(value);
        seen.len() - 1
    })
}

/// Replaces what is found at any place; `find` says how long it is there.
fn replace(
    text: &str,
    find: impl Fn(&str) -> Option<usize>,
    mut with: impl FnMut(String) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let inside_word = out.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
        if let Some(length) = find(rest).filter(|_| !inside_word) {
            out.push_str(&with(rest[..length].to_owned()));
            rest = &rest[length..];
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

fn uid_at(text: &str) -> Option<usize> {
    const SHAPE: [usize; 5] = [8, 4, 4, 4, 12];
    let uid = text.get(..36)?;
    let mut parts = uid.split('-');
    let is_uid = SHAPE.iter().all(|length| {
        let part = parts.next().unwrap_or_default();
        part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_uid.then_some(36)
}

/// A name that the server made of a prefix of [`super::generate`].
fn generated_at(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(GENERATED)?;
    let (serial, random) = rest.split_at(digits_at(rest)?);
    let random = random.strip_prefix('-')?.get(..RANDOM_LETTERS)?;
    let is_name = random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some(GENERATED.len() + serial.len() + 1 + RANDOM_LETTERS)
}

fn address_at(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(SERVICES)?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix('.')?;
    let end = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    Some(text.len() - end.len())
}

fn digits_at(text: &str) -> Option<usize> {
    let length = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (length > 0).then_some(length)
}

/// `5s`, `2m3s`.
fn is_age(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(['s', 'm', 'h'])
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"smhd".contains(&byte))
}
