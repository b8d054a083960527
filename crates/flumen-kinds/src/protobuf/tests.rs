use flumen_schema::api::Api;
use serde_json::{Value, json};

use super::{Envelope, read};

fn varint(value: usize) -> Vec<u8> {
    let low = u8::try_from(value & 0x7f).expect("is small");
    match value >> 7 {
        0 => vec![low],
        rest => [vec![low | 0x80], varint(rest)].concat(),
    }
}

/// A record of bytes.
fn field(number: usize, payload: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(payload.len()), payload.to_vec()].concat()
}

fn number(field: usize, value: u8) -> Vec<u8> {
    [varint(field << 3), vec![value]].concat()
}

fn message(group: &str, kind: &str, raw: &[u8]) -> Result<Value, String> {
    let kind = Api::get().kind(group, "v1", kind).expect("is served");
    read(raw, kind.object)
}

#[test]
fn an_envelope_has_a_kind_and_bytes() {
    let meta = [field(1, b"v1"), field(2, b"ConfigMap")].concat();
    let body = [b"k8s\0".to_vec(), field(1, &meta), field(2, b"raw")].concat();
    let envelope = Envelope::open(&body).expect("opens");
    assert_eq!((envelope.api_version.as_str(), envelope.kind.as_str()), ("v1", "ConfigMap"));
    assert_eq!(envelope.raw, b"raw");
}

#[test]
fn other_bodies_are_no_envelopes() {
    let check = |body: &[u8], expected: &str| {
        assert_eq!(Envelope::open(body).err().as_deref(), Some(expected));
    };
    check(b"", "empty data");
    check(
        b"{}",
        "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
    check(b"k8s\0", "empty body");
    check(b"k8s\0\x0a\x05a", "unexpected EOF");
    check(b"k8s\0\x08\x01", "proto: wrong wireType = 0 for field TypeMeta");
    check(b"k8s\0\x0b", "proto: illegal wireType 3");
    check(&[b"k8s\0".as_slice(), &[0xff; 11]].concat(), "proto: integer overflow");
}

#[test]
fn maps_lists_and_numbers_are_read() {
    let meta = [field(1, b"c"), field(11, &[field(1, b"l"), field(2, b"x")].concat())].concat();
    let raw = [
        field(1, &meta),
        field(2, &[field(1, b"a"), field(2, b"b")].concat()),
        field(2, &field(1, b"empty")),
        field(3, &[field(1, b"k"), field(2, &[0, 255])].concat()),
        number(4, 1),
        // Numbers that nobody knows are skipped, whatever they hold.
        field(15, b"x"),
        number(14, 7),
    ]
    .concat();
    assert_eq!(
        message("", "ConfigMap", &raw),
        Ok(json!({
            "metadata": { "name": "c", "labels": { "l": "x" } },
            "data": { "a": "b", "empty": "" },
            "binaryData": { "k": "AP8=" },
            "immutable": true,
        }))
    );
}

#[test]
fn embedded_messages_and_special_types_are_read() {
    let empty_dir = field(2, &field(2, b""));
    let volume = field(1, &[field(1, b"v"), empty_dir].concat());
    let quantity = field(1, b"500m");
    let limits = field(1, &[field(1, b"cpu"), field(2, &quantity)].concat());
    let probe = [
        field(
            1,
            &field(
                2,
                &[field(1, b"/"), field(2, &[number(1, 1), field(3, b"http")].concat())].concat(),
            ),
        ),
        number(3, 5),
    ]
    .concat();
    let container = [field(1, b"c"), field(8, &limits), field(10, &probe)].concat();
    let raw =
        [field(1, &field(8, &number(1, 5))), field(2, &[volume, field(2, &container)].concat())]
            .concat();
    assert_eq!(
        message("", "Pod", &raw),
        Ok(json!({
            "metadata": { "creationTimestamp": "1970-01-01T00:00:05Z" },
            "spec": {
                "volumes": [{ "name": "v", "emptyDir": {} }],
                "containers": [{
                    "name": "c",
                    "resources": { "limits": { "cpu": "500m" } },
                    "livenessProbe": { "httpGet": { "path": "/", "port": "http" }, "timeoutSeconds": 5 },
                }],
            },
            "status": {},
        }))
    );
}

#[test]
fn schemas_are_read() {
    let definition = Api::get()
        .kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
        .expect("is served");
    let schema = [
        field(5, b"object"),
        field(8, &field(1, b"{\"a\":1}")),
        field(24, &field(1, &field(5, b"string"))),
        field(30, &number(1, 1)),
    ]
    .concat();
    let version = [field(1, b"v1"), field(4, &field(1, &schema))].concat();
    let raw = field(2, &field(7, &version));
    let object = read(&raw, definition.object).expect("is read");
    assert_eq!(
        object.pointer("/spec/versions/0/schema/openAPIV3Schema"),
        Some(&json!({
            "type": "object",
            "default": { "a": 1 },
            "items": { "type": "string" },
            "additionalProperties": true,
        }))
    );
}

#[test]
fn what_is_cut_or_too_deep_is_refused() {
    let whole = field(1, &field(1, b"name"));
    for end in 1..whole.len() {
        let error = message("", "ConfigMap", &whole[..end]).expect_err("is cut");
        assert_eq!(error, "unexpected EOF");
    }
    let definition = Api::get().kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let schema = (0..200).fold(Vec::new(), |inner, _| field(28, &inner));
    let raw = field(2, &field(7, &field(4, &field(1, &schema))));
    let error = read(&raw, definition.expect("is served").object).expect_err("is too deep");
    assert_eq!(error, "exceeded max depth");
}
