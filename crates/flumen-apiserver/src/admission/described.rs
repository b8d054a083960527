//! A request as policies and webhooks are told of it.

use serde_json::{Value, json};

use super::Attempt;
use crate::meta;

/// Everything but the objects, which are handed over apart.
pub(super) fn described(attempt: &Attempt<'_>, object: &Value) -> Value {
    let (resource, target) = (attempt.resource(), attempt.request.target());
    let user = &attempt.request.call.user;
    let (group, version) = (&resource.group, &resource.version);
    let kind = json!({ "group": group, "version": version, "kind": resource.kind });
    let of = json!({ "group": group, "version": version, "resource": resource.plural });
    json!({
        "kind": kind,
        "resource": of,
        "subResource": target.subresource,
        "requestKind": kind,
        "requestResource": of,
        "requestSubResource": target.subresource,
        "name": if target.name.is_empty() { meta::name(object) } else { &target.name },
        "namespace": attempt.namespace(),
        "operation": attempt.operation.name(),
        "userInfo": {
            "username": user.name,
            "uid": user.uid,
            "groups": user.groups,
            "extra": user.extra,
        },
        "dryRun": attempt.dry_run,
    })
}
