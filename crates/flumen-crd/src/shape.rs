//! The values of a schema as rules in CEL see them.

use std::{collections::BTreeMap, sync::Arc};

use flumen_cel::{Field, Identity, Shape, ShapeKind, escape};
use serde_json::Value;

use crate::schema::Schema;

/// The largest request that a server takes, in bytes.
pub(crate) const LARGEST_REQUEST: u64 = 3 * 1024 * 1024;

/// What rules can see of a value; `None` where the schema says too little for any rule.
///
/// Without limits of its own a value can be as large as a request. The figures are those by which the
/// API server prices rules.
pub(crate) fn shape_of(schema: &Schema, is_resource: bool) -> Option<Arc<Shape>> {
    if schema.int_or_string {
        let max_elements = schema.max_length.map_or(LARGEST_REQUEST - 2, characters);
        return Some(Arc::new(Shape { kind: ShapeKind::Dyn, max_elements, min_size: 1 }));
    }
    let with_metadata = is_resource.then(|| schema.with_type_and_metadata());
    let schema = with_metadata.as_ref().unwrap_or(schema);
    let shape = match schema.kind.as_str() {
        "array" => list(schema)?,
        "object" => object(schema)?,
        "string" => text(schema),
        "boolean" => Shape { kind: ShapeKind::Bool, max_elements: 0, min_size: 4 },
        "number" => Shape { kind: ShapeKind::Double, max_elements: 0, min_size: 1 },
        "integer" => Shape { kind: ShapeKind::Int, max_elements: 0, min_size: 1 },
        _ => return None,
    };
    Some(Arc::new(shape))
}

fn count(limit: i64) -> u64 {
    u64::try_from(limit).unwrap_or(0)
}

/// A character takes up to four bytes.
fn characters(limit: i64) -> u64 {
    count(limit).saturating_mul(4)
}

fn list(schema: &Schema) -> Option<Shape> {
    let item = schema.item()?;
    let element = shape_of(item, item.embedded)?;
    let most = (LARGEST_REQUEST - 2) / (element.min_size + 1);
    let identity = match schema.list_type.as_deref() {
        Some("set") => Identity::Value,
        Some("map") => Identity::Keys(schema.list_map_keys.clone()),
        _ => Identity::Place,
    };
    Some(Shape {
        kind: ShapeKind::List { element, identity },
        max_elements: schema.max_items.map_or(most, count),
        min_size: 2,
    })
}

fn object(schema: &Schema) -> Option<Shape> {
    if let Some(values) = schema.additional_schema() {
        let value = shape_of(values, values.embedded)?;
        let most = (LARGEST_REQUEST - 2) / (value.min_size + 6);
        let max_elements = schema.max_properties.map_or(most, count);
        return Some(Shape { kind: ShapeKind::Map(value), max_elements, min_size: 2 });
    }
    let mut fields = BTreeMap::new();
    let mut min_size = 2;
    for (name, property) in &schema.properties {
        let Some(shape) = shape_of(property, property.embedded) else { continue };
        if schema.required.contains(name) && property.default.is_none() {
            min_size += name.len() as u64 + shape.min_size + 4;
        }
        if let Some(escaped) = escape(name) {
            fields.insert(escaped, Field { name: name.clone(), shape });
        }
    }
    Some(Shape { kind: ShapeKind::Object(fields), max_elements: 0, min_size })
}

fn text(schema: &Schema) -> Shape {
    let (kind, max_elements, min_size) = match schema.format.as_str() {
        "byte" => (ShapeKind::Bytes, schema.max_length.map_or(LARGEST_REQUEST - 2, count), 2),
        "duration" => (ShapeKind::Duration, 32, 3),
        "date" => (ShapeKind::Timestamp, 12, 12),
        "date-time" => (ShapeKind::Timestamp, 32, 21),
        _ => {
            let longest = schema.choices.iter().filter_map(Value::as_str).map(str::len).max();
            let most = match (schema.max_length, schema.choices.is_empty()) {
                (Some(limit), _) => characters(limit),
                (None, false) => longest.unwrap_or(0) as u64,
                (None, true) => LARGEST_REQUEST - 2,
            };
            (ShapeKind::Text, most, 2)
        }
    };
    Shape { kind, max_elements, min_size }
}
