//! A request as policies and webhooks are told of it.

use serde_json::{Map, Value, json};

use super::{Attempt, Operation};
use crate::{Behaviour, Resource, meta, rules};

/// Everything but the objects, which are handed over apart, in a version of the resource. What is empty
/// is left out.
pub(super) fn described(attempt: &Attempt<'_>, object: &Value, version: &Resource) -> Value {
    let target = attempt.request.target();
    let user = &attempt.request.call.user;
    let kind = |of: &Resource| json!({ "group": of.group, "version": of.version, "kind": of.kind });
    let resource =
        |of: &Resource| json!({ "group": of.group, "version": of.version, "resource": of.plural });
    let own = attempt.resource();
    let mut request = json!({
        "kind": kind(version),
        "resource": resource(version),
        "subResource": target.subresource,
        "requestKind": kind(own),
        "requestResource": resource(own),
        "requestSubResource": target.subresource,
        "name": attempt.name(object),
        "namespace": attempt.described_namespace(object),
        "operation": attempt.operation.name(),
        "userInfo": {
            "username": user.name,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
        },
        "dryRun": attempt.dry_run,
        "options": options(attempt),
    });
    drop_empty(&mut request["userInfo"]);
    drop_empty(&mut request);
    request
}

fn drop_empty(of: &mut Value) {
    if let Value::Object(map) = of {
        map.retain(|_, value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            _ => true,
        });
    }
}

/// The parameters of the request, as the kind that belongs to its operation.
fn options(attempt: &Attempt<'_>) -> Value {
    let call = attempt.request.call;
    let kind = match attempt.operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
    };
    let mut options = Map::new();
    if attempt.operation == Operation::Delete {
        let body = serde_json::from_slice(&call.body).unwrap_or_default();
        if let Value::Object(body) = body {
            options = body;
        }
    }
    let names = match attempt.operation {
        Operation::Delete => ["gracePeriodSeconds", "propagationPolicy"],
        _ => ["fieldManager", "fieldValidation"],
    };
    for name in names {
        if let Some(text) = call.query.get(name).filter(|text| !text.is_empty()) {
            let number = text.parse::<i64>().ok().filter(|_| name == "gracePeriodSeconds");
            options.insert(name.to_owned(), number.map_or_else(|| text.into(), Value::from));
        }
    }
    if attempt.dry_run {
        options.insert("dryRun".to_owned(), json!(["All"]));
    }
    options.insert("kind".to_owned(), kind.into());
    options.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
    Value::Object(options)
}

impl Attempt<'_> {
    /// Of a namespace its own name: it is in itself.
    fn described_namespace<'b>(&'b self, object: &'b Value) -> &'b str {
        if self.is_about("", "namespaces") { meta::name(object) } else { self.namespace() }
    }

    /// An object of this request in a version of the resource.
    pub(super) fn versioned(&self, object: &Value, version: &Resource) -> Value {
        if self.is_own(version) { object.clone() } else { rules::from_hub(version, object.clone()) }
    }

    /// Whether objects are in this version already: built-in ones are in the version that is stored,
    /// custom ones in that of the request.
    fn is_own(&self, version: &Resource) -> bool {
        match version.behaviour {
            Behaviour::Builtin { .. } => rules::is_hub(version),
            Behaviour::Custom { .. } => version.version == self.resource().version,
        }
    }
}
