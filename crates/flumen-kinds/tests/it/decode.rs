//! Recorded bodies with what the real server said of them.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flumen_kinds::{Media, Target, decode, default};
use flumen_schema::api::Api;
use flumen_testkit::Random;
use serde_json::Value;

use crate::{
    corpus::{cases, differences, kind_at, remove},
    random::{body as body_of, damaged},
};

const FILES: [&str; 5] = [
    "validation.jsonl",
    "transcripts/crud.jsonl",
    "transcripts/media.jsonl",
    "transcripts/objects.jsonl",
    "transcripts/protobuf.jsonl",
];

#[test]
fn recorded_bodies_are_refused_in_the_same_words() {
    let (mut count, mut failed) = (0, Vec::new());
    for file in FILES {
        let Some(cases) = cases(file) else { return };
        for case in &cases {
            for step in case["steps"].as_array().into_iter().flatten() {
                let Some((mut ours, mut theirs)) = messages(step) else { continue };
                count += 1;
                if step["body"].is_object() {
                    // The order of its fields is lost by now, and with it that of the messages.
                    (ours, theirs) = (parts(&ours), parts(&theirs));
                }
                if ours != theirs {
                    failed.push(format!("{}: {ours:?}, not {theirs:?}", case["name"]));
                }
            }
        }
    }
    assert!(count > 50, "only {count} bodies were refused");
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

fn parts(messages: &[String]) -> Vec<String> {
    let parts = messages.iter().flat_map(|text| text.split([',', ':']));
    let mut parts: Vec<String> = parts.map(|part| part.trim().to_owned()).collect();
    parts.sort();
    parts
}

/// What we say and what was said of a body that does not decode, or not without warnings.
fn messages(step: &Value) -> Option<(Vec<String>, Vec<String>)> {
    let expected = &step["expect"];
    let message = expected["body"]["message"].as_str().unwrap_or_default();
    let is_refused =
        message.contains(" cannot be handled as a ") || message.contains(" is unrecognized ");
    let theirs = match &expected["headers"]["warning"] {
        _ if is_refused => vec![message.to_owned()],
        Value::String(warning) => vec![warning.clone()],
        Value::Array(warnings) => {
            warnings.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => return None,
    };
    if step["method"] != "POST" {
        return None;
    }
    let kind = kind_at(step["path"].as_str()?)?;
    let ours = match decode(&body(step), media(step), &Target::from(kind)) {
        Err(error) => vec![error.to_string()],
        Ok(decoded) if is_refused => {
            let (version, kind) = (kind.version, kind.kind);
            let error = decoded.strict.error();
            vec![format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}")]
        }
        Ok(decoded) => decoded.strict.warnings().map(|text| format!("299 - {text:?}")).collect(),
    };
    // Other warnings are about values, not fields.
    let is_ours = |text: &String| text.contains("field") || text.contains("already set");
    let theirs = if is_refused { theirs } else { theirs.into_iter().filter(is_ours).collect() };
    Some((ours, theirs))
}

#[test]
fn recorded_protobuf_is_read() {
    let Some(cases) = cases("transcripts/protobuf.jsonl") else { return };
    let (mut count, mut failed) = (0, Vec::new());
    for case in &cases {
        for step in case["steps"].as_array().into_iter().flatten() {
            let path = step["path"].as_str().unwrap_or_default();
            let (Some(kind), Some(201)) = (kind_at(path), step["expect"]["status"].as_i64()) else {
                continue;
            };
            if !step["base64"].is_string() || media(step) != Media::Protobuf {
                continue;
            }
            count += 1;
            let decoded = decode(&body(step), Media::Protobuf, &Target::from(kind));
            let mut object = match decoded {
                Ok(decoded) => decoded.object,
                Err(error) => {
                    failed.push(format!("{}: {error}", case["name"]));
                    continue;
                }
            };
            default(&mut object, kind);
            let mut theirs = step["expect"]["body"].clone();
            for pointer in ["/metadata", "/status", "/spec/selector"] {
                remove(&mut object, pointer);
                remove(&mut theirs, pointer);
            }
            let found: Vec<String> = differences(&object, &theirs)
                .into_iter()
                .filter(|text| !text.contains("is absent"))
                .collect();
            if !found.is_empty() {
                failed.push(format!("{}: {}", case["name"], found.join("; ")));
            }
        }
    }
    assert!(count >= 10, "only {count} bodies");
    assert!(failed.is_empty(), "{} of {count}:\n{}", failed.len(), failed.join("\n"));
}

/// Whatever a body is, it is read or refused.
#[test]
fn damaged_bodies_are_no_crash() {
    let kinds = Api::get().kinds();
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let kind = random.pick(kinds);
        let body = body_of(&mut random, kind);
        let bytes = damaged(&mut random, &body);
        let target = Target::from(kind);
        for media in [Media::Json, Media::Yaml] {
            if let Ok(decoded) = decode(&bytes, media, &target) {
                let mut object = decoded.object;
                default(&mut object, kind);
            }
        }
        // The object as the bytes of a message: mostly nonsense.
        let mut envelope = b"k8s\0\x12".to_vec();
        envelope.push(u8::try_from(bytes.len() % 128).unwrap_or_default());
        envelope.extend(&bytes);
        _ = decode(&envelope, Media::Protobuf, &target);
    }
}

fn media(step: &Value) -> Media {
    match step["headers"]["Content-Type"].as_str() {
        Some("application/yaml") => Media::Yaml,
        Some("application/vnd.kubernetes.protobuf") => Media::Protobuf,
        _ => Media::Json,
    }
}

fn body(step: &Value) -> Vec<u8> {
    match (&step["raw"], &step["base64"], &step["body"]) {
        (Value::String(text), ..) => text.clone().into_bytes(),
        (_, Value::String(text), _) => BASE64_STANDARD.decode(text).expect("is base64"),
        (.., Value::Null) => Vec::new(),
        (.., body) => body.to_string().into_bytes(),
    }
}
