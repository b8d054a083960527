//! How server-side apply merges objects of a schema.

use flumen_fields::{
    List, ListKey, ListMerge, Map, Node, NodeId, Scalar, Schema as ApplySchema, SchemaBuilder,
};

use crate::schema::{Additional, Schema};

/// The schema of objects; without one of the definition anything is merged as it comes.
pub(crate) fn build(schema: Option<&Schema>) -> ApplySchema {
    let mut builder = SchemaBuilder::new();
    let mut fields = Vec::new();
    let empty = Schema::default();
    let schema = schema.unwrap_or(&empty);
    let preserves = schema.preserves_unknown();
    for (name, property) in &schema.properties {
        if !crate::prune::is_meta(name) {
            fields.push((name.as_str().into(), node(&mut builder, property, preserves)));
        }
    }
    let text = builder.add(Node::scalar(Scalar::String));
    let metadata = builder.object_meta();
    fields.extend(
        [("apiVersion", text), ("kind", text), ("metadata", metadata)]
            .map(|(name, id)| (Box::from(name), id)),
    );
    let is_free = preserves || *schema == empty;
    let other = other(&mut builder, schema, is_free, preserves);
    let atomic = schema.map_type.as_deref() == Some("atomic");
    let root = builder.add(Node::map(Map::new(fields, other).atomic(atomic)));
    builder.build(root)
}

/// `preserves` says whether a schema above keeps fields that it does not know.
fn node(builder: &mut SchemaBuilder, schema: &Schema, preserves: bool) -> NodeId {
    let preserves = preserves || schema.preserves_unknown();
    let node = match schema.kind.as_str() {
        "object" => Node::map(map(builder, schema, preserves)),
        "array" => Node { list: Some(list(builder, schema, preserves)), ..Node::default() },
        "string" if matches!(&*schema.format, "" | "byte") => Node::scalar(Scalar::String),
        "string" => Node::scalar(Scalar::Untyped),
        "integer" | "number" => Node::scalar(Scalar::Numeric),
        "boolean" => Node::scalar(Scalar::Boolean),
        _ => Node {
            scalar: Some(Scalar::Untyped),
            list: Some(list(builder, schema, preserves)),
            map: Some(map(builder, schema, preserves)),
        },
    };
    builder.add(node)
}

fn map(builder: &mut SchemaBuilder, schema: &Schema, preserves: bool) -> Map {
    let mut fields: Vec<(Box<str>, NodeId)> = Vec::new();
    for (name, property) in &schema.properties {
        if !(schema.embedded && crate::prune::is_meta(name)) {
            fields.push((name.as_str().into(), node(builder, property, preserves)));
        }
    }
    if schema.embedded {
        let text = builder.add(Node::scalar(Scalar::String));
        let metadata = builder.embedded_meta();
        for (name, id) in [("apiVersion", text), ("kind", text), ("metadata", metadata)] {
            fields.push((name.into(), id));
        }
    }
    let is_free = preserves || fields.is_empty();
    let other = other(builder, schema, is_free, preserves);
    Map::new(fields, other).atomic(schema.map_type.as_deref() == Some("atomic"))
}

fn other(
    builder: &mut SchemaBuilder,
    schema: &Schema,
    is_free: bool,
    preserves: bool,
) -> Option<NodeId> {
    match &schema.additional {
        Some(Additional::Schema(values)) => Some(node(builder, values, preserves)),
        Some(Additional::Any(true)) => Some(SchemaBuilder::DEDUCED),
        Some(Additional::Any(false)) => None,
        None => is_free.then_some(SchemaBuilder::DEDUCED),
    }
}

fn list(builder: &mut SchemaBuilder, schema: &Schema, preserves: bool) -> List {
    let element = match schema.item() {
        Some(item) => node(builder, item, preserves),
        None => SchemaBuilder::UNTYPED,
    };
    let merge = match schema.list_type.as_deref() {
        Some("set") => ListMerge::Set,
        Some("map") => {
            let default = |key: &String| {
                let property = schema.item().and_then(|item| item.properties.get(key));
                property.and_then(|property| property.default.clone())
            };
            let keys = schema.list_map_keys.iter();
            let keys = keys.map(|key| ListKey { name: key.as_str().into(), default: default(key) });
            ListMerge::Map(keys.collect())
        }
        _ => ListMerge::Atomic,
    };
    List { element, merge }
}
