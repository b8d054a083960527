//! The replicas of objects of a resource, wherever they are.

use serde_json::{Map, Value, json};

use crate::{ApiError, Behaviour, Resource, meta};

const OF_BUILTIN: &[&str] = &["spec", "replicas"];

/// The scale of an object.
pub(crate) fn scale_of(resource: &Resource, object: &Value) -> Result<Value, ApiError> {
    if let Behaviour::Custom { version, .. } = &resource.behaviour {
        let scale =
            version.scale.as_ref().ok_or_else(|| ApiError::internal("there is no scale"))?;
        return scale.of(object).map_err(ApiError::internal);
    }
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = meta::of(object).and_then(|meta| meta.get(field)) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    let number = |part: &str| object[part]["replicas"].as_i64().unwrap_or_default();
    let mut spec = Map::new();
    if number("spec") != 0 {
        spec.insert("replicas".to_owned(), number("spec").into());
    }
    let mut status = json!({ "replicas": number("status") });
    let selector = selector_text(&object["spec"]["selector"]);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    Ok(json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }))
}

/// The scale of an object that is about to change, which may have no replicas yet.
pub(crate) fn changing_scale_of(resource: &Resource, object: &Value) -> Result<Value, ApiError> {
    match &resource.behaviour {
        Behaviour::Custom { version, .. } => match &version.scale {
            Some(scale) => scale.of_changing(object).map_err(ApiError::internal),
            None => scale_of(resource, object),
        },
        Behaviour::Builtin { .. } => scale_of(resource, object),
    }
}

/// The names of the fields down to the replicas.
pub(crate) fn replicas_path(resource: &Resource) -> Vec<&str> {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => OF_BUILTIN.to_vec(),
        Behaviour::Custom { version, .. } => {
            version.scale.as_ref().map(flumen_crd::Scale::replicas_path).unwrap_or_default()
        }
    }
}

pub(crate) fn set_replicas(resource: &Resource, object: &mut Value, replicas: i64) {
    match &resource.behaviour {
        Behaviour::Builtin { .. } => object["spec"]["replicas"] = replicas.into(),
        Behaviour::Custom { version, .. } => {
            if let Some(scale) = &version.scale {
                scale.set(object, replicas);
            }
        }
    }
}

/// A label selector in the notation of queries. A plain map is one of equal values.
pub(crate) fn selector_text(selector: &Value) -> String {
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
    terms.sort_by(|(one, _), (other, _)| one.cmp(other));
    let terms: Vec<String> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}
