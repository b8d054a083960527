//! Pods are asked to go, unless a disruption budget needs them.

use flumen_expr::LabelSelector;
use flumen_fields::{FieldError, Path};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{decode_body, read_body, set_condition, success};
use crate::{
    Answer, ApiError, Cause, Client, Details, Media, Reason, ResourceName, Select, clock, meta,
    rules,
    storage::{self, WriteError},
    verbs::{
        Request,
        delete::{self, DeleteOptions},
        options::WriteOptions,
    },
};

const BUDGETS: ResourceName<'_> = ResourceName::new("policy", "v1", "poddisruptionbudgets");
/// Pods that were let go and have not been missed yet; when there are more, nobody counts them.
const MOST_DISRUPTED: usize = 2000;
/// How often others may be faster.
const TRIES: usize = 20;
const VIOLATED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";
const SEVERAL: &str = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";

/// What budgets say about a pod.
enum Verdict {
    MayGo,
    /// It may go because it is not healthy, and only as long as it is not.
    MayGoAsItIs {
        budget: String,
    },
    /// Nobody says which of several budgets counts.
    Several,
}

pub(super) async fn evict(request: &Request<'_>) -> Result<Answer, ApiError> {
    let name = &*request.target().name;
    let options = options(request, name)?;
    let is_pinned = options.resource_version.is_some();
    let mut tries = 1..TRIES;
    loop {
        let pod = live(request, name)?;
        if !needs_no_budget(&pod.object) {
            return evict_within_budget(request, &pod.object, &options).await;
        }
        let mut options = options.clone();
        if !is_pinned && !has_ended(&pod.object) {
            // It might become healthy, and then a budget counts.
            options.resource_version = Some(meta::resource_version(&pod.object).to_owned());
        }
        match mark_and_remove(request, name, options).await {
            Err(error) if is_conflict(&error) && !is_pinned && tries.next().is_some() => {}
            done => return done.map(|()| success(request)),
        }
    }
}

async fn evict_within_budget(
    request: &Request<'_>,
    pod: &Value,
    options: &DeleteOptions,
) -> Result<Answer, ApiError> {
    let is_pinned = options.resource_version.is_some();
    let mut options = options.clone();
    let budget = match ask_budgets(request, pod, options.dry_run).await? {
        Verdict::Several => return Err(ApiError::new(500, None, SEVERAL)),
        Verdict::MayGo => None,
        Verdict::MayGoAsItIs { budget } => {
            options.resource_version = Some(meta::resource_version(pod).to_owned());
            Some(budget)
        }
    };
    match mark_and_remove(request, meta::name(pod), options).await {
        Err(error) if is_conflict(&error) && !is_pinned => {
            Err(budget.map_or(error, |budget| unsettled(&budget)))
        }
        done => done.map(|()| success(request)),
    }
}

/// How the pod is to be deleted.
fn options(request: &Request<'_>, name: &str) -> Result<DeleteOptions, ApiError> {
    let is_trial = WriteOptions::of(request.call)?.dry_run;
    let eviction = read(request)?;
    if meta::name(&eviction) != name {
        let why = "name in URL does not match name in Eviction object";
        return Err(ApiError::bad_request(why));
    }
    let sent = &eviction["deleteOptions"];
    let field = "ignoreStoreReadErrorWithClusterBreakingPotential";
    if sent[field] == true {
        let at = Path::new("deleteOptions");
        let why = "can not be set for pod eviction, try after removing the option";
        let error = FieldError::invalid(&at.child(field), true, why);
        return Err(ApiError::invalid("policy", "Eviction", name, &[error]));
    }
    let asked: Vec<&str> = request.call.query.all("dryRun").collect();
    let list = sent["dryRun"].as_array().map(Vec::as_slice).unwrap_or_default();
    let also: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
    if !asked.is_empty() && !also.is_empty() && asked != also {
        let message = format!(
            "Non-matching dry-run options in request and content: [{}] and [{}]",
            asked.join(" "),
            also.join(" ")
        );
        return Err(ApiError::new(500, None, message));
    }
    let mut options = DeleteOptions::from_value(sent)?;
    options.dry_run |= is_trial;
    Ok(options)
}

