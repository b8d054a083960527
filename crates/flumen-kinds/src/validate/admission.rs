//! Webhooks and policies that decide on what is admitted.

use std::collections::BTreeSet;

use flumen_cel::{CompileError, Dialect, Program, Type};
use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{cluster, format, selector};
use crate::read::Read;

const POLICIES: [&str; 2] = ["Fail", "Ignore"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Rules that became stricter do not apply to what was stored before.
#[derive(Clone, Copy, Debug, Default)]
struct Old<'a>(Option<&'a Value>);

impl<'a> Old<'a> {
    fn hooks(self) -> &'a [Value] {
        self.0.map_or(&[], |old| old.list("webhooks"))
    }

    fn has_conditions(self, new: &Value) -> bool {
        let (now, then) = (new.list("webhooks"), self.hooks());
        let conditions = |hook: &Value| hook.list("matchConditions").to_vec();
        self.0.is_some()
            && now.len() == then.len()
            && now.iter().zip(then).all(|(now, then)| conditions(now) == conditions(then))
    }

    fn has_side_effects(self) -> bool {
        let none = |hook: &Value| matches!(hook.text("sideEffects"), "None" | "NoneOnDryRun");
        !self.hooks().iter().all(none)
    }

    fn has_unknown_versions(self) -> bool {
        self.hooks().iter().any(|hook| {
            !hook.list("admissionReviewVersions").is_empty()
                && !hook.texts("admissionReviewVersions").any(|v| REVIEW_VERSIONS.contains(&v))
        })
    }

    fn has_equal_names(self) -> bool {
        let names: BTreeSet<&str> = self.hooks().iter().map(|hook| hook.text("name")).collect();
        names.len() != self.hooks().len()
    }
}

pub(super) fn webhooks(e: &mut Report, object: &Value) {
    checked_webhooks(e, object, Old::default());
}

pub(super) fn webhooks_update(e: &mut Report, new: &Value, old: &Value) {
    checked_webhooks(e, new, Old(Some(old)));
}

