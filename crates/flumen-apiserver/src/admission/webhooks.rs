//! Webhooks: admission by programs that users run.

mod response;
mod rounds;

use flumen_cel::Budget;
use futures_util::future::join_all;
use serde_json::{Value, json};

pub(super) use self::rounds::Rounds;

use self::response::{Response, failed};
use super::{
    Attempt, Operation, Result,
    described::described,
    expressions::{Conditions, Scope},
    joined, matching,
};
use crate::{ApiError, Resource, clock, patch::JsonPatch, rules, webhook};

const GROUP: &str = "admissionregistration.k8s.io";
/// What all conditions of one webhook may cost together.
const BUDGET: u64 = 2_500_000;
const DEFAULT_SECONDS: u64 = 10;

/// Lets webhooks change an object, one after the other.
pub(super) async fn mutate(
    attempt: &Attempt<'_>,
    object: &mut Value,
    rounds: &mut Rounds,
) -> Result {
    let webhooks = webhooks(attempt, "mutatingwebhookconfigurations")?;
    if webhooks.is_empty() {
        return Ok(());
    }
    rounds.begin(object);
    for (place, webhook) in webhooks.iter().enumerate() {
        let Some(version) = meant(attempt, object, webhook)? else { continue };
        if !rounds.asks(place) {
            continue;
        }
        let response = ask(attempt, object, webhook, &version, true).await?;
        let changed = match response.map(|response| response.patch) {
            Some(Some(patch)) => patched(attempt, object, webhook, &version, &patch)?,
            _ => false,
        };
        rounds.asked(place, webhook["reinvocationPolicy"] == "IfNeeded", changed);
    }
    rounds.end(object);
    Ok(())
}

/// Lets webhooks refuse an object, all at the same time.
pub(super) async fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    let webhooks = webhooks(attempt, "validatingwebhookconfigurations")?;
    let mut asked = Vec::new();
    for webhook in &webhooks {
        if let Some(version) = meant(attempt, object, webhook)? {
            asked.push(async move { ask(attempt, object, webhook, &version, false).await });
        }
    }
    join_all(asked).await.into_iter().try_for_each(|answer| answer.map(drop))
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

/// Whether a webhook is to be asked, and in which version.
fn meant(
    attempt: &Attempt<'_>,
    object: &Value,
    webhook: &Value,
) -> Result<Option<std::sync::Arc<Resource>>> {
    let Some(version) = matching::webhook_meets(attempt, object, webhook)? else { return Ok(None) };
    let conditions = &webhook["matchConditions"];
    if conditions.as_array().is_none_or(Vec::is_empty) {
        return Ok(Some(version));
    }
    let scope = Scope::of(attempt, object, Value::Null, &version)?;
    match scope.meets(conditions, &mut Budget::new(BUDGET)) {
        Conditions::Met => Ok(Some(version)),
        Conditions::Failed(why) if !is_ignored(webhook) => {
            let (resource, name) = (attempt.resource(), attempt.name(object));
            Err(ApiError::forbidden(&resource.group, &resource.plural, name, &joined(&why)))
        }
        _ => Ok(None),
    }
}

/// Whether a webhook that fails does not matter.
fn is_ignored(webhook: &Value) -> bool {
    webhook["failurePolicy"] == "Ignore"
}

/// The response of a webhook that allows the request; none if it failed and that does not matter.
async fn ask(
    attempt: &Attempt<'_>,
    object: &Value,
    webhook: &Value,
    version: &Resource,
    mutating: bool,
) -> Result<Option<Response>> {
    let name = webhook["name"].as_str().unwrap_or_default();
    let effects = webhook["sideEffects"].as_str().unwrap_or_default();
    if attempt.dry_run && !matches!(effects, "None" | "NoneOnDryRun") {
        let why = format!("admission webhook {name:?} does not support dry run");
        return Err(ApiError::bad_request(why));
    }
    let answered = match exchange(attempt, object, webhook, version).await {
        Ok((uid, review, answer)) => Response::read(&uid, &review, answer, mutating)
            .map_err(|why| format!("received invalid webhook response: {why}")),
        Err(why) => Err(why),
    };
    let response = match answered {
        Ok(response) => response,
        Err(_) if is_ignored(webhook) => return Ok(None),
        Err(why) => return Err(failed(name, &why)),
    };
    response.warnings.iter().for_each(|warning| attempt.request.warn(warning.as_str()));
    response.allow(name).map(Some)
}

/// Sends the review: its identity, the version that it is of, and the answer.
async fn exchange(
    attempt: &Attempt<'_>,
    object: &Value,
    webhook: &Value,
    version: &Resource,
) -> std::result::Result<(String, String, Value), String> {
    let known = |version: &&str| matches!(*version, "v1" | "v1beta1");
    let versions = webhook["admissionReviewVersions"].as_array().into_iter().flatten();
    let review = versions.filter_map(Value::as_str).find(known).ok_or(
        "could not create admission objects: webhook does not accept known AdmissionReview versions \
         (v1, v1beta1)",
    )?;
    let uid = clock::uid();
    let mut request = described(attempt, object, version);
    request["uid"] = uid.as_str().into();
    let is_deletion = attempt.operation == Operation::Delete;
    let versioned = |object: &Value| attempt.versioned(object, version);
    request["object"] = if is_deletion { Value::Null } else { versioned(object) };
    request["oldObject"] = attempt.old.map(versioned).unwrap_or_default();
    let question = json!({
        "kind": "AdmissionReview",
        "apiVersion": format!("admission.k8s.io/{review}"),
        "request": request,
    });
    let seconds = webhook["timeoutSeconds"].as_u64().unwrap_or(DEFAULT_SECONDS);
    let api = attempt.request.api;
    // Boxed, because it is inside the futures of all writes.
    let answer = Box::pin(webhook::ask(api, &webhook["clientConfig"], seconds, &question))
        .await
        .map_err(|why| format!("failed to call webhook: {why}"))?;
    Ok((uid, review.to_owned(), answer))
}

/// Applies the patch of a response; tells whether that changed anything.
fn patched(
    attempt: &Attempt<'_>,
    object: &mut Value,
    webhook: &Value,
    version: &Resource,
    patch: &JsonPatch,
) -> Result<bool> {
    let name = webhook["name"].as_str().unwrap_or_default();
    if patch.len() == 0 {
        return Ok(false);
    }
    if attempt.operation == Operation::Delete {
        return Err(ApiError::internal(format!(
            "admission webhook {name:?} attempted to modify the object, which is not supported for this \
             operation"
        )));
    }
    let before = attempt.versioned(object, version);
    let mut after = before.clone();
    patch
        .apply(&mut after)
        .map_err(|_| ApiError::internal(format!("the patch of webhook {name:?} does not apply")))?;
    let mut read = rules::read_value(version, &after).map_err(ApiError::internal)?;
    if read.traces.is_loose {
        rules::tighten(version, &mut read.object);
    }
    let changed = read.object != before;
    *object = rules::to_hub(version, read.object);
    Ok(changed)
}