/// The eviction that was sent. Older clients name a version that nothing else is left of; it says the same.
fn read(request: &Request<'_>) -> Result<Value, ApiError> {
    if !matches!(request.call.media, None | Some(Media::Json)) {
        return read_body(request);
    }
    match serde_json::from_slice::<Value>(&request.call.body) {
        Ok(mut sent) if sent["apiVersion"] == "policy/v1beta1" => {
            sent["apiVersion"] = "policy/v1".into();
            decode_body(request, sent.to_string().as_bytes())
        }
        _ => read_body(request),
    }
}

fn live(request: &Request<'_>, name: &str) -> Result<storage::Stored, ApiError> {
    let stored = storage::get(request.api.store(), &request.key(name))?;
    stored.ok_or_else(|| request.not_found(name))
}

fn is_conflict(error: &ApiError) -> bool {
    error.reason() == Some(Reason::Conflict)
}

fn has_ended(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
        || meta::is_deleting(pod)
}

/// Whether nothing is disrupted when the pod goes.
fn needs_no_budget(pod: &Value) -> bool {
    has_ended(pod) || pod["status"]["phase"] == "Pending"
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .filter(|condition| condition["type"] == "Ready")
        .any(|condition| condition["status"] == "True")
}

/// Asks the budget of the pod, which counts it as gone from then on. The future is boxed because the server calls itself.
fn ask_budgets<'a>(
    request: &'a Request<'_>,
    pod: &'a Value,
    dry_run: bool,
) -> BoxFuture<'a, Result<Verdict, ApiError>> {
    Box::pin(async move {
        let client = Client::new(request.api.clone(), "kube-apiserver");
        let select = Select { namespace: request.namespace(), ..Select::default() };
        let mut budgets = client.list(BUDGETS, select).await?;
        budgets.retain(|budget| selects(&budget["spec"]["selector"], pod));
        if budgets.len() > 1 {
            return Ok(Verdict::Several);
        }
        let Some(mut budget) = budgets.pop() else { return Ok(Verdict::MayGo) };
        let name = meta::name(&budget).to_owned();
        if !is_ready(pod) && spares_unhealthy(&budget) {
            return Ok(Verdict::MayGoAsItIs { budget: name });
        }
        for _ in 0..TRIES {
            count_as_gone(&mut budget, meta::name(pod))?;
            if dry_run {
                return Ok(Verdict::MayGo);
            }
            match client.update_status(BUDGETS, &budget).await {
                Err(error) if is_conflict(&error) => {
                    budget = client.get(BUDGETS, request.namespace(), &name).await?;
                }
                done => return done.map(|_| Verdict::MayGo),
            }
        }
        let message = format!(
            "Timeout: couldn't update PodDisruptionBudget {name:?} due to conflicts; please try again"
        );
        let details = Details { retry_after_seconds: 10, ..Details::default() };
        Err(ApiError::new(504, Some(Reason::Timeout), message).with_details(details))
    })
}

/// No selector selects nothing.
fn selects(selector: &Value, pod: &Value) -> bool {
    selector.is_object()
        && LabelSelector::parse_query(&rules::selector_text(selector))
            .is_ok_and(|selector| selector.match_with(|key| meta::label(pod, key)))
}

/// Whether a pod that is not healthy may go without being counted.
fn spares_unhealthy(budget: &Value) -> bool {
    let number = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let (healthy, desired) = (number("currentHealthy"), number("desiredHealthy"));
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        || (healthy >= desired && desired > 0)
}

/// Takes one of the disruptions that a budget allows.
fn count_as_gone(budget: &mut Value, pod: &str) -> Result<(), ApiError> {
    let status = &budget["status"];
    let name = meta::name(budget);
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let observed = number("observedGeneration");
    if observed < meta::number(budget, "generation").unwrap_or_default() {
        return Err(unsettled(name));
    }
    let forbid = |why: &str| ApiError::forbidden("policy", "poddisruptionbudget", name, why);
    let allowed = number("disruptionsAllowed");
    if allowed < 0 {
        return Err(forbid("pdb disruptions allowed is negative"));
    }
    if status["disruptedPods"].as_object().map_or(0, Map::len) > MOST_DISRUPTED {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(forbid(why));
    }
    if allowed == 0 {
        return Err(too_many(why_none(budget), 0));
    }
    let now = clock::text(clock::now());
    let status = &mut budget["status"];
    status["disruptionsAllowed"] = (allowed - 1).into();
    if allowed == 1 {
        say_insufficient(status, observed, &now);
    }
    if !status["disruptedPods"].is_object() {
        status["disruptedPods"] = json!({});
    }
    status["disruptedPods"][pod] = now.into();
    Ok(())
}

