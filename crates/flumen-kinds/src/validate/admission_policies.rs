//! Policies that decide on what is admitted, by expressions.

use std::collections::{BTreeMap, BTreeSet};

use flumen_cel::{Dialect, Program, Type};
use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::admission::{MATCH_POLICIES, POLICIES, operations};
use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{cluster, format, policy_types, selector};
use crate::read::Read;

/// What expressions can name.
#[derive(Clone, Debug)]
pub(super) struct Environment {
    names: Vec<(&'static str, Type)>,
    /// The variables that the policy has declared so far.
    variables: Option<BTreeMap<String, Type>>,
}

impl Default for Environment {
    fn default() -> Self {
        Self { names: policy_types::names(), variables: None }
    }
}

impl Environment {
    fn names(&self) -> Vec<(&'static str, Type)> {
        let variables = self.variables.clone();
        let variables = variables.map(|of| ("variables", Type::record("kubernetes.variables", of)));
        self.names.iter().cloned().chain(variables).collect()
    }

    /// What messages can name, in which nobody asks for permissions.
    fn without_authorizer(&self) -> Self {
        let mut env = self.clone();
        env.names.retain(|(name, _)| !name.starts_with("authorizer"));
        env
    }

    fn declare(&mut self, name: &str, of: &Type) {
        let of = policy_types::of_variable(of);
        self.variables.get_or_insert_default().insert(name.to_owned(), of);
    }
}

/// Compiles an expression, which has to be of one of these types; of any if there are none. Answers its type.
fn expression(
    e: &mut Report,
    at: &Path<'_>,
    source: &str,
    env: &Environment,
    types: &[Type],
) -> Type {
    let found = match Program::compile(source, &env.names(), Dialect::Kubernetes) {
        Ok(program) => program.result().clone(),
        Err(error) => {
            e.invalid(at, source, format!("compilation failed: {error}"));
            return Type::Dyn;
        }
    };
    if types.is_empty() || types.contains(&found) {
        return found;
    }
    let wanted: Vec<String> = types.iter().map(Type::declared).collect();
    let shown = found.declared();
    let detail = match wanted.as_slice() {
        [one] => format!("must evaluate to {one} but got {shown}"),
        several => format!("must evaluate to one of [{}] but got {shown}", several.join(" ")),
    };
    e.invalid(at, source, detail);
    found
}

pub(super) fn conditions(e: &mut Report, at: &Path<'_>, parent: &Value, env: &Environment) {
    let conditions = parent.list("matchConditions");
    if conditions.len() > 64 {
        e.push(FieldError::too_many(at, conditions.len(), 64));
    }
    let mut names = BTreeSet::new();
    for (n, condition) in conditions.iter().enumerate() {
        let at = at.index(n);
        match condition.text("expression").trim() {
            "" => e.required(&at.child("expression"), ""),
            source => {
                expression(e, &at.child("expression"), source, env, &[Type::Bool]);
            }
        }
        let name = condition.text("name");
        e.required_form(&at.child("name"), name, format::qualified_name);
        if !name.is_empty() && !names.insert(name) {
            e.duplicate(&at.child("name"), name);
        }
    }
}

/// Which objects a policy or a binding is about.
fn match_resources(e: &mut Report, at: &Path<'_>, matched: &Value) {
    let policy_at = at.child("matchPolicy");
    match matched.text_given("matchPolicy") {
        None => e.required(&policy_at, ""),
        Some(policy) => e.one_of(&policy_at, policy, &MATCH_POLICIES),
    }
    for field in ["namespaceSelector", "objectSelector"] {
        match matched.some(field) {
            None => e.required(&at.child(field), ""),
            Some(labels) => selector::check(e, &at.child(field), labels),
        }
    }
    for field in ["resourceRules", "excludeResourceRules"] {
        let at = at.child(field);
        for (n, rule) in matched.list(field).iter().enumerate() {
            let at = at.index(n);
            let names_at = at.child("resourceNames");
            let mut names = BTreeSet::new();
            for (n, name) in rule.texts("resourceNames").enumerate() {
                e.form(&names_at.index(n), name, format::path_segment);
                if !names.insert(name) {
                    e.duplicate(&names_at.index(n), name);
                }
            }
            operations(e, &at, rule);
        }
    }
}

/// What validating and mutating policies share; answers what their expressions can name.
fn policy_start(e: &mut Report, at: &Path<'_>, spec: &Value, old: Option<&Value>) -> Environment {
    let policy_at = at.child("failurePolicy");
    match spec.text_given("failurePolicy") {
        None => e.required(&policy_at, ""),
        Some(policy) => e.one_of(&policy_at, policy, &POLICIES),
    }
    let parameters = spec.some("paramKind");
    if let Some(kind) = parameters {
        parameter_kind(e, &at.child("paramKind"), kind);
    }
    let constraints_at = at.child("matchConstraints");
    match spec.some("matchConstraints") {
        None => e.required(&constraints_at, ""),
        Some(constraints) => {
            match_resources(e, &constraints_at, constraints);
            if constraints.list("resourceRules").is_empty() {
                e.required(&constraints_at.child("resourceRules"), "");
            }
        }
    }
    let mut env = Environment::default();
    if parameters.is_some() {
        env.names.push(("params", Type::Dyn));
    }
    let unchanged = old.is_some_and(|old| {
        ["paramKind", "matchConditions"].iter().all(|field| old.part(field) == spec.part(field))
    });
    if !unchanged {
        conditions(e, &at.child("matchConditions"), spec, &env);
    }
    if !spec.list("variables").is_empty() {
        env.variables = Some(BTreeMap::new());
    }
    let variables_at = at.child("variables");
    for (n, variable) in spec.list("variables").iter().enumerate() {
        let at = variables_at.index(n);
        let name = variable.text("name");
        if name.trim().is_empty() {
            e.required(&at.child("name"), "name is not specified");
        } else if !format::c_identifier(name).is_empty() {
            e.invalid(&at.child("name"), name, "must be a valid CEL identifier");
        }
        let source = variable.text("expression");
        if source.trim().is_empty() {
            e.required(&at.child("expression"), "expression is not specified");
        } else {
            let of = expression(e, &at.child("expression"), source, &env, &[]);
            env.declare(name, &of);
        }
    }
    env
}

fn parameter_kind(e: &mut Report, at: &Path<'_>, kind: &Value) {
    let version_at = at.child("apiVersion");
    let api = kind.text("apiVersion");
    if api.is_empty() {
        e.required(&version_at, "");
    } else if api.matches('/').count() > 1 {
        e.invalid(&version_at, api, format!("unexpected GroupVersion string: {api}"));
    } else {
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        let problems = format::dns_subdomain(group);
        if !group.is_empty() && !problems.is_empty() {
            e.invalid(&version_at, group, problems.join(","));
        }
        let problems = format::dns_1035_label(version);
        if version.is_empty() {
            e.invalid(&version_at, api, "version must be specified");
        } else if !problems.is_empty() {
            e.invalid(&version_at, version, problems.join(","));
        }
    }
    let name = kind.text("kind");
    let problems = format::dns_1035_label(&name.to_lowercase());
    if name.is_empty() {
        e.required(&at.child("kind"), "");
    } else if !problems.is_empty() {
        let problems = problems.join(",");
        let detail = format!("may have mixed case, but should otherwise match: {problems}");
        e.invalid(&at.child("kind"), name, detail);
    }
}

pub(super) fn validating_policy(e: &mut Report, object: &Value) {
    checked_validating_policy(e, object, None);
}

pub(super) fn validating_policy_update(e: &mut Report, new: &Value, old: &Value) {
    checked_validating_policy(e, new, Some(old.part("spec")));
}

fn checked_validating_policy(e: &mut Report, object: &Value, old: Option<&Value>) {
    meta::check_any(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    let env = policy_start(e, &at, spec, old);
    let (validations, annotations) = (spec.list("validations"), spec.list("auditAnnotations"));
    let (validations_at, annotations_at) = (at.child("validations"), at.child("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        e.required(&validations_at, detail);
        return e.required(&annotations_at, detail);
    }
    for (n, validation) in validations.iter().enumerate() {
        self::validation(e, &validations_at.index(n), validation, &env);
    }
    if annotations.len() > 20 {
        let shown = spec.part("auditAnnotations").clone();
        e.invalid(&annotations_at, shown, "must not have more than 20 auditAnnotations");
    }
    let name = object.part("metadata").text("name");
    let mut keys = BTreeSet::new();
    for (n, annotation) in annotations.iter().enumerate() {
        let at = annotations_at.index(n);
        let key = annotation.text("key");
        if name.is_empty() {
            e.invalid(&at.child("key"), key, "requires metadata.name be non-empty");
        } else {
            e.form(&at.child("key"), &format!("{name}/{key}"), format::qualified_name);
        }
        let source = annotation.text("valueExpression").trim();
        let value_at = at.child("valueExpression");
        if source.is_empty() {
            e.required(&value_at, "valueExpression is not specified");
        } else if source.len() > 5 * 1024 {
            e.required(&value_at, "must not exceed 5120 bytes in length");
        } else {
            expression(e, &value_at, source, &env, &[Type::Text, Type::Null]);
        }
        if !keys.insert(key) {
            e.duplicate(&at.child("key"), key);
        }
    }
}

fn validation(e: &mut Report, at: &Path<'_>, validation: &Value, env: &Environment) {
    let source = validation.text("expression");
    if source.trim().is_empty() {
        e.required(&at.child("expression"), "expression is not specified");
    } else {
        expression(e, &at.child("expression"), source, env, &[Type::Bool]);
    }
    let filled = "must be non-empty if specified";
    let source = validation.text("messageExpression");
    if !source.is_empty() && source.trim().is_empty() {
        e.invalid(&at.child("messageExpression"), source, filled);
    } else if !source.is_empty() {
        let env = env.without_authorizer();
        expression(e, &at.child("messageExpression"), source, &env, &[Type::Text]);
    }
    let message = validation.text("message");
    if !message.is_empty() && message.trim().is_empty() {
        e.invalid(&at.child("message"), message, filled);
    } else if message.trim().contains(['\n', '\r']) {
        e.invalid(&at.child("message"), message, "must not contain line breaks");
    }
    let known = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    e.one_of_if_given(&at.child("reason"), validation.text_given("reason"), &known);
}

pub(super) fn policy_status(e: &mut Report, new: &Value, _old: &Value) {
    let at = Path::new("status");
    cluster::conditions(e, &at.child("conditions"), new.part("status").list("conditions"));
}

pub(super) fn validating_binding(e: &mut Report, object: &Value) {
    let spec = binding(e, object);
    let at = Path::new("spec");
    let at = at.child("validationActions");
    let mut seen = BTreeSet::new();
    for (n, action) in spec.texts("validationActions").enumerate() {
        e.one_of(&at.index(n), action, &["Audit", "Deny", "Warn"]);
        if !seen.insert(action) {
            e.duplicate(&at.index(n), action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        e.invalid(&at, spec.part("validationActions").clone(), detail);
    }
    if seen.is_empty() {
        e.required(&at, "at least one validation action is required");
    }
}

pub(super) fn validating_binding_update(e: &mut Report, new: &Value, _old: &Value) {
    validating_binding(e, new);
}

/// What bindings of both kinds of policies share.
fn binding<'a>(e: &mut Report, object: &'a Value) -> &'a Value {
    meta::check_any(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    e.required_form(&at.child("policyName"), spec.text("policyName"), format::dns_subdomain);
    if let Some(reference) = spec.some("paramRef") {
        parameter_reference(e, &at.child("paramRef"), reference);
    }
    if let Some(matched) = spec.some("matchResources") {
        match_resources(e, &at.child("matchResources"), matched);
    }
    spec
}

fn parameter_reference(e: &mut Report, at: &Path<'_>, reference: &Value) {
    let (name, labels) = (reference.text("name"), reference.some("selector"));
    let exclusive = "name and selector are mutually exclusive";
    if !name.is_empty() {
        e.form(&at.child("name"), name, format::path_segment);
        if labels.is_some() {
            e.forbidden(&at.child("name"), exclusive);
        }
    }
    if let Some(labels) = labels {
        selector::check(e, &at.child("selector"), labels);
        if !name.is_empty() {
            e.forbidden(&at.child("selector"), exclusive);
        }
    }
    if name.is_empty() && labels.is_none() {
        e.required(at, "one of name or selector must be specified");
    }
    let action = reference.text("parameterNotFoundAction");
    e.choice(&at.child("parameterNotFoundAction"), action, &["Deny", "Allow"]);
}
