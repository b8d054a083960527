//! What is asked of pods beyond their objects. Nothing runs here, so there is nothing to log, to
//! execute or to forward to.

mod binding;
mod eviction;

use serde_json::{Value, json};

pub(super) use self::binding::bind;

use super::{Request, body, get, options::FieldValidation};
use crate::{Answer, ApiError, Payload, Reason, clock};

pub(crate) async fn subresource(request: &Request<'_>) -> Result<Answer, ApiError> {
    match &*request.target().subresource {
        "binding" => bind(request, &request.target().name, &read_body(request)?).await,
        "eviction" => eviction::evict(request).await,
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
        _ => Err(ApiError::method_not_allowed()),
    }
}

fn is_on_node(pod: &Value) -> bool {
    pod["spec"]["nodeName"].as_str().is_some_and(|node| !node.is_empty())
}

/// A body that only names things.
fn read_body(request: &Request<'_>) -> Result<Value, ApiError> {
    decode_body(request, &request.call.body)
}

fn decode_body(request: &Request<'_>, body: &[u8]) -> Result<Value, ApiError> {
    let media = body::media_of(request.call.media)?;
    let target = request.subresource().and_then(|sub| {
        let facts = flumen_schema::api::Api::get();
        let kind = facts.kind(&sub.group, &sub.version, &sub.kind).map(flumen_kinds::Target::from);
        kind.or_else(|| {
            facts.message(&sub.group, &sub.version, &sub.kind).map(flumen_kinds::Target::from)
        })
    });
    let Some(target) = target else { return body::object(request, FieldValidation::Warn) };
    let decoded = flumen_kinds::decode(body, media, &target)
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let mut object = decoded.object;
    body::match_namespace(request, &mut object)?;
    Ok(object)
}

/// Sets a condition of a pod, which turned when its status did.
fn set_condition(pod: &mut Value, mut condition: Value) {
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    let Value::Array(conditions) = &mut pod["status"]["conditions"] else { return };
    condition["lastProbeTime"] = Value::Null;
    condition["lastTransitionTime"] = clock::text(clock::now()).into();
    match conditions.iter_mut().find(|known| known["type"] == condition["type"]) {
        Some(known) => {
            if known["status"] == condition["status"] {
                condition["lastTransitionTime"] = known["lastTransitionTime"].take();
            }
            *known = condition;
        }
        None => conditions.push(condition),
    }
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