fn say_insufficient(status: &mut Value, observed: i64, now: &str) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Value::Array(conditions) = &mut status["conditions"] else { return };
    let known = conditions.iter().position(|condition| condition["type"] == "DisruptionAllowed");
    let place = known.unwrap_or_else(|| {
        conditions.push(json!({ "type": "DisruptionAllowed" }));
        conditions.len() - 1
    });
    let Some(condition) = conditions.get_mut(place) else { return };
    if condition["status"] != "False" {
        condition["lastTransitionTime"] = now.into();
    }
    condition["status"] = "False".into();
    condition["reason"] = "InsufficientPods".into();
    condition["message"] = "".into();
    condition["observedGeneration"] = observed.into();
}

/// Why a budget allows no disruption.
fn why_none(budget: &Value) -> String {
    let (name, status) = (meta::name(budget), &budget["status"]);
    let number = |field: &str| status[field].as_i64().unwrap_or_default();
    let (healthy, desired) = (number("currentHealthy"), number("desiredHealthy"));
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    let condition = conditions.find(|condition| condition["type"] == "DisruptionAllowed");
    let text = |field: &str| condition.and_then(|it| it[field].as_str()).unwrap_or_default();
    let (reason, message) = (text("reason"), text("message"));
    let says_why = text("status") == "False" && !message.is_empty();
    let refuses = format!("The disruption budget {name} does not allow evicting pods currently");
    if says_why && reason == "SyncFailed" {
        format!("{refuses} because it failed sync: {message}")
    } else if healthy <= desired {
        format!(
            "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        )
    } else if says_why {
        format!("{refuses} ({reason}): {message}")
    } else {
        refuses
    }
}

/// The numbers of the budget are not those of what it wants now.
fn unsettled(budget: &str) -> ApiError {
    let why = format!("The disruption budget {budget} is still being processed by the server.");
    too_many(why, 10)
}

fn too_many(why: String, retry_after_seconds: u32) -> ApiError {
    let reason = "DisruptionBudget".to_owned();
    let causes = vec![Cause { reason, message: why, field: String::new() }];
    let details = Details { causes, retry_after_seconds, ..Details::default() };
    ApiError::new(429, Some(Reason::TooManyRequests), VIOLATED).with_details(details)
}

/// Deletes the pod after saying in it why.
async fn mark_and_remove(
    request: &Request<'_>,
    name: &str,
    mut options: DeleteOptions,
) -> Result<(), ApiError> {
    if !options.dry_run {
        let version = mark(request, name, &options).await?;
        if options.resource_version.is_some() {
            options.resource_version = Some(version);
        }
    }
    delete::remove(request, name, &options).await.map(drop)
}

/// Returns the version of the pod.
async fn mark(
    request: &Request<'_>,
    name: &str,
    options: &DeleteOptions,
) -> Result<String, ApiError> {
    let key = request.key(name);
    loop {
        let pod = live(request, name)?;
        delete::check_preconditions(request, &pod.object, options)?;
        let mut marked = pod.object.clone();
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        });
        set_condition(&mut marked, condition);
        if marked == pod.object {
            return Ok(meta::resource_version(&marked).to_owned());
        }
        let value = storage::encode(&request.resource, &mut marked)?;
        match storage::put(request.api.store(), key.clone(), Some(pod.revision), value).await {
            Err(WriteError::Conflict) => {}
            Err(WriteError::Other(error)) => return Err(error),
            Ok(revision) => return Ok(revision.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disruption_is_taken_once() {
        let mut budget = json!({
            "metadata": {"name": "b", "generation": 1},
            "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 2},
        });
        count_as_gone(&mut budget, "p").expect("one may go");
        assert_eq!(budget["status"]["disruptionsAllowed"], 0);
        assert!(budget["status"]["disruptedPods"]["p"].is_string());
        assert_eq!(budget["status"]["conditions"][0]["reason"], "InsufficientPods");
        let error = count_as_gone(&mut budget, "q").expect_err("no more");
        assert_eq!(error.code(), 429);
        let why = &error.details().expect("there are details").causes[0].message;
        assert_eq!(why, "The disruption budget b needs 2 healthy pods and has 2 currently");
    }
}
