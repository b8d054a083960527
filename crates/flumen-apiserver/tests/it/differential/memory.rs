//! What one server said earlier in a sequence, for requests that need it.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `${NS}` | the namespace of the sequence |
//! | `${rv:PATH}`, `${uid:PATH}` | of the object that was last seen there |
//! | `${start:PATH}` | the version of the first list |
//! | `${continue:PATH}` | the token of the last list |
//! | `${name:PREFIX}` | the name that was generated from the prefix |

use std::collections::BTreeMap;

use serde_json::Value;

use super::operation::{Body, Operation};

#[derive(Debug)]
pub(crate) struct Memory {
    texts: BTreeMap<String, String>,
    objects: BTreeMap<String, Value>,
}

impl Memory {
    pub(crate) fn new(namespace: &str) -> Self {
        let texts = BTreeMap::from([("NS".to_owned(), namespace.to_owned())]);
        Self { texts, objects: BTreeMap::new() }
    }

    /// The text without placeholders. What was never said is `missing`.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        // The innermost comes first: the path of an object can have some itself.
        while let Some(begin) = text.rfind("${") {
            let Some(length) = text[begin..].find('}') else { break };
            let name = &text[begin + 2..begin + length];
            let value = self.texts.get(name).map_or("missing", String::as_str).to_owned();
            text.replace_range(begin..=begin + length, &value);
        }
        text
    }

    pub(crate) fn body(&self, body: &Body) -> Option<String> {
        match body {
            Body::None => None,
            Body::Text(text) => Some(self.fill(text)),
            Body::Seen { path, change } => {
                let mut object =
                    self.objects.get(&self.fill(path)).cloned().unwrap_or_else(|| Value::from(1));
                let change = serde_json::from_str(&self.fill(&change.to_string()));
                merge(&mut object, change.unwrap_or_default());
                Some(object.to_string())
            }
        }
    }

    /// Whether an object was seen at a path.
    pub(crate) fn knows(&self, path: &str) -> bool {
        self.objects.contains_key(&self.fill(path))
    }

    /// Remembers an answer that was no refusal.
    pub(crate) fn learn(&mut self, operation: &Operation, answer: &Value) {
        let path = self.fill(&operation.path);
        let metadata = &answer["metadata"];
        let text = |name: &str| metadata[name].as_str().map(str::to_owned);
        if answer["items"].is_array() || answer["rows"].is_array() {
            let version = text("resourceVersion").unwrap_or_default();
            self.texts.entry(format!("start:{path}")).or_insert(version);
            self.texts.insert(format!("continue:{path}"), text("continue").unwrap_or_default());
            return;
        }
        let Some(name) = text("name") else { return };
        let path = if operation.method == "POST" { format!("{path}/{name}") } else { path };
        if let Some(prefix) = text("generateName") {
            self.texts.insert(format!("name:{prefix}"), name);
        }
        for (key, field) in [("rv", "resourceVersion"), ("uid", "uid")] {
            self.texts.insert(format!("{key}:{path}"), text(field).unwrap_or_default());
        }
        self.objects.insert(path, answer.clone());
    }
}

/// A JSON merge patch.
fn merge(object: &mut Value, change: Value) {
    let Value::Object(change) = change else {
        *object = change;
        return;
    };
    if !object.is_object() {
        *object = Value::Object(serde_json::Map::new());
    }
    let Some(object) = object.as_object_mut() else { return };
    for (key, value) in change {
        if value.is_null() {
            object.remove(&key);
        } else {
            merge(object.entry(key).or_insert(Value::Null), value);
        }
    }
}
