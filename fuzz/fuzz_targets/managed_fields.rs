//! Managed fields and a configuration, as a client may send them: an apply over them must end, and the
//! same apply again must change nothing.
#![no_main]

use flumen_fields::{FieldSet, Filter, Schema, Versions, Write, apply, keep_times, update};
use flumen_schema::api::Api;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

struct Deployments(&'static Schema);

impl Versions for Deployments {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        (api_version == "apps/v1").then_some(self.0)
    }

    fn convert(&self, _: &Value, api_version: &str) -> Result<Value, String> {
        Err(format!("there is no {api_version}"))
    }

    fn empty(&self) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}})
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(Value::Array(parts)) = serde_json::from_slice::<Value>(bytes) else { return };
    let part = |index: usize| parts.get(index).cloned().unwrap_or_default();
    if let Ok(set) = FieldSet::from_fields_v1(&part(0)) {
        assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set));
    }
    let Some(facts) = Api::get().kind("apps", "v1", "Deployment") else { return };
    let kind = Deployments(Schema::of_builtin(facts.object));
    let write = Write {
        versions: &kind,
        api_version: "apps/v1",
        kind: "Deployment",
        subresource: "",
        filter: Filter::NONE,
        now: "2026-01-01T00:00:00Z",
    };
    let object = |spec: Value, managed: Value| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec,
            "metadata": {"name": "x", "managedFields": managed}})
    };
    let entry = json!({"manager": "m", "operation": "Apply", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": part(0)});
    let mut live = object(part(1), json!([entry]));
    update(&write, Some(&live.clone()), &mut live, "editor");
    let config = object(part(2), Value::Null);
    let Ok(first) = apply(&write, Some(&live), &config, "m", true) else { return };
    let Ok(mut second) = apply(&write, Some(&first), &config, "m", true) else { return };
    // Where nobody owns anything, the second apply finds out who was there before.
    if first["metadata"].get("managedFields").is_some() {
        keep_times(&first, &mut second);
        assert_eq!(first, second);
    }
});
