//! What expressions of policies and webhooks see of a request.

use flumen_cel::{Budget, Dialect, Entries, List, Program, Value as Cel};
use serde_json::{Value, json};

use super::{Attempt, Operation, Result, described::described};
use crate::Resource;

/// The variables of expressions.
pub(super) struct Scope {
    object: Value,
    old: Value,
    request: Value,
    params: Value,
    namespace: Value,
    pub(super) variables: Value,
}

/// How conditions were met.
pub(super) enum Conditions {
    Met,
    NotMet,
    /// None is false, but some have no value.
    Failed(Vec<String>),
}

impl Scope {
    pub(super) fn of(
        attempt: &Attempt<'_>,
        object: &Value,
        params: Value,
        version: &Resource,
    ) -> Result<Self> {
        let namespace = match attempt.namespace() {
            "" => Value::Null,
            name => attempt.find("", "namespaces", "", name)?.unwrap_or_default(),
        };
        let is_deletion = attempt.operation == Operation::Delete;
        let versioned = |object: &Value| attempt.versioned(object, version);
        Ok(Self {
            object: if is_deletion { Value::Null } else { versioned(object) },
            old: attempt.old.map(versioned).unwrap_or_default(),
            request: described(attempt, object, version),
            params,
            namespace,
            variables: json!({}),
        })
    }

    /// Evaluates match conditions until one is false.
    pub(super) fn meets(&self, conditions: &Value, budget: &mut Budget) -> Conditions {
        let mut failed = Vec::new();
        for condition in conditions.as_array().into_iter().flatten() {
            let expression = condition["expression"].as_str().unwrap_or_default();
            match self.evaluate(expression, budget) {
                Ok(Value::Bool(false)) => return Conditions::NotMet,
                Ok(_) => {}
                Err(why) => failed.push(failure(expression, &why)),
            }
        }
        if failed.is_empty() { Conditions::Met } else { Conditions::Failed(failed) }
    }

    pub(super) fn evaluate(
        &self,
        source: &str,
        budget: &mut Budget,
    ) -> std::result::Result<Value, String> {
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
}

/// Why an expression has no value.
pub(super) fn failure(expression: &str, why: &str) -> String {
    format!("expression '{}' resulted in error: {why}", expression.trim())
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
