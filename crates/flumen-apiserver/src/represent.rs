//! Objects in the shape that a client asked for: whole, metadata alone, or as rows of a table.

use flumen_kinds::table::{Column, Table};
use flumen_store::Entry;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    ApiError, Behaviour, MetaVersion, Payload, Query, Reason, Representation, Resource, clock,
    rules, storage,
};

const SCALE: &str = "Scale";

/// A whole answer. What is no object of a resource, like a Status, stays as it is.
pub(crate) fn payload(
    payload: Payload,
    representation: Representation,
    query: &Query,
) -> Result<Value, ApiError> {
    match payload {
        Payload::Object { object, resource: Some(resource) } => {
            self::object(object, &resource, representation, query)
        }
        Payload::Object { object, resource: None } => Ok(object),
        Payload::List { resource, metadata, items } => {
            list(&resource, metadata, &items, representation, query)
        }
        Payload::Watch(_) | Payload::Text(_) => Ok(Value::Null),
    }
}

/// One object, as it is shown from; see [`rules::source`].
pub(crate) fn object(
    object: Value,
    resource: &Resource,
    representation: Representation,
    query: &Query,
) -> Result<Value, ApiError> {
    match representation {
        Representation::Object => Ok(object),
        Representation::Metadata(version) => Ok(partial(object, resource, version)),
        Representation::MetadataList(_) => Err(not_acceptable(format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
            go_type(resource, "")
        ))),
        Representation::Table(version) => {
            let mut metadata = Map::new();
            if let Some(at) = object.pointer("/metadata/resourceVersion") {
                metadata.insert("resourceVersion".to_owned(), at.clone());
            }
            table(resource, metadata.into(), std::iter::once(Ok(object)), version, query)
        }
    }
}

fn list(
    resource: &Resource,
    mut metadata: Value,
    items: &[Entry],
    representation: Representation,
    query: &Query,
) -> Result<Value, ApiError> {
    // One at a time, because trees take many times the memory of what they are shown as.
    let sources = items
        .iter()
        .map(|entry| Ok(rules::source(resource, representation, storage::decode(entry)?)));
    if let (false, Value::Object(map)) = (representation == Representation::Object, &mut metadata)
        && map.get("continue").is_some_and(|token| token == "")
    {
        // Only whole lists say that they are complete.
        map.remove("continue");
    }
    match representation {
        Representation::Object => {
            let mut list = typed(&resource.list_kind, resource.api_version(), metadata);
            let items = items.iter().map(|entry| item(resource, entry));
            list.insert("items".to_owned(), items.collect::<Result<_, _>>()?);
            Ok(list.into())
        }
        Representation::Metadata(_) => Err(not_acceptable(format!(
            "you requested PartialObjectMetadata, but the requested object is a list ({})",
            go_type(resource, "List")
        ))),
        Representation::MetadataList(version) => {
            let mut list = typed("PartialObjectMetadataList", version.api_version(), metadata);
            let items = sources.map(|item| Ok(partial(item?, resource, version)));
            list.insert("items".to_owned(), if_any(items.collect::<Result<_, ApiError>>()?));
            Ok(list.into())
        }
        Representation::Table(version) => table(resource, metadata, sources, version, query),
    }
}

/// An object of the store as lists have it.
pub(crate) fn item(resource: &Resource, entry: &Entry) -> Result<Value, ApiError> {
    Ok(rules::list_item(resource, storage::decode(entry)?))
}

/// How much of its object a row has.
#[derive(Clone, Copy)]
enum Include {
    None,
    Metadata,
    Object,
}

impl Include {
    fn of(query: &Query) -> Result<Self, ApiError> {
        match query.get("includeObject").unwrap_or_default() {
            "None" => Ok(Self::None),
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            other => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: \
                 must be 'Metadata', 'Object', 'None', or empty"
            ))),
        }
    }
}

