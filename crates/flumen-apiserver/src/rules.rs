//! What a resource makes of objects: the one place where the rules of built-in kinds and of custom
//! resources are asked.
//!
//! Objects come in a version that is served and are kept in the version that is stored, the hub.
//! Preparation, validation and admission see the hub.

use std::{borrow::Cow, sync::Arc};

use flumen_crd::{Scale, Version};
use flumen_fields::FieldError;
use flumen_kinds::{CustomTarget, Media, Strict, Target, selectable::SelectableField};
use flumen_schema::api::TypeId;
use serde_json::Value;

use crate::{ApiError, Behaviour, Resource, meta};

/// An object that was read, and what a strict server would refuse in it.
#[derive(Debug)]
pub(crate) struct Read {
    /// In the version of the request, with defaults.
    pub object: Value,
    pub problems: Problems,
}

/// Fields that are unknown or there twice.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// One text each.
    pub warnings: Vec<String>,
    /// All of them as one error; empty if there are none.
    pub error: String,
}

impl From<Strict> for Problems {
    fn from(strict: Strict) -> Self {
        if strict.is_empty() {
            return Self::default();
        }
        let warnings = strict.warnings().map(str::to_owned).collect();
        Self { warnings, error: strict.error() }
    }
}

/// Reads the body of a create or an update.
pub(crate) fn read(resource: &Resource, body: &[u8], media: Media) -> Result<Read, ApiError> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => {
            let decoded = flumen_kinds::decode(body, media, &Target::from(*kind))
                .map_err(|error| ApiError::bad_request(error.to_string()))?;
            let mut object = decoded.object;
            if media == Media::Json && contains(body, b"managedFields") {
                let sent = serde_json::from_slice(body).unwrap_or_default();
                keep_reset(&sent, &mut object);
            }
            flumen_kinds::default(&mut object, kind);
            Ok(Read { object, problems: decoded.strict.into() })
        }
        Behaviour::Custom { version, .. } => {
            let (group, kind) = (version.group.as_str(), version.kind.as_str());
            let target = CustomTarget { group, version: &version.name, kind };
            let decoded = flumen_kinds::decode_custom(body, media, target)
                .map_err(|error| ApiError::bad_request(error.to_string()))?;
            admit(version, decoded.object, decoded.strict).map_err(|problem| {
                let name = &version.name;
                let what = format!("{kind} in version {name:?} cannot be handled as a {kind}");
                ApiError::bad_request(format!("{what}: {problem}"))
            })
        }
    }
}

/// An empty list of managed fields asks to forget all of them, so it is not the same as none.
fn keep_reset(sent: &Value, object: &mut Value) {
    if sent["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty) {
        meta::set(object, "managedFields", Vec::<Value>::new());
    }
}

fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|window| window == word)
}

/// Brings an object of a custom resource into the form of the server.
fn admit(version: &Version, sent: Value, mut strict: Strict) -> Result<Read, String> {
    let resets = sent["metadata"]["managedFields"].as_array().is_some_and(Vec::is_empty);
    let mut object = sent;
    for path in version.admit(&mut object)? {
        strict.unknown(&path);
    }
    if resets {
        meta::set(&mut object, "managedFields", Vec::<Value>::new());
    }
    version.default(&mut object);
    Ok(Read { object, problems: strict.into() })
}

/// Reads the result of a patch. The error is a message of the decoder.
pub(crate) fn read_value(resource: &Resource, value: &Value) -> Result<Read, String> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => {
            let decoded = flumen_kinds::decode_value(value, kind.object)?;
            let mut object = decoded.object;
            name_kind(resource, &mut object);
            keep_reset(value, &mut object);
            flumen_kinds::default(&mut object, kind);
            Ok(Read { object, problems: decoded.strict.into() })
        }
        Behaviour::Custom { version, .. } => admit(version, value.clone(), Strict::default()),
    }
}

fn name_kind(resource: &Resource, object: &mut Value) {
    if let Value::Object(map) = object {
        map.insert("apiVersion".to_owned(), resource.api_version().into());
        map.insert("kind".to_owned(), resource.kind.clone().into());
    }
}

/// An object of which only the metadata was given, as its zero value is printed.
pub(crate) fn zero(resource: &Resource, metadata: Value) -> Value {
    let mut object = match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => flumen_kinds::zero(kind.object),
        Behaviour::Custom { .. } => Value::Object(serde_json::Map::new()),
    };
    name_kind(resource, &mut object);
    if SCALED.contains(&(&*resource.group, &*resource.kind)) {
        object["spec"]["replicas"] = 0.into();
    }
    object["metadata"] = metadata;
    object
}

