//! Webhooks: admission by programs that users run.
//!
//! Nothing runs in this server, so a webhook is asked only if it is on this machine: at a URL on
//! loopback, or behind a service whose external name is. All others fail, and their policy says what
//! that means.

mod call;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use self::call::Endpoint;
use super::{Attempt, Operation, Result, described::described, matching};
use crate::{ApiError, Details, Reason, clock, patch::JsonPatch};

const GROUP: &str = "admissionregistration.k8s.io";

/// Lets webhooks change an object.
pub(super) async fn mutate(attempt: &Attempt<'_>, object: &mut Value) -> Result {
    for webhook in webhooks(attempt, "mutatingwebhookconfigurations")? {
        if !matching::matches(attempt, object, &webhook)? {
            continue;
        }
        let Some(response) = ask(attempt, object, &webhook).await? else { continue };
        let Some(text) = response["patch"].as_str() else { continue };
        patched(object, text).map_err(|why| failed(&webhook, &why))?;
    }
    Ok(())
}

/// Lets webhooks refuse an object.
pub(super) async fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    for webhook in webhooks(attempt, "validatingwebhookconfigurations")? {
        if matching::matches(attempt, object, &webhook)? {
            ask(attempt, object, &webhook).await?;
        }
    }
    Ok(())
}

/// All webhooks of a kind, in the order of their configurations. They are not asked about themselves.
fn webhooks(attempt: &Attempt<'_>, plural: &str) -> Result<Vec<Value>> {
    if attempt.resource().group == GROUP {
        return Ok(Vec::new());
    }
    let configurations = attempt.all(GROUP, plural, "")?.into_iter();
    let webhooks = configurations.filter_map(|mut all| match all["webhooks"].take() {
        Value::Array(webhooks) => Some(webhooks),
        _ => None,
    });
    Ok(webhooks.flatten().collect())
}

/// The response of a webhook that allows the request; none if it failed and that does not matter.
async fn ask(attempt: &Attempt<'_>, object: &Value, webhook: &Value) -> Result<Option<Value>> {
    let uid = clock::uid();
    let review = review(attempt, object, &uid);
    let asked = match endpoint(attempt, webhook)? {
        Ok(endpoint) => endpoint.post(&review).await,
        Err(why) => Err(why),
    };
    let answered = asked.and_then(|mut answer| {
        let response = answer["response"].take();
        if response["uid"] == uid {
            Ok(response)
        } else {
            Err("the answer is to another request".to_owned())
        }
    });
    let response = match answered {
        Ok(response) => response,
        Err(_) if webhook["failurePolicy"] == "Ignore" => return Ok(None),
        Err(why) => return Err(failed(webhook, &why)),
    };
    for warning in response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        attempt.request.warn(warning);
    }
    if response["allowed"] == true {
        return Ok(Some(response));
    }
    Err(denied(webhook, &response["status"]))
}

fn name(webhook: &Value) -> &str {
    webhook["name"].as_str().unwrap_or_default()
}

fn failed(webhook: &Value, why: &str) -> ApiError {
    let name = name(webhook);
    ApiError::internal(format!("failed calling webhook {name:?}: failed to call webhook: {why}"))
}

fn denied(webhook: &Value, status: &Value) -> ApiError {
    let name = name(webhook);
    let said = status["message"].as_str().or_else(|| status["reason"].as_str());
    let message = match said.filter(|said| !said.is_empty()) {
        Some(said) => format!("admission webhook {name:?} denied the request: {said}"),
        None => format!("admission webhook {name:?} denied the request without explanation"),
    };
    let code = status["code"].as_u64().and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|code| (400..600).contains(code)).unwrap_or(403);
    let reason = (code == 403).then_some(Reason::Forbidden);
    ApiError::new(code, reason, message).with_details(Details::default())
}

/// Where a webhook is, or why it cannot be asked.
fn endpoint(
    attempt: &Attempt<'_>,
    webhook: &Value,
) -> Result<std::result::Result<Endpoint, String>> {
    let config = &webhook["clientConfig"];
    let seconds = webhook["timeoutSeconds"].as_u64().unwrap_or(10);
    let bundle = config["caBundle"].as_str().unwrap_or_default();
    if let Some(url) = config["url"].as_str() {
        return Ok(Endpoint::new(url, bundle, seconds));
    }
    let service = &config["service"];
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    let (namespace, name) = (text("namespace"), text("name"));
    let found = attempt.find("", "services", namespace, name)?;
    let address = found.as_ref().and_then(|service| service["spec"]["externalName"].as_str());
    let port = service["port"].as_u64().unwrap_or(443);
    let path = text("path").trim_start_matches('/');
    Ok(match address {
        Some(address) => {
            Endpoint::new(&format!("https://{address}:{port}/{path}"), bundle, seconds)
        }
        None if found.is_none() => Err(format!("service {name:?} not found")),
        None => Err(format!(
            "no container runs here, so nothing answers for the service {namespace}/{name}"
        )),
    })
}

fn review(attempt: &Attempt<'_>, object: &Value, uid: &str) -> Value {
    let is_deletion = attempt.operation == Operation::Delete;
    let mut request = described(attempt, object);
    request["uid"] = uid.into();
    request["object"] = if is_deletion { Value::Null } else { object.clone() };
    request["oldObject"] = attempt.old.cloned().unwrap_or_default();
    request["options"] = Value::Null;
    json!({ "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request })
}

/// Applies the patch of a response.
fn patched(object: &mut Value, text: &str) -> std::result::Result<(), String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let operations: Vec<Map<String, Value>> =
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let mut changed = object.clone();
    JsonPatch::new(operations)
        .apply(&mut changed)
        .map_err(|_| "the patch of the webhook does not apply".to_owned())?;
    *object = changed;
    Ok(())
}