fn checked_webhooks(e: &mut Report, object: &Value, old: Old<'_>) {
    meta::check_any(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let mut names = BTreeSet::new();
    let list = Path::new("webhooks");
    let skips_conditions = old.has_conditions(object);
    for (n, hook) in object.list("webhooks").iter().enumerate() {
        let at = list.index(n);
        webhook(e, &at, hook, old.has_side_effects());
        if !skips_conditions {
            conditions(e, &at.child("matchConditions"), hook, Environment::default());
        }
        review_versions(e, &at.child("admissionReviewVersions"), hook, old);
        let name = hook.text("name");
        if !name.is_empty() && !names.insert(name) && !old.has_equal_names() {
            e.duplicate(&at.child("name"), name);
        }
    }
}

fn webhook(e: &mut Report, at: &Path<'_>, hook: &Value, side_effects: bool) {
    qualified_domain(e, &at.child("name"), hook.text("name"));
    let rules = at.child("rules");
    for (n, rule) in hook.list("rules").iter().enumerate() {
        operations(e, &rules.index(n), rule);
    }
    e.one_of_if_given(&at.child("failurePolicy"), hook.text_given("failurePolicy"), &POLICIES);
    e.one_of_if_given(&at.child("matchPolicy"), hook.text_given("matchPolicy"), &MATCH_POLICIES);
    let allowed: &[&str] = if side_effects {
        &["None", "NoneOnDryRun", "Some", "Unknown"]
    } else {
        &["None", "NoneOnDryRun"]
    };
    let effects_at = at.child("sideEffects");
    match hook.text_given("sideEffects") {
        None => e.required(&effects_at, &format!("must specify one of {}", allowed.join(", "))),
        Some(effects) => e.one_of(&effects_at, effects, allowed),
    }
    if let Some(seconds) = hook.int_given("timeoutSeconds") {
        if !(1..=30).contains(&seconds) {
            let detail = "the timeout value must be between 1 and 30 seconds";
            e.invalid(&at.child("timeoutSeconds"), seconds, detail);
        }
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector::check(e, &at.child(field), hook.part(field));
    }
    let reinvocation = hook.text_given("reinvocationPolicy");
    e.one_of_if_given(&at.child("reinvocationPolicy"), reinvocation, &["IfNeeded", "Never"]);
    client_config(e, &at.child("clientConfig"), hook.part("clientConfig"));
}

/// A name of at least three parts.
fn qualified_domain(e: &mut Report, at: &Path<'_>, name: &str) {
    if name.is_empty() {
        return e.required(at, "");
    }
    let problems = format::dns_subdomain(name);
    if !problems.is_empty() {
        e.invalid(at, name, problems.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        e.invalid(at, name, detail);
    }
}

fn client_config(e: &mut Report, at: &Path<'_>, config: &Value) {
    match (config.text_given("url"), config.some("service")) {
        (Some(url), None) => hook_url(e, &at.child("url"), url),
        (None, Some(service)) => {
            let at = at.child("service");
            // The server mixes these two up.
            e.filled(&at.child("name"), service.text("namespace"));
            e.filled(&at.child("namespace"), service.text("name"));
            let port = service.int("port");
            if !(1..=65535).contains(&port) {
                let detail = format!("port is not valid: {}", format::between(1, 65535));
                e.invalid(&at.child("port"), port, detail);
            }
            hook_path(e, &at.child("path"), service.text("path"));
        }
        _ => e.required(at, "exactly one of url or service is required"),
    }
}

fn hook_url(e: &mut Report, at: &Path<'_>, url: &str) {
    let form = "; desired format: https://host[/path]";
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = match url.split_once(':') {
        Some((scheme, rest)) if scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => (scheme, rest),
        _ => ("", url),
    };
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or(""));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{form}");
        e.invalid(at, scheme.as_str(), detail);
    }
    if host.is_empty() {
        e.invalid(at, host, format!("host must be specified{form}"));
    }
    if let Some(user) = user {
        e.invalid(at, user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        e.invalid(at, fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        e.invalid(at, query, "query parameters are not permitted in the URL");
    }
}

fn hook_path(e: &mut Report, at: &Path<'_>, path: &str) {
    if matches!(path, "" | "/") {
        return;
    }
    if path == "//" {
        return e.invalid(at, path, "segment[0] may not be empty");
    }
    if !path.starts_with('/') {
        e.invalid(at, path, "must start with a '/'");
    }
    let rest = path.get(1..).unwrap_or_default();
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    for (n, step) in rest.split('/').enumerate() {
        if step.is_empty() {
            e.invalid(at, path, format!("segment[{n}] may not be empty"));
            continue;
        }
        for problem in format::dns_subdomain(step) {
            e.invalid(at, path, format!("segment[{n}]: {problem}"));
        }
    }
}

fn operations(e: &mut Report, at: &Path<'_>, rule: &Value) {
    let list = at.child("operations");
    let shown = |field: &str| rule.part(field).clone();
    if rule.list("operations").is_empty() {
        e.required(&list, "");
    }
    let several =
        |field: &str| rule.list(field).len() > 1 && rule.texts(field).any(|value| value == "*");
    if several("operations") {
        let detail = "if '*' is present, must not specify other operations";
        e.invalid(&list, shown("operations"), detail);
    }
    for (n, operation) in rule.texts("operations").enumerate() {
        e.one_of(&list.index(n), operation, &OPERATIONS);
    }
    for (field, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let at = at.child(field);
        if rule.list(field).is_empty() {
            e.required(&at, "");
        }
        if several(field) {
            let detail = format!("if '*' is present, must not specify other {what}");
            e.invalid(&at, shown(field), detail);
        }
    }
    let versions = at.child("apiVersions");
    for (n, version) in rule.texts("apiVersions").enumerate() {
        e.filled(&versions.index(n), version);
    }
    rule_resources(e, &at.child("resources"), rule);
    let scope = rule.text_given("scope");
    e.one_of_if_given(&at.child("scope"), scope, &["*", "Cluster", "Namespaced"]);
}

fn rule_resources(e: &mut Report, at: &Path<'_>, rule: &Value) {
    let resources: Vec<&str> = rule.texts("resources").collect();
    if resources.is_empty() {
        e.required(at, "");
    }
    let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
    let mut plain = false;
    for (n, resource) in resources.iter().enumerate() {
        if resource.is_empty() {
            e.required(&at.index(n), "");
            continue;
        }
        let Some((name, part)) = resource.split_once('/') else {
            plain = *resource != "*";
            continue;
        };
        if whole.contains(name) {
            let detail = format!("if '{name}/*' is present, must not specify {resource}");
            e.invalid(&at.index(n), *resource, detail);
        }
        if parts.contains(part) {
            let detail = format!("if '*/{part}' is present, must not specify {resource}");
            e.invalid(&at.index(n), *resource, detail);
        }
        if part == "*" {
            whole.insert(name);
        }
        if name == "*" {
            parts.insert(part);
        }
    }
    let shown = || rule.part("resources").clone();
    if resources.len() > 1 && resources.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        e.invalid(at, shown(), detail);
    }
    if plain && resources.contains(&"*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        e.invalid(at, shown(), detail);
    }
}

fn review_versions(e: &mut Report, at: &Path<'_>, hook: &Value, old: Old<'_>) {
    let known = REVIEW_VERSIONS.join(", ");
    if hook.list("admissionReviewVersions").is_empty() {
        return e.required(at, &format!("must specify one of {known}"));
    }
    let mut seen = BTreeSet::new();
    for (n, version) in hook.texts("admissionReviewVersions").enumerate() {
        if seen.insert(version) {
            e.form(&at.index(n), version, format::dns_1035_label);
        } else {
            e.invalid(&at.index(n), version, "duplicate version");
        }
    }
    if !seen.iter().any(|version| REVIEW_VERSIONS.contains(version)) && !old.has_unknown_versions()
    {
        let shown = hook.part("admissionReviewVersions").clone();
        e.invalid(at, shown, format!("must include at least one of {known}"));
    }
}

/// What expressions can name.
#[derive(Clone, Copy, Debug, Default)]
struct Environment {
    parameters: bool,
    variables: bool,
}

impl Environment {
    fn variables(self) -> Vec<(&'static str, Type)> {
        let mut names = vec!["object", "oldObject", "request", "namespaceObject", "authorizer"];
        if self.parameters {
            names.push("params");
        }
        if self.variables {
            names.push("variables");
        }
        names.into_iter().map(|name| (name, Type::Dyn)).collect()
    }
}

/// Compiles an expression, which has to be of one of these types; of any if there are none.
fn expression(e: &mut Report, at: &Path<'_>, source: &str, env: Environment, types: &[Type]) {
    let program = match Program::compile(source, &env.variables(), Dialect::Kubernetes) {
        Ok(program) => program,
        Err(CompileError::Issues(issues)) if names_library(&issues) => return,
        Err(error) => return e.invalid(at, source, format!("compilation failed: {error}")),
    };
    let found = program.result();
    if types.is_empty() || types.contains(found) {
        return;
    }
    let wanted: Vec<String> = types.iter().map(Type::declared).collect();
    let found = found.declared();
    let detail = match wanted.as_slice() {
        [one] => format!("must evaluate to {one} but got {found}"),
        several => format!("must evaluate to one of [{}] but got {found}", several.join(" ")),
    };
    e.invalid(at, source, detail);
}

/// Whether the only mistake is a function that asks for permissions, which are not known here.
fn names_library(issues: &str) -> bool {
    let functions = [
        "group",
        "resource",
        "serviceAccount",
        "path",
        "check",
        "allowed",
        "fieldSelector",
        "labelSelector",
        "subresource",
        "namespace",
        "name",
        "errored",
        "reason",
        "error",
    ];
    let undeclared = |line: &str| {
        functions.iter().any(|name| line.contains(&format!("undeclared reference to '{name}'")))
    };
    let mut mistakes = issues.lines().filter(|line| line.starts_with("ERROR:")).peekable();
    mistakes.peek().is_some() && mistakes.all(undeclared)
}

fn conditions(e: &mut Report, at: &Path<'_>, parent: &Value, env: Environment) {
    let conditions = parent.list("matchConditions");
    if conditions.len() > 64 {
        e.push(FieldError::too_many(at, conditions.len(), 64));
    }
    let mut names = BTreeSet::new();
    for (n, condition) in conditions.iter().enumerate() {
        let at = at.index(n);
        match condition.text("expression").trim() {
            "" => e.required(&at.child("expression"), ""),
            source => expression(e, &at.child("expression"), source, env, &[Type::Bool]),
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
    let env = Environment { parameters: parameters.is_some(), variables: false };
    let unchanged = old.is_some_and(|old| {
        ["paramKind", "matchConditions"].iter().all(|field| old.part(field) == spec.part(field))
    });
    if !unchanged {
        conditions(e, &at.child("matchConditions"), spec, env);
    }
    let env = Environment { variables: !spec.list("variables").is_empty(), ..env };
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
            expression(e, &at.child("expression"), source, env, &[]);
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
        self::validation(e, &validations_at.index(n), validation, env);
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
            expression(e, &value_at, source, env, &[Type::Text, Type::Null]);
        }
        if !keys.insert(key) {
            e.duplicate(&at.child("key"), key);
        }
    }
}

fn validation(e: &mut Report, at: &Path<'_>, validation: &Value, env: Environment) {
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
        expression(e, &at.child("messageExpression"), source, env, &[Type::Text]);
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
