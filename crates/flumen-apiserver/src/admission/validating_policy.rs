//! `ValidatingAdmissionPolicy`: rules in CEL that users bring.

use flumen_cel::{Budget, Dialect, Entries, List, Program, Value as Cel};
use serde_json::{Value, json};

use super::{Attempt, Operation, Result, described::described, matching};
use crate::{ApiError, Cause, Details, Reason, meta};

const GROUP: &str = "admissionregistration.k8s.io";
/// What all expressions of one policy may cost together.
const BUDGET: u64 = 1_000_000;

pub(super) fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    if attempt.resource().group == GROUP {
        return Ok(());
    }
    let bindings = attempt.all(GROUP, "validatingadmissionpolicybindings", "")?;
    for binding in &bindings {
        let name = binding["spec"]["policyName"].as_str().unwrap_or_default();
        let Some(policy) = attempt.find(GROUP, "validatingadmissionpolicies", "", name)? else {
            continue;
        };
        let is_meant = matching::matches(attempt, object, &policy["spec"]["matchConstraints"])?
            && matching::matches(attempt, object, &binding["spec"]["matchResources"])?;
        if is_meant {
            check(attempt, object, &policy, binding)?;
        }
    }
    Ok(())
}

/// Why a policy does not like a request.
struct Denial {
    message: String,
    reason: Reason,
}

fn check(attempt: &Attempt<'_>, object: &Value, policy: &Value, binding: &Value) -> Result {
    let Some(params) = params(attempt, policy, binding)? else { return Ok(()) };
    let context = Context::of(attempt, object, params)?;
    let fails = policy["spec"]["failurePolicy"] != "Ignore";
    let denials = context.judge(policy, fails);
    let (policy, binding_name) = (meta::name(policy), meta::name(binding));
    for denial in denials {
        let actions = binding["spec"]["validationActions"].as_array().into_iter().flatten();
        let message = denial.message;
        for action in actions.filter_map(Value::as_str) {
            if action == "Warn" {
                attempt.request.warn(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{policy}' with binding \
                     '{binding_name}': {message}"
                ));
            }
            if action == "Deny" {
                let why = format!(
                    "ValidatingAdmissionPolicy '{policy}' with binding '{binding_name}' denied request: \
                     {message}"
                );
                return Err(denied(attempt, object, &why, denial.reason));
            }
        }
    }
    Ok(())
}

fn denied(attempt: &Attempt<'_>, object: &Value, why: &str, reason: Reason) -> ApiError {
    let forbidden = attempt.forbid(object, why);
    let code = match reason {
        Reason::Unauthorized => 401,
        Reason::Forbidden => 403,
        Reason::RequestEntityTooLarge => 413,
        _ => 422,
    };
    let cause = Cause { reason: String::new(), message: why.to_owned(), field: String::new() };
    let details = forbidden.details().cloned().unwrap_or_default();
    ApiError::new(code, Some(reason), forbidden.message())
        .with_details(Details { causes: vec![cause], ..details })
}

/// The parameters of a binding; none if there are none and that means that the policy is not asked.
fn params(attempt: &Attempt<'_>, policy: &Value, binding: &Value) -> Result<Option<Value>> {
    let kind = &policy["spec"]["paramKind"];
    let reference = &binding["spec"]["paramRef"];
    if !kind.is_object() || !reference.is_object() {
        return Ok(Some(Value::Null));
    }
    let api_version = kind["apiVersion"].as_str().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let catalog = attempt.request.api.catalog();
    let resource = catalog.find_kind(group, version, kind["kind"].as_str().unwrap_or_default());
    let Some(resource) = resource else { return Ok(None) };
    let namespace = match reference["namespace"].as_str() {
        _ if !resource.is_namespaced() => "",
        Some(namespace) if !namespace.is_empty() => namespace,
        _ => attempt.namespace(),
    };
    let name = reference["name"].as_str().unwrap_or_default();
    let location = &resource.location;
    let found = attempt.find(&location.group, &location.plural, namespace, name)?;
    let allows_none = reference["parameterNotFoundAction"] != "Deny";
    match found {
        None if allows_none => Ok(None),
        None => Err(attempt.forbid(
            &Value::Null,
            "no params found for policy binding with `Deny` parameterNotFoundAction",
        )),
        found => Ok(found),
    }
}

/// What expressions see.
struct Context {
    object: Value,
    old: Value,
    request: Value,
    params: Value,
    namespace: Value,
    variables: Value,
}

