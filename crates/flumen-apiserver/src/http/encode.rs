//! Values as bytes of the type that was agreed on.

use flumen_store::Entry;
use flumen_yaml::{Node, Tag};
use serde_json::Value;

use super::negotiate::Encoding;
use crate::{ApiError, Resource, represent, rules, splice};

/// An object as text. Protobuf is made elsewhere, because it needs to know the types.
pub(crate) fn text(value: &Value, encoding: Encoding, pretty: bool) -> Result<Vec<u8>, ApiError> {
    match encoding {
        Encoding::Yaml => {
            let mut out = Vec::new();
            flumen_yaml::emit(&node(value), &mut out).map_err(ApiError::internal)?;
            Ok(out)
        }
        Encoding::Json | Encoding::Protobuf => {
            let mut out = Vec::with_capacity(512);
            if pretty {
                let indent = serde_json::ser::PrettyFormatter::with_indent(b"  ");
                let mut writer = serde_json::Serializer::with_formatter(&mut out, indent);
                serde::Serialize::serialize(value, &mut writer).map_err(ApiError::internal)?;
            } else {
                serde_json::to_writer(&mut out, value).map_err(ApiError::internal)?;
                out.push(b'\n');
            }
            Ok(out)
        }
    }
}

/// A list as compact JSON. Items in the version that is stored are never read.
pub(crate) fn list(
    resource: &Resource,
    metadata: &Value,
    items: &[Entry],
) -> Result<Vec<u8>, ApiError> {
    let size = items.iter().map(|entry| entry.value.len() + 64).sum::<usize>() + 256;
    let mut out = Vec::with_capacity(size);
    let text = |value: &str| Value::from(value).to_string();
    out.extend_from_slice(b"{\"apiVersion\":");
    out.extend_from_slice(text(&resource.api_version()).as_bytes());
    out.extend_from_slice(b",\"items\":[");
    for (place, entry) in items.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let is_stored = rules::is_presented_as_stored(resource, &entry.value);
        if !(is_stored && splice::item(&entry.value, entry.revision, &mut out)) {
            let item = represent::item(resource, entry)?;
            serde_json::to_writer(&mut out, &item).map_err(ApiError::internal)?;
        }
    }
    out.extend_from_slice(b"],\"kind\":");
    out.extend_from_slice(text(&resource.list_kind).as_bytes());
    out.extend_from_slice(b",\"metadata\":");
    serde_json::to_writer(&mut out, metadata).map_err(ApiError::internal)?;
    out.extend_from_slice(b"}\n");
    Ok(out)
}

fn node(value: &Value) -> Node {
    match value {
        Value::Null => Node::null(),
        Value::Bool(yes) => Node::scalar(if *yes { "true" } else { "false" }, Tag::Bool),
        Value::Number(number) => {
            let tag = if number.is_f64() { Tag::Float } else { Tag::Int };
            Node::scalar(number.to_string(), tag)
        }
        Value::String(text) => Node::string(text.as_str()),
        Value::Array(items) => Node::seq(items.iter().map(node).collect()),
        Value::Object(entries) => {
            let mut map = Node::map();
            if let Some(map) = map.as_map_mut() {
                for (key, value) in entries {
                    map.push(flumen_yaml::Entry::new(key.as_str(), node(value)));
                }
            }
            map
        }
    }
}
