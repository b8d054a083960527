//! Recorded requests and answers, for those tests that need no server.

use flumen_schema::api::{Api, ApiKind};
use flumen_testkit::{shared_dir, skip};
use serde_json::Value;

/// The lines of a file of recorded cases. Says so if there is none.
pub(crate) fn cases(file: &str) -> Option<Vec<Value>> {
    let Some(dir) = shared_dir() else {
        skip(file, "there is no corpus");
        return None;
    };
    let text = std::fs::read_to_string(dir.join("corpus/kubernetes").join(file));
    let text = text.expect("the corpus is readable");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a case is JSON")).collect())
}

/// The kind whose objects are listed at a path.
pub(crate) fn kind_at(path: &str) -> Option<&'static ApiKind> {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, version) = match parts.as_slice() {
        ["api", version, ..] => ("", *version),
        ["apis", group, version, ..] => (*group, *version),
        _ => return None,
    };
    let plural = parts.last()?;
    let mut kinds = Api::get().kinds().iter();
    kinds.find(|k| k.group == group && k.version == version && k.plural == *plural)
}

/// Where two values differ.
pub(crate) fn differences(ours: &Value, theirs: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(&mut found, "", ours, theirs);
    found
}

fn compare(found: &mut Vec<String>, path: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut keys: Vec<&String> = ours.keys().chain(theirs.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let path = format!("{path}/{key}");
                match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => compare(found, &path, ours, theirs),
                    (Some(ours), None) => found.push(format!("{path} is {ours}, not absent")),
                    (None, Some(theirs)) => found.push(format!("{path} is absent, not {theirs}")),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                compare(found, &format!("{path}/{index}"), ours, theirs);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path} is {ours}, not {theirs}")),
    }
}

pub(crate) fn remove(object: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
        parent.remove(name);
    }
}
