//! Stored objects as text, completed without being read.
//!
//! What is stored is text already. It lacks `resourceVersion`, and items of lists go without `apiVersion` and
//! `kind`: a matter of a few bytes. Whoever asks for the version that is stored, as nearly all do, gets the
//! value with these bytes put in and taken out. Nothing else of it is looked at than the way to `metadata`.

use flumen_store::Revision;

const VERSION: &[u8] = b"resourceVersion";

/// Appends an object with its version. Returns whether it could: a value that is not what the server writes
/// leaves the text as it was.
pub(crate) fn object(value: &[u8], revision: Revision, out: &mut Vec<u8>) -> bool {
    complete(value, revision, &[], out)
}

/// The same for an item of a list, which does not repeat its kind.
pub(crate) fn item(value: &[u8], revision: Revision, out: &mut Vec<u8>) -> bool {
    complete(value, revision, &[b"apiVersion", b"kind"], out)
}

fn complete(value: &[u8], revision: Revision, without: &[&[u8]], out: &mut Vec<u8>) -> bool {
    let before = out.len();
    let is_complete = try_complete(value.trim_ascii_end(), revision, without, out).is_some();
    if !is_complete {
        out.truncate(before);
    }
    is_complete
}

/// Keys are in order, so that what is left out comes before `metadata`.
fn try_complete(
    text: &[u8],
    revision: Revision,
    without: &[&[u8]],
    out: &mut Vec<u8>,
) -> Option<()> {
    let mut start = open(text, 0)?;
    out.reserve(text.len() + 48);
    out.push(b'{');
    let metadata = loop {
        let member = Member::at(text, start)?;
        if member.key == b"metadata" {
            break member;
        }
        let end = skip(text, member.value)?;
        if !without.contains(&member.key) {
            out.extend_from_slice(text.get(start..end)?);
            out.push(b',');
        }
        start = next(text, end)?;
    };
    let mut place = open(text, metadata.value)?;
    let version = format!("\"resourceVersion\":\"{revision}\"");
    let parts: [&[u8]; 3] = loop {
        if text.get(place) == Some(&b'}') {
            let is_first = text.get(place - 1) == Some(&b'{');
            break if is_first {
                [b"", version.as_bytes(), b""]
            } else {
                [b",", version.as_bytes(), b""]
            };
        }
        let member = Member::at(text, place)?;
        if member.key > VERSION {
            break [b"", version.as_bytes(), b","];
        }
        place = skip(text, member.value)?;
        if text.get(place) == Some(&b',') {
            place += 1;
        }
    };
    out.extend_from_slice(text.get(start..place)?);
    for part in parts {
        out.extend_from_slice(part);
    }
    out.extend_from_slice(text.get(place..)?);
    Some(())
}

/// A key, and where its value begins.
struct Member<'a> {
    key: &'a [u8],
    value: usize,
}

impl<'a> Member<'a> {
    fn at(text: &'a [u8], start: usize) -> Option<Self> {
        let end = skip(text, start)?;
        let key = text.get(start..end)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        (text.get(end) == Some(&b':')).then_some(Self { key, value: end + 1 })
    }
}

/// Where the members of an object begin.
fn open(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'{')).then_some(at + 1)
}

/// The member after one that ends here.
fn next(text: &[u8], end: usize) -> Option<usize> {
    (text.get(end) == Some(&b',')).then_some(end + 1)
}

/// The end of the value that begins here.
fn skip(text: &[u8], start: usize) -> Option<usize> {
    let find = |from: usize, wanted: fn(u8) -> bool| {
        let rest = text.get(from..)?;
        rest.iter().position(|byte| wanted(*byte)).map(|place| from + place)
    };
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        match text.get(at)? {
            b'"' => {
                at += 1;
                loop {
                    at = find(at, |byte| matches!(byte, b'"' | b'\\'))?;
                    if text.get(at) == Some(&b'"') {
                        break;
                    }
                    at += 2;
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth == 0 => return find(at, |byte| matches!(byte, b',' | b'}' | b']')),
            _ => at = find(at, |byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'))?,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn objects() -> Vec<Value> {
        vec![
            json!({
                "apiVersion": "v1",
                "binaryData": { "a": "AA==" },
                "data": { "metadata": "{\"metadata\":{\"uid\":1}}", "quoted\\\"": "a \\ b \" c" },
                "kind": "ConfigMap",
                "metadata": { "labels": { "uid": "}" }, "name": "web", "uid": "1" },
            }),
            json!({
                "action": [1, [2, { "x": null }], true, -1.5e3],
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": { "managedFields": [{ "f:metadata": {} }], "name": "ümläut" },
                "type": "Normal",
            }),
            json!({ "apiVersion": "v1", "kind": "Empty", "metadata": {} }),
        ]
    }

    #[test]
    fn texts_are_those_of_the_objects_with_their_version() {
        for stored in objects() {
            let value = stored.to_string();
            let mut expected = stored;
            expected["metadata"]["resourceVersion"] = "42".into();
            let mut out = b"before".to_vec();
            assert!(object(value.as_bytes(), 42, &mut out), "{value}");
            assert_eq!(String::from_utf8_lossy(&out), format!("before{expected}"));
            let map = expected.as_object_mut().expect("an object");
            map.remove("apiVersion");
            map.remove("kind");
            let mut out = Vec::new();
            assert!(item(format!("{value} ").as_bytes(), 42, &mut out), "{value}");
            assert_eq!(String::from_utf8_lossy(&out), expected.to_string());
        }
    }

    #[test]
    fn what_was_cut_off_leaves_no_trace() {
        for stored in objects() {
            let value = stored.to_string();
            let head = value.find("\"metadata\":{").expect("it has metadata") + 12;
            for length in 0..head {
                let mut out = b"before".to_vec();
                assert!(!object(&value.as_bytes()[..length], 42, &mut out), "{length} of {value}");
                assert_eq!(out, b"before");
            }
        }
        assert!(!object(b"[]", 1, &mut Vec::new()));
        assert!(!object(b"{}", 1, &mut Vec::new()));
        assert!(!object(br#"{"kind":"A"}"#, 1, &mut Vec::new()));
    }
}