impl Context {
    fn of(attempt: &Attempt<'_>, object: &Value, params: Value) -> Result<Self> {
        let namespace = match attempt.namespace() {
            "" => Value::Null,
            name => attempt.find("", "namespaces", "", name)?.unwrap_or_default(),
        };
        let is_deletion = attempt.operation == Operation::Delete;
        Ok(Self {
            object: if is_deletion { Value::Null } else { object.clone() },
            old: attempt.old.cloned().unwrap_or_default(),
            request: described(attempt, object),
            params,
            namespace,
            variables: json!({}),
        })
    }

    /// What is wrong with the request, in the order of the validations.
    fn judge(mut self, policy: &Value, fails: bool) -> Vec<Denial> {
        let spec = &policy["spec"];
        let mut budget = Budget::new(BUDGET);
        let failed = |why: String| Denial { message: why, reason: Reason::Invalid };
        for condition in entries(&spec["matchConditions"]) {
            match self.evaluate(text(&condition["expression"]), &mut budget) {
                Ok(Value::Bool(true)) => {}
                Err(why) if fails => {
                    let name = text(&condition["name"]);
                    return vec![failed(format!("matchCondition '{name}' failed: {why}"))];
                }
                _ => return Vec::new(),
            }
        }
        for variable in entries(&spec["variables"]) {
            // One that fails is missing, which the expressions that use it find out.
            if let Ok(value) = self.evaluate(text(&variable["expression"]), &mut budget) {
                self.variables[text(&variable["name"])] = value;
            }
        }
        let mut denials = Vec::new();
        for validation in entries(&spec["validations"]) {
            let expression = text(&validation["expression"]);
            match self.evaluate(expression, &mut budget) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => denials.push(Denial {
                    message: self.message(validation, expression, &mut budget),
                    reason: reason_of(validation),
                }),
                Err(why) if fails => {
                    let shown = expression.trim();
                    denials.push(failed(format!("expression '{shown}' resulted in error: {why}")));
                }
                Err(_) => {}
            }
        }
        denials
    }

    fn evaluate(&self, source: &str, budget: &mut Budget) -> std::result::Result<Value, String> {
        let program = Program::parse(source, Dialect::Kubernetes).map_err(|e| e.to_string())?;
        let scope = [
            ("object", Cel::from(&self.object)),
            ("oldObject", Cel::from(&self.old)),
            ("request", Cel::from(&self.request)),
            ("params", Cel::from(&self.params)),
            ("namespaceObject", Cel::from(&self.namespace)),
            ("variables", Cel::from(&self.variables)),
        ];
        let value = program.evaluate(&scope, budget).map_err(|fault| fault.to_string())?;
        Ok(to_json(&value))
    }

    fn message(&self, validation: &Value, expression: &str, budget: &mut Budget) -> String {
        if let Some(source) = validation["messageExpression"].as_str()
            && let Ok(Value::String(message)) = self.evaluate(source, budget)
            && !message.trim().is_empty()
        {
            return message.trim().to_owned();
        }
        match validation["message"].as_str().filter(|message| !message.is_empty()) {
            Some(message) => message.trim().to_owned(),
            None => format!("failed expression: {}", expression.trim()),
        }
    }
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A value as other expressions see it. What JSON does not have becomes null.
fn to_json(value: &Cel<'_>) -> Value {
    match value {
        Cel::Bool(value) => (*value).into(),
        Cel::Int(value) => (*value).into(),
        Cel::Uint(value) => (*value).into(),
        Cel::Double(value) => (*value).into(),
        Cel::Text(value) => value.to_string().into(),
        Cel::List(List::Json(items, _)) => items.to_vec().into(),
        Cel::List(List::Made(items)) => items.iter().map(to_json).collect(),
        Cel::Map(Entries::Json(map, _)) => Value::Object((*map).clone()),
        Cel::Map(Entries::Made(pairs)) => pairs
            .iter()
            .filter_map(|(key, value)| match key {
                Cel::Text(key) => Some((key.to_string(), to_json(value))),
                _ => None,
            })
            .collect(),
        _ => Value::Null,
    }
}

fn reason_of(validation: &Value) -> Reason {
    match validation["reason"].as_str() {
        Some("Unauthorized") => Reason::Unauthorized,
        Some("Forbidden") => Reason::Forbidden,
        Some("RequestEntityTooLarge") => Reason::RequestEntityTooLarge,
        _ => Reason::Invalid,
    }
}
