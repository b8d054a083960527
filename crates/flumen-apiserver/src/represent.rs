//! Objects in the shape that a client asked for: whole, metadata alone, or as rows of a table.

use serde_json::{Value, json};

use crate::{ApiError, MetaVersion, Payload, Query, Reason, Representation, Resource};

/// A whole answer.
pub(crate) fn payload(
    payload: Payload,
    representation: Representation,
    _query: &Query,
) -> Result<Value, ApiError> {
    match (payload, representation) {
        (Payload::Object { object, resource: Some(_) }, Representation::Metadata(version)) => {
            Ok(metadata(object, version))
        }
        (Payload::Object { resource: Some(resource), .. }, Representation::MetadataList(_)) => {
            let kind = go_type(&resource, false);
            Err(not_acceptable(format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({kind})"
            )))
        }
        (Payload::List { resource, .. }, Representation::Metadata(_)) => {
            let kind = go_type(&resource, true);
            Err(not_acceptable(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({kind})"
            )))
        }
        (Payload::List { metadata: of, items, .. }, Representation::MetadataList(version)) => {
            let items: Vec<Value> = items.into_iter().map(|item| metadata(item, version)).collect();
            Ok(json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": version.api_version(),
                "metadata": of,
                "items": items,
            }))
        }
        (Payload::Object { object, .. }, _) => Ok(object),
        (Payload::List { resource, metadata, items }, _) => Ok(list(&resource, metadata, items)),
        (Payload::Watch(_) | Payload::Text(_), _) => Ok(Value::Null),
    }
}

fn list(resource: &Resource, metadata: Value, items: Vec<Value>) -> Value {
    json!({
        "kind": resource.list_kind,
        "apiVersion": resource.api_version(),
        "metadata": metadata,
        "items": items,
    })
}

fn metadata(mut object: Value, version: MetaVersion) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version.api_version(),
        "metadata": object.get_mut("metadata").map(Value::take).unwrap_or_default(),
    })
}

fn not_acceptable(message: String) -> ApiError {
    ApiError::new(406, Some(Reason::NotAcceptable), message)
}

/// The type as messages of the real server name it.
fn go_type(resource: &Resource, list: bool) -> String {
    let package = match resource.group.split('.').next() {
        None | Some("") => "core",
        Some(package) => package,
    };
    let list = if list { "List" } else { "" };
    format!("*{package}.{}{list}", resource.kind)
}
