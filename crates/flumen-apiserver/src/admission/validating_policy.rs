//! `ValidatingAdmissionPolicy`: rules in CEL that users bring.

use flumen_cel::{Budget, Value as Cel};
use serde_json::Value;

use super::{
    Attempt, Result,
    expressions::{Conditions, Scope, failure},
    joined, matching,
};
use crate::{ApiError, Cause, Details, Reason, Resource, meta};

const GROUP: &str = "admissionregistration.k8s.io";
/// What all expressions of one policy may cost together.
const BUDGET: u64 = 10_000_000;

/// Warns of all that policies say, and refuses with the first reason that one has to.
pub(super) fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    if attempt.resource().group == GROUP {
        return Ok(());
    }
    let bindings = attempt.all(GROUP, "validatingadmissionpolicybindings", "")?;
    let mut refusal = None;
    for binding in &bindings {
        let name = binding["spec"]["policyName"].as_str().unwrap_or_default();
        let Some(policy) = attempt.find(GROUP, "validatingadmissionpolicies", "", name)? else {
            continue;
        };
        let constraints = &policy["spec"]["matchConstraints"];
        let Some(version) = matching::policy_meets(attempt, object, constraints)? else { continue };
        if matching::policy_meets(attempt, object, &binding["spec"]["matchResources"])?.is_some() {
            let refused = check(attempt, object, &policy, binding, &version)?;
            refusal = refusal.or(refused);
        }
    }
    refusal.map_or(Ok(()), Err)
}

/// Why a policy does not like a request.
struct Denial {
    message: String,
    reason: Reason,
}

impl Denial {
    fn invalid(message: String) -> Self {
        Self { message, reason: Reason::Invalid }
    }
}

fn check(
    attempt: &Attempt<'_>,
    object: &Value,
    policy: &Value,
    binding: &Value,
    version: &Resource,
) -> Result<Option<ApiError>> {
    let fails = policy["spec"]["failurePolicy"] != "Ignore";
    let mut denials = Vec::new();
    match params(attempt, policy, binding)? {
        Ok(params) => {
            for params in params {
                let scope = Scope::of(attempt, object, params, version)?;
                denials.extend(judge(scope, policy, fails));
            }
        }
        Err(why) if fails => {
            let denial = Denial::invalid(format!("failed to configure binding: {why}"));
            return Ok(Some(denied(attempt, object, policy, binding, &denial)));
        }
        Err(_) => {}
    }
    let actions = binding["spec"]["validationActions"].as_array();
    let has = |action: &str| actions.is_some_and(|actions| actions.iter().any(|a| a == action));
    if has("Warn") {
        for denial in &denials {
            attempt.request.warn(format!(
                "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                meta::name(policy),
                meta::name(binding),
                denial.message
            ));
        }
    }
    let first = denials.first().filter(|_| has("Deny"));
    Ok(first.map(|denial| denied(attempt, object, policy, binding, denial)))
}

fn denied(
    attempt: &Attempt<'_>,
    object: &Value,
    policy: &Value,
    binding: &Value,
    denial: &Denial,
) -> ApiError {
    let why = format!(
        "ValidatingAdmissionPolicy '{}' with binding '{}' denied request: {}",
        meta::name(policy),
        meta::name(binding),
        denial.message
    );
    let forbidden = attempt.forbid(object, &why);
    let reason = denial.reason;
    let code = match reason {
        Reason::Unauthorized => 401,
        Reason::Forbidden => 403,
        Reason::RequestEntityTooLarge => 413,
        _ => 422,
    };
    let cause = Cause { reason: String::new(), message: why, field: String::new() };
    let details = forbidden.details().cloned().unwrap_or_default();
    ApiError::new(code, Some(reason), forbidden.message())
        .with_details(Details { causes: vec![cause], ..details })
}

/// The parameters of a binding, for each of which the policy is asked, or why there are none.
fn params(
    attempt: &Attempt<'_>,
    policy: &Value,
    binding: &Value,
) -> Result<std::result::Result<Vec<Value>, String>> {
    let kind = &policy["spec"]["paramKind"];
    let reference = &binding["spec"]["paramRef"];
    if !kind.is_object() || !reference.is_object() {
        return Ok(Ok(vec![Value::Null]));
    }
    let api_version = kind["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let catalog = attempt.request.api.catalog();
    let kind = text(&kind["kind"]);
    let Some(resource) = catalog.find_kind(group, version, kind) else {
        let gvk = format!("{api_version}, Kind={kind}");
        return Ok(Err(format!("failed to find resource referenced by paramKind: '{gvk}'")));
    };
    let namespace = match reference["namespace"].as_str() {
        _ if !resource.is_namespaced() => "",
        Some(namespace) if !namespace.is_empty() => namespace,
        _ => attempt.namespace(),
    };
    let location = &resource.location;
    let name = reference["name"].as_str().filter(|name| !name.is_empty());
    let found: Vec<Value> = if let Some(name) = name {
        attempt.find(&location.group, &location.plural, namespace, name)?.into_iter().collect()
    } else {
        let all = attempt.all(&location.group, &location.plural, namespace)?.into_iter();
        all.filter(|object| matching::selects(&reference["selector"], object)).collect()
    };
    if found.is_empty() && reference["parameterNotFoundAction"] == "Deny" {
        let why = "no params found for policy binding with `Deny` parameterNotFoundAction";
        return Ok(Err(why.to_owned()));
    }
    Ok(Ok(found))
}

/// What is wrong with the request, in the order of the validations.
fn judge(mut scope: Scope, policy: &Value, fails: bool) -> Vec<Denial> {
    let spec = &policy["spec"];
    let mut budget = Budget::new(BUDGET);
    match scope.meets(&spec["matchConditions"], &mut budget) {
        Conditions::Met => {}
        Conditions::Failed(why) if fails => return vec![Denial::invalid(joined(&why))],
        _ => return Vec::new(),
    }
    let mut denials = Vec::new();
    for validation in entries(&spec["validations"]) {
        let expression = text(&validation["expression"]);
        scope.provide(expression, &spec["variables"], &mut budget);
        match scope.evaluate(expression, &mut budget) {
            Ok(Cel::Bool(true)) => {}
            Ok(_) => {
                let source = text(&validation["messageExpression"]);
                scope.provide(source, &spec["variables"], &mut budget);
                denials.push(Denial {
                    message: message(&scope, validation, expression, &mut budget),
                    reason: reason_of(validation),
                });
            }
            Err(why) if fails => denials.push(Denial::invalid(failure(expression, &why))),
            Err(_) => {}
        }
    }
    denials
}

fn message(scope: &Scope, validation: &Value, expression: &str, budget: &mut Budget) -> String {
    if let Some(source) = validation["messageExpression"].as_str()
        && let Ok(Cel::Text(message)) = scope.evaluate(source, budget)
        && !message.trim().is_empty()
        && !message.trim().contains('\n')
    {
        return message.trim().to_owned();
    }
    match validation["message"].as_str().filter(|message| !message.is_empty()) {
        Some(message) => message.trim().to_owned(),
        None => format!("failed expression: {}", expression.trim()),
    }
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn reason_of(validation: &Value) -> Reason {
    match validation["reason"].as_str() {
        Some("Unauthorized") => Reason::Unauthorized,
        Some("Forbidden") => Reason::Forbidden,
        Some("RequestEntityTooLarge") => Reason::RequestEntityTooLarge,
        _ => Reason::Invalid,
    }
}