fn table(
    resource: &Resource,
    metadata: Value,
    items: impl Iterator<Item = Result<Value, ApiError>>,
    version: MetaVersion,
    query: &Query,
) -> Result<Value, ApiError> {
    let include = Include::of(query)?;
    let mut items = items.peekable();
    let is_scale = matches!(items.peek(), Some(Ok(item)) if item["kind"] == SCALE);
    let (columns, cells) = cells(resource, is_scale, clock::now());
    let row = |item: Result<Value, ApiError>| {
        let item = item?;
        let mut row = cells(&item);
        let shown = match include {
            Include::None => Value::Null,
            Include::Metadata => partial(item, resource, version),
            Include::Object => whole(item, resource),
        };
        row.insert("object".to_owned(), shown);
        Ok(Value::Object(row))
    };
    let rows = items.map(row).collect::<Result<Vec<Value>, ApiError>>()?;
    let mut table = typed("Table", version.api_version(), metadata);
    table.insert("columnDefinitions".to_owned(), columns.into());
    let rows = Value::Array(rows);
    table.insert("rows".to_owned(), if has_own_table(resource) { rows } else { if_any(rows) });
    Ok(table.into())
}

/// What a row says of an object.
type Cells<'a> = Box<dyn Fn(&Value) -> Map<String, Value> + 'a>;

/// The columns, and what is in them for an object.
fn cells(resource: &Resource, is_scale: bool, now: Timestamp) -> (Vec<Value>, Cells<'_>) {
    let row = |cells: Vec<Value>| Map::from_iter([("cells".to_owned(), cells.into())]);
    let table = match &resource.behaviour {
        // A scale is a kind of its own, whatever is scaled.
        Behaviour::Builtin { .. } if is_scale => Table::of("autoscaling", SCALE),
        Behaviour::Custom { .. } if is_scale => Table::of("apiextensions.k8s.io", SCALE),
        Behaviour::Builtin { kind, .. } => Table::of(kind.group, kind.kind),
        Behaviour::Custom { version, .. } => {
            let cells = move |item: &Value| row(version.cells(item, now));
            return (version.column_definitions(), Box::new(cells));
        }
    };
    let cells = move |item: &Value| {
        let mut row = row(table.cells(item, now));
        if let Some(conditions) = table.conditions(item) {
            row.insert("conditions".to_owned(), conditions);
        }
        row
    };
    (table.columns.iter().map(Column::to_value).collect(), Box::new(cells))
}

/// Whether a kind has columns of its own.
fn has_own_table(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => !Table::of(kind.group, kind.kind).is_usual(),
        Behaviour::Custom { .. } => true,
    }
}

/// A list that the real server makes only for its first item.
fn if_any(items: Value) -> Value {
    if items.as_array().is_some_and(Vec::is_empty) { Value::Null } else { items }
}

fn whole(object: Value, resource: &Resource) -> Value {
    let mut object = match &resource.behaviour {
        Behaviour::Builtin { .. } => rules::presented(resource, object),
        Behaviour::Custom { .. } => object,
    };
    if let Some(object) = object.as_object_mut() {
        object.entry("apiVersion").or_insert_with(|| resource.api_version().into());
        object.entry("kind").or_insert_with(|| resource.kind.clone().into());
    }
    object
}

fn partial(mut object: Value, resource: &Resource, version: MetaVersion) -> Value {
    if let Behaviour::Builtin { kind, .. } = &resource.behaviour {
        flumen_kinds::remove_converted_annotations(kind, &mut object);
    }
    let metadata = object.get_mut("metadata").map(Value::take).unwrap_or_default();
    typed("PartialObjectMetadata", version.api_version(), metadata).into()
}

/// An object of a kind, as far as all have the same. Nothing is copied: lists can be long.
fn typed(kind: &str, api_version: impl Into<String>, metadata: Value) -> Map<String, Value> {
    Map::from_iter([
        ("kind".to_owned(), kind.into()),
        ("apiVersion".to_owned(), Value::String(api_version.into())),
        ("metadata".to_owned(), metadata),
    ])
}

fn not_acceptable(message: String) -> ApiError {
    ApiError::new(406, Some(Reason::NotAcceptable), message)
}

/// The type as the messages name it.
fn go_type(resource: &Resource, suffix: &str) -> String {
    if matches!(resource.behaviour, Behaviour::Custom { .. }) {
        return format!("*unstructured.Unstructured{suffix}");
    }
    let package = match resource.group.split('.').next() {
        None | Some("") => "core",
        Some(package) => package,
    };
    format!("*{package}.{}{suffix}", resource.kind)
}
