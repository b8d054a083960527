//! Custom resources that a program of the user converts between versions.
//!
//! Everything in the server sees objects in the version of a request. They are converted when they come
//! from the store and when they go there, and where no program is named nothing happens here.

use flumen_store::Entry;
use serde_json::{Value, json};

use crate::{Api, ApiError, Behaviour, Resource, clock, meta, storage, webhook};

/// How long a program may take.
const SECONDS: u64 = 30;

/// The program of a definition.
#[derive(Clone, Debug)]
pub(crate) struct Converter {
    /// As the definition has it.
    client: Value,
    review: Option<String>,
}

impl Converter {
    /// The one that a definition names, if it does.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let conversion = &definition["spec"]["conversion"];
        let webhook = &conversion["webhook"];
        let versions = webhook["conversionReviewVersions"].as_array().into_iter().flatten();
        let known = |version: &&str| matches!(*version, "v1" | "v1beta1");
        let review = versions.filter_map(Value::as_str).find(known).map(str::to_owned);
        let client = webhook["clientConfig"].clone();
        (conversion["strategy"] == "Webhook").then_some(Self { client, review })
    }

    /// The objects in another version, in the same order.
    async fn convert(&self, api: &Api, objects: &[&Value], to: &str) -> Result<Vec<Value>, String> {
        let review = self.review.as_deref().ok_or("no supported conversion review versions")?;
        let uid = clock::uid();
        let question = json!({
            "kind": "ConversionReview",
            "apiVersion": format!("apiextensions.k8s.io/{review}"),
            "request": { "uid": uid, "desiredAPIVersion": to, "objects": objects },
        });
        // Boxed, because it is inside the futures of all requests.
        let asked = Box::pin(webhook::ask(api, &self.client, SECONDS, &question));
        let converted = answered(&uid, review, asked.await?)?;
        if converted.len() != objects.len() {
            let (found, wanted) = (converted.len(), objects.len());
            return Err(format!("returned {found} objects, expected {wanted}"));
        }
        objects.iter().zip(converted).map(|(before, after)| checked(before, after, to)).collect()
    }
}

/// The objects of an answer.
fn answered(uid: &str, review: &str, mut answer: Value) -> Result<Vec<Value>, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut response = answer["response"].take();
    if !response.is_object() {
        return Err("no response provided".to_owned());
    }
    let found = text(&response["uid"]);
    if review == "v1" && found != uid {
        return Err(format!("expected response.uid={uid:?}, got {found:?}"));
    }
    let result = &response["result"];
    if result["status"] != "Success" {
        let (status, message) = (text(&result["status"]), text(&result["message"]));
        return Err(match message.as_str() {
            "" => format!("response.result.status was '{status}', not 'Success'"),
            _ => message,
        });
    }
    match response["convertedObjects"].take() {
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}

/// A converted object, of which only labels and annotations of the metadata may be new.
fn checked(before: &Value, mut after: Value, to: &str) -> Result<Value, String> {
    if after["apiVersion"] != to {
        let found = after["apiVersion"].as_str().unwrap_or_default();
        return Err(format!("invalid groupVersion (expected {to}, received {found})"));
    }
    if after["kind"] != before["kind"] {
        return Err("must have the same kind".to_owned());
    }
    for field in ["name", "namespace", "uid"] {
        let (was, is) = (meta::text(before, field), meta::text(&after, field));
        if was != is {
            return Err(format!("must have the same {field}: {was} != {is}"));
        }
    }
    let mut metadata = before["metadata"].clone();
    for field in ["labels", "annotations"] {
        match meta::of(&after).and_then(|metadata| metadata.get(field)) {
            Some(value) => metadata[field] = value.clone(),
            None => drop(metadata.as_object_mut().and_then(|metadata| metadata.remove(field))),
        }
    }
    after["metadata"] = metadata;
    Ok(after)
}

/// Whether objects of a resource may have to be converted by a program.
pub(crate) fn is_needed(resource: &Resource) -> bool {
    matches!(resource.behaviour, Behaviour::Custom { converter: Some(_), .. })
}

/// Brings objects that come from the store into the version of a resource.
pub(crate) async fn load(
    api: &Api,
    resource: &Resource,
    objects: &mut [Value],
) -> Result<(), ApiError> {
    let Behaviour::Custom { converter: Some(converter), .. } = &resource.behaviour else {
        return Ok(());
    };
    let to = resource.api_version();
    let (places, others): (Vec<usize>, Vec<&Value>) = objects
        .iter()
        .enumerate()
        .filter(|(_, object)| object["apiVersion"] != to.as_str())
        .unzip();
    let Some(first) = others.first() else { return Ok(()) };
    let from = first["apiVersion"].as_str().unwrap_or_default().to_owned();
    let converted = converter.convert(api, &others, &to).await;
    let converted = converted.map_err(|why| failed(resource, &from, &why))?;
    for (place, object) in places.into_iter().zip(converted) {
        objects[place] = object;
    }
    Ok(())
}

/// The same for entries of the store, which are written anew.
pub(crate) async fn load_entries(
    api: &Api,
    resource: &Resource,
    entries: &mut [Entry],
) -> Result<(), ApiError> {
    if !is_needed(resource) {
        return Ok(());
    }
    let objects: Result<Vec<Value>, ApiError> = entries.iter().map(storage::decode).collect();
    let mut objects = objects?;
    load(api, resource, &mut objects).await?;
    for (entry, mut object) in entries.iter_mut().zip(objects) {
        meta::remove(&mut object, "resourceVersion");
        entry.value = serde_json::to_vec(&object).map_err(ApiError::internal)?.into();
    }
    Ok(())
}

/// The value of an object in the version that is stored.
pub(crate) async fn encode(
    api: &Api,
    resource: &Resource,
    object: &mut Value,
) -> Result<Vec<u8>, ApiError> {
    let Behaviour::Custom { converter: Some(converter), storage, .. } = &resource.behaviour else {
        return storage::encode(resource, object);
    };
    let (from, to) = (resource.api_version(), storage.api_version());
    if from == to {
        return storage::encode(resource, object);
    }
    let converted = converter.convert(api, &[object], &to).await;
    let converted = converted.map_err(|why| failed(resource, &from, &why))?;
    let mut stored = converted.into_iter().next().unwrap_or_default();
    storage::encode(resource, &mut stored)
}

/// The same for a new object.
pub(crate) async fn encode_new(
    api: &Api,
    resource: &Resource,
    object: &mut Value,
) -> Result<Vec<u8>, ApiError> {
    if is_needed(resource) {
        encode(api, resource, object).await
    } else {
        storage::encode_new(resource, object)
    }
}

fn failed(resource: &Resource, from: &str, why: &str) -> ApiError {
    let kind = &resource.kind;
    ApiError::new(500, None, format!("conversion webhook for {from}, Kind={kind} failed: {why}"))
}
