//! A schema of custom resources and objects of it, as clients may send them: definitions and objects
//! are refused or accepted, and what was pruned once stays as it is.
#![no_main]

use flumen_crd::{Served, validate_create, validate_update};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let Ok(Value::Array(parts)) = serde_json::from_slice::<Value>(bytes) else { return };
    let part = |index: usize| parts.get(index).cloned().unwrap_or_default();
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster", "conversion": {"strategy": "None"},
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                      "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": part(0)}}],
        },
        "status": {"storedVersions": ["v1"]},
    });
    let _ = validate_update(&definition, &definition);
    if !validate_create(&definition).is_empty() {
        return;
    }
    let served = Served::new(&definition);
    let Some(version) = served.version("v1") else { return };
    let mut old = None;
    for index in [1, 2] {
        let mut object = json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w"}, "spec": part(index), "status": part(index)});
        if version.admit(&mut object).is_err() {
            continue;
        }
        let mut again = object.clone();
        assert_eq!(version.admit(&mut again).ok(), Some(Vec::new()));
        assert_eq!(object, again);
        version.default(&mut object);
        let _ = version.validate_create(&object);
        if let Some(old) = &old {
            let _ = version.validate_update(&object, old);
        }
        old = Some(object);
    }
});
