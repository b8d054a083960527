//! What is asked of pods beyond their objects. Nothing runs here, so there is nothing to log, to
//! execute or to forward to.

use serde_json::{Value, json};

use super::{
    Request, body,
    delete::{self, DeleteOptions},
    get,
    options::{FieldValidation, WriteOptions},
    write::{self, Update},
};
use crate::{
    Answer, ApiError, Payload, Reason, clock, meta, storage::Stored, verbs::not_allowed_here,
};

pub(crate) async fn subresource(request: &Request<'_>) -> Result<Answer, ApiError> {
    match &*request.target().subresource {
        "binding" => bind(request, &request.target().name).await,
        "eviction" => evict(request).await,
        "log" => log(request).await,
        "attach" | "exec" | "portforward" | "proxy" => {
            let (what, name) = (&request.target().subresource, &request.target().name);
            if !is_on_node(&get::stored(request).await?.object) && what != "proxy" {
                let message = format!("pod {name} does not have a host assigned");
                return Err(ApiError::bad_request(message));
            }
            let message = format!("no container runs here: {what} is not possible");
            Err(ApiError::new(501, Some(Reason::MethodNotAllowed), message))
        }
        _ => Err(not_allowed_here()),
    }
}

fn is_on_node(pod: &Value) -> bool {
    pod["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty())
}

/// A body that only names things.
fn read_body(request: &Request<'_>) -> Result<Value, ApiError> {
    let media = body::media_of(request.call.media)?;
    let target = request.subresource().and_then(|sub| {
        let facts = flumen_schema::api::Api::get();
        let kind = facts.kind(&sub.group, &sub.version, &sub.kind).map(flumen_kinds::Target::from);
        kind.or_else(|| {
            facts.message(&sub.group, &sub.version, &sub.kind).map(flumen_kinds::Target::from)
        })
    });
    let Some(target) = target else { return body::object(request, FieldValidation::Warn) };
    let decoded = flumen_kinds::decode(&request.call.body, media, &target)
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    Ok(decoded.object)
}

/// Assigns a pod to a node.
pub(crate) async fn bind(request: &Request<'_>, name: &str) -> Result<Answer, ApiError> {
    let options = WriteOptions::of(request.call)?;
    let binding = read_body(request)?;
    let node = binding["target"]["name"].as_str().unwrap_or_default().to_owned();
    let make = |live: Option<&Stored>| -> Result<Value, ApiError> {
        let live = live.ok_or_else(|| request.not_found(name))?;
        let mut pod = live.object.clone();
        let present = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        let conflict = |why: String| ApiError::conflict("", "pods/binding", name, &why);
        if meta::is_deleting(&pod) {
            return Err(conflict(format!(
                "pod {name} is being deleted, cannot be assigned to a host"
            )));
        }
        if !present.is_empty() {
            return Err(conflict(format!("pod {name} is already assigned to node {present:?}")));
        }
        pod["spec"]["nodeName"] = node.as_str().into();
        for (key, value) in binding["metadata"]["annotations"].as_object().into_iter().flatten() {
            pod["metadata"]["annotations"][key] = value.clone();
        }
        set_scheduled(&mut pod);
        // Nobody comes to own what a binding sets.
        Ok(pod)
    };
    let update = Update {
        name,
        subresource: "binding",
        make: &make,
        creates: false,
        uid: None,
        options: &options,
    };
    write::update(request, &update).await?;
    Ok(success(request))
}

fn set_scheduled(pod: &mut Value) {
    let condition = json!({
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": null,
        "lastTransitionTime": clock::text(clock::now()),
    });
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    if let Value::Array(conditions) = &mut pod["status"]["conditions"] {
        conditions.retain(|condition| condition["type"] != "PodScheduled");
        conditions.push(condition);
    }
}

async fn evict(request: &Request<'_>) -> Result<Answer, ApiError> {
    let eviction = read_body(request)?;
    let options = DeleteOptions::from_value(&eviction["deleteOptions"])?;
    delete::remove(request, &request.target().name, &options).await?;
    Ok(success(request))
}

fn success(request: &Request<'_>) -> Answer {
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    });
    request.answer_as_is(201, status)
}

async fn log(request: &Request<'_>) -> Result<Answer, ApiError> {
    let stored = get::stored(request).await?;
    let (pod, name) = (&stored.object, &request.target().name);
    let containers = ["initContainers", "containers", "ephemeralContainers"];
    let named = |list: &&str| pod["spec"][*list].as_array().cloned().unwrap_or_default();
    let names: Vec<String> = containers
        .iter()
        .flat_map(named)
        .filter_map(|container| container["name"].as_str().map(str::to_owned))
        .collect();
    match request.call.query.get("container").filter(|container| !container.is_empty()) {
        Some(wanted) if !names.iter().any(|name| name == wanted) => {
            return Err(ApiError::bad_request(format!(
                "container {wanted} is not valid for pod {name}"
            )));
        }
        None if pod["spec"]["containers"].as_array().is_some_and(|list| list.len() > 1) => {
            let list = pod["spec"]["containers"].as_array().into_iter().flatten();
            let list: Vec<&str> = list.filter_map(|container| container["name"].as_str()).collect();
            return Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                list.join(" ")
            )));
        }
        _ => {}
    }
    // Without a node the real server has nobody to ask, and nothing to say either.
    if !is_on_node(pod) {
        return Ok(Answer::new(204, Payload::Text(String::new())));
    }
    Ok(Answer::new(
        200,
        Payload::Text(format!("no container runs here: pod {name} logs nothing\n")),
    ))
}