/// Kinds whose number of replicas is always there inside the real server.
const SCALED: &[(&str, &str)] = &[
    ("", "ReplicationController"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
];

/// Whether objects are stored in the version of the resource.
pub(crate) fn is_hub(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { kind, hub } => std::ptr::eq(*kind, *hub),
        Behaviour::Custom { version, hub } => Arc::ptr_eq(version, hub),
    }
}

/// Converts an object of the version that is stored into the one that was asked for.
pub(crate) fn from_hub(resource: &Resource, object: Value) -> Result<Value, ApiError> {
    match &resource.behaviour {
        _ if is_hub(resource) => Ok(object),
        Behaviour::Builtin { kind, hub } => Ok(flumen_kinds::convert(object, hub, kind)),
        Behaviour::Custom { version, .. } => Ok(converted(version, object)),
    }
}

/// Versions of custom resources are alike but for their names, and for defaults.
fn converted(version: &Version, mut object: Value) -> Value {
    version.convert(&mut object);
    version.default(&mut object);
    object
}

/// An object as lists have it: items of built-in kinds do not repeat their kind.
pub(crate) fn list_item(resource: &Resource, object: Value) -> Result<Value, ApiError> {
    let mut object = from_hub(resource, object)?;
    if let (Behaviour::Builtin { .. }, Value::Object(map)) = (&resource.behaviour, &mut object) {
        map.remove("apiVersion");
        map.remove("kind");
    }
    Ok(object)
}

/// Converts an object of the version of a request into the one that is stored.
pub(crate) fn to_hub(resource: &Resource, object: Value) -> Result<Value, ApiError> {
    match &resource.behaviour {
        _ if is_hub(resource) => Ok(object),
        Behaviour::Builtin { kind, hub } => Ok(flumen_kinds::convert(object, kind, hub)),
        Behaviour::Custom { hub, .. } => Ok(converted(hub, object)),
    }
}

/// Whether a resource is that of the definitions of custom ones.
pub(crate) fn is_definition(resource: &Resource) -> bool {
    resource.group == "apiextensions.k8s.io" && resource.plural == "customresourcedefinitions"
}

/// The type that a strategic merge patch follows; custom resources have none.
pub(crate) fn patch_type(resource: &Resource) -> Option<TypeId> {
    match &resource.behaviour {
        Behaviour::Builtin { kind, .. } => Some(kind.object),
        Behaviour::Custom { .. } => None,
    }
}

/// Resets what a client may not set and fills in what the server owns.
pub(crate) fn prepare_create(resource: &Resource, object: &mut Value, now: &str) {
    match &resource.behaviour {
        Behaviour::Builtin { .. } if is_definition(resource) => flumen_crd::prepare_create(object),
        Behaviour::Builtin { hub, .. } => flumen_kinds::prepare_create(hub, object, now),
        Behaviour::Custom { hub, .. } => hub.prepare_create(object),
    }
}

/// The same for an update, of the object itself or of a subresource.
pub(crate) fn prepare_update(
    resource: &Resource,
    subresource: &str,
    new: &mut Value,
    old: &Value,
    now: &str,
) {
    match (&resource.behaviour, subresource) {
        (Behaviour::Builtin { .. }, "") if is_definition(resource) => {
            flumen_crd::prepare_update(new, old);
        }
        (Behaviour::Builtin { hub, .. }, "") => flumen_kinds::prepare_update(hub, new, old),
        (Behaviour::Custom { hub, .. }, "status") => hub.prepare_status_update(new, old),
        (Behaviour::Custom { hub, .. }, _) => hub.prepare_update(new, old),
        (Behaviour::Builtin { hub, .. }, _) => {
            flumen_kinds::prepare_subresource_update(hub, subresource, new, old, now);
        }
    }
}

pub(crate) fn validate_create(resource: &Resource, object: &Value) -> Vec<FieldError> {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => {
            let mut errors = flumen_kinds::validate_create(hub, object);
            if is_definition(resource) {
                errors.extend(flumen_crd::validate_create(object));
            }
            errors
        }
        Behaviour::Custom { hub, .. } => hub.validate_create(object).errors,
    }
}

pub(crate) fn validate_update(
    resource: &Resource,
    subresource: &str,
    new: &Value,
    old: &Value,
) -> Vec<FieldError> {
    match (&resource.behaviour, subresource) {
        (Behaviour::Builtin { hub, .. }, "") => {
            let mut errors = flumen_kinds::validate_update(hub, new, old);
            if is_definition(resource) {
                errors.extend(flumen_crd::validate_update(new, old));
            }
            errors
        }
        (Behaviour::Builtin { hub, .. }, _) => {
            let mut errors = flumen_kinds::validate_subresource_update(hub, subresource, new, old);
            if is_definition(resource) {
                errors.extend(flumen_crd::validate_status(new));
            }
            errors
        }
        (Behaviour::Custom { hub, .. }, "status") => hub.validate_status_update(new, old).errors,
        (Behaviour::Custom { hub, .. }, _) => hub.validate_update(new, old).errors,
    }
}

