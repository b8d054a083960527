//! Inputs with the answers of go-yaml, recorded.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use crate::notation::{Form, notation};

/// The cases of this repository. They were recorded with the library itself: a program decodes each
/// input into `yaml.Node`s and prints them in the notation that the file describes.
const OWN: &str = include_str!("cases.json");

/// Cases beside the checkout, when they are there.
const SHARED: &str = "../../../shared/spec/yaml/parse-cases.json";

#[test]
fn own_cases_are_read_as_recorded() {
    check_all(OWN, Form::Full);
}

#[test]
#[expect(clippy::print_stderr, reason = "says what was skipped")]
fn shared_cases_are_read_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(SHARED);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: no shared/spec/yaml/parse-cases.json beside the checkout");
        return;
    };
    check_all(&text, Form::Short);
}

fn check_all(file: &str, form: Form) {
    let file: Value = serde_json::from_str(file).expect("valid JSON");
    let cases = file["cases"].as_object().expect("cases");
    let mut wrong = BTreeMap::new();
    for (name, case) in cases {
        let bytes = match (case["input"].as_str(), case["input_base64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(text)) => base64(text),
            (None, None) => panic!("{name} has no input"),
        };
        let found = match notation(&bytes, form) {
            Ok(events) => events,
            Err(error) => error.to_string(),
        };
        let expected = case["events"].as_str().or(case["error"].as_str());
        if Some(found.as_str()) != expected {
            wrong.insert(name, (found, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0;
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xFF).expect("eight bits"));
        }
    }
    bytes
}
