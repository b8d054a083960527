//! What expressions of policies and webhooks see of a request.

use std::{collections::BTreeSet, rc::Rc};

use flumen_cel::{Authorizer, Budget, Dialect, Program, Question, Value as Cel};
use serde_json::Value;

use super::{Attempt, Operation, Result, described::described, permissions::Roles};
use crate::Resource;

/// What one expression may cost.
const PER_EXPRESSION: u64 = 1_000_000;

/// The variables of expressions.
pub(super) struct Scope {
    object: Value,
    old: Value,
    request: Value,
    params: Value,
    namespace: Value,
    authorizer: Rc<dyn Authorizer>,
    /// What is asked for, as a question about permissions.
    asked: Question,
    /// The variables of a policy that were evaluated, each once.
    variables: Vec<(String, Cel<'static>)>,
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
            authorizer: Rc::new(Roles {
                api: attempt.request.api.clone(),
                user: attempt.request.call.user.clone(),
            }),
            asked: Question {
                group: attempt.resource().group.clone(),
                resource: attempt.resource().plural.clone(),
                subresource: attempt.request.target().subresource.clone(),
                namespace: attempt.namespace().to_owned(),
                name: attempt.name(object).to_owned(),
                ..Question::default()
            },
            variables: Vec::new(),
        })
    }

    /// Evaluates match conditions until one is false.
    pub(super) fn meets(&self, conditions: &Value, budget: &mut Budget) -> Conditions {
        let mut failed = Vec::new();
        for condition in conditions.as_array().into_iter().flatten() {
            let expression = condition["expression"].as_str().unwrap_or_default();
            match self.evaluate(expression, budget) {
                Ok(Cel::Bool(false)) => return Conditions::NotMet,
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
    ) -> std::result::Result<Cel<'static>, String> {
        let program = Program::parse(source, Dialect::Kubernetes).map_err(|e| e.to_string())?;
        self.value(&program, budget)
    }

    fn value(
        &self,
        program: &Program,
        budget: &mut Budget,
    ) -> std::result::Result<Cel<'static>, String> {
        let variables = self.variables.iter();
        let variables =
            variables.map(|(name, value)| (Cel::text(name.as_str()), value.clone())).collect();
        let authorizer = || Rc::clone(&self.authorizer);
        let scope = [
            ("object", Cel::from(&self.object)),
            ("oldObject", Cel::from(&self.old)),
            ("request", Cel::from(&self.request)),
            ("params", Cel::from(&self.params)),
            ("namespaceObject", Cel::from(&self.namespace)),
            ("variables", Cel::entries_of(variables)),
            ("authorizer", Cel::authorizer(authorizer())),
            ("authorizer.requestResource", Cel::resource_check(authorizer(), self.asked.clone())),
        ];
        // One expression may not cost what all of them may cost together.
        let mut own = Budget::new(budget.left().min(PER_EXPRESSION));
        let granted = own.left();
        let value = program.evaluate(&scope, &mut own).map(Cel::into_owned);
        *budget = Budget::new(budget.left() - (granted - own.left()));
        value.map_err(|fault| fault.to_string())
    }

    /// Evaluates the variables that an expression needs and that nobody has needed before.
    pub(super) fn provide(&mut self, source: &str, declared: &Value, budget: &mut Budget) {
        let Ok(program) = Program::parse(source, Dialect::Kubernetes) else { return };
        let mut wanted: BTreeSet<String> =
            program.fields_of("variables").into_iter().map(str::to_owned).collect();
        let declared = declared.as_array().map_or(&[][..], Vec::as_slice);
        let expression = |of: &Value| {
            let source = of["expression"].as_str().unwrap_or_default();
            Program::parse(source, Dialect::Kubernetes)
        };
        // A variable names only those before it.
        for variable in declared.iter().rev() {
            if wanted.contains(variable["name"].as_str().unwrap_or_default())
                && let Ok(program) = expression(variable)
            {
                wanted.extend(program.fields_of("variables").into_iter().map(str::to_owned));
            }
        }
        for variable in declared {
            let name = variable["name"].as_str().unwrap_or_default();
            let is_known = self.variables.iter().any(|(known, _)| known == name);
            if is_known || !wanted.contains(name) {
                continue;
            }
            let value = match expression(variable) {
                Ok(program) => self.value(&program, budget),
                Err(error) => Err(error.to_string()),
            };
            let value = value.unwrap_or_else(|why| {
                Cel::unfit(format!("composited variable {name:?} fails to evaluate: {why}"))
            });
            self.variables.push((name.to_owned(), value));
        }
    }
}

/// Why an expression has no value.
pub(super) fn failure(expression: &str, why: &str) -> String {
    format!("expression '{}' resulted in error: {why}", expression.trim())
}