/// What a user should know about a valid object.
pub(crate) fn warnings(resource: &Resource, new: &Value, old: Option<&Value>) -> Vec<String> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } if is_definition(resource) => flumen_crd::warnings(new, old),
        Behaviour::Builtin { hub, .. } => flumen_kinds::warnings(hub, new, old),
        Behaviour::Custom { hub, .. } => hub.warnings(new, old),
    }
}

/// The group and kind that messages about invalid objects name.
pub(crate) fn hub_kind(resource: &Resource) -> (&str, &str) {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => (hub.group, hub.kind),
        Behaviour::Custom { .. } => (&resource.group, &resource.kind),
    }
}

/// Whether objects can be selected by a field.
pub(crate) fn check_selectable(resource: &Resource, field: &str) -> Result<(), String> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => SelectableField::of(&resource.group, &resource.kind, field)
            .map(drop)
            .map_err(|unknown| unknown.to_string()),
        Behaviour::Custom { version, .. } => {
            let is_known = field == "metadata.name"
                || field == "metadata.namespace"
                || version.selectable.iter().any(|known| known == field);
            if is_known { Ok(()) } else { Err(format!("field label not supported: {field}")) }
        }
    }
}

/// The value of a field that can be selected by, in the version that is stored.
pub(crate) fn selectable_value<'a>(
    resource: &Resource,
    object: &'a Value,
    field: &str,
) -> Cow<'a, str> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => SelectableField::of(&resource.group, &resource.kind, field)
            .map_or(Cow::Borrowed(""), |field| field.value(object)),
        Behaviour::Custom { version, .. } => version.selectable_value(object, field).into(),
    }
}

/// Whether a PUT of a missing object creates it.
pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::creates_on_update(hub),
        Behaviour::Custom { .. } => false,
    }
}

/// Whether a PUT without a version overwrites.
pub(crate) fn updates_without_version(resource: &Resource) -> bool {
    match &resource.behaviour {
        Behaviour::Builtin { hub, .. } => flumen_kinds::updates_without_version(hub),
        Behaviour::Custom { .. } => false,
    }
}

/// What the scale of an object shows.
#[derive(Debug, Default)]
pub(crate) struct ScaleParts {
    pub replicas: i64,
    /// As the status has it.
    pub present: i64,
    pub selector: String,
}

pub(crate) fn scale_parts(resource: &Resource, object: &Value) -> Result<ScaleParts, ApiError> {
    match &resource.behaviour {
        Behaviour::Custom { version, .. } => {
            let scale = version.scale.as_ref();
            let scale = scale.ok_or_else(|| ApiError::internal("there is no scale"))?;
            let found = scale.of(object).map_err(|error| ApiError::internal(error.to_string()))?;
            Ok(ScaleParts {
                replicas: found.replicas,
                present: found.present,
                selector: found.selector,
            })
        }
        Behaviour::Builtin { .. } => Ok(ScaleParts {
            replicas: object["spec"]["replicas"].as_i64().unwrap_or_default(),
            present: object["status"]["replicas"].as_i64().unwrap_or_default(),
            selector: selector_text(&object["spec"]["selector"]),
        }),
    }
}

/// The names of the fields down to the replicas that are wanted.
pub(crate) fn replicas_path(resource: &Resource) -> Vec<&str> {
    match &resource.behaviour {
        Behaviour::Custom { version, .. } => {
            version.scale.as_ref().map(Scale::replicas_path).unwrap_or_default()
        }
        Behaviour::Builtin { .. } => vec!["spec", "replicas"],
    }
}

/// Writes the replicas that are wanted into an object.
pub(crate) fn set_replicas(resource: &Resource, object: &mut Value, replicas: i64) {
    match &resource.behaviour {
        Behaviour::Custom { version, .. } => {
            if let Some(scale) = &version.scale {
                scale.set(object, replicas);
            }
        }
        Behaviour::Builtin { .. } => object["spec"]["replicas"] = replicas.into(),
    }
}

/// A label selector in the notation of queries. A plain map is one of equal values.
fn selector_text(selector: &Value) -> String {
    let is_structured = ["matchLabels", "matchExpressions"]
        .iter()
        .any(|part| selector.get(part).is_some_and(|part| !part.is_string()));
    let labels = if is_structured { &selector["matchLabels"] } else { selector };
    let mut terms: Vec<(String, String)> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    let expressions = selector["matchExpressions"].as_array().filter(|_| is_structured);
    for expression in expressions.into_iter().flatten() {
        let key = expression["key"].as_str().unwrap_or_default();
        let values = expression["values"].as_array().into_iter().flatten();
        let mut values: Vec<&str> = values.filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let term = match expression["operator"].as_str().unwrap_or_default() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort();
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}
