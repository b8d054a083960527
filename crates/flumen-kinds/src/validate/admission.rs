//! Webhooks that decide on what is admitted, and the rules that name what they are asked about.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::admission_policies::{Environment, conditions};
use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::{format, selector};
use crate::read::Read;

pub(super) const POLICIES: [&str; 2] = ["Fail", "Ignore"];
pub(super) const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
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
            conditions(e, &at.child("matchConditions"), hook, &Environment::default());
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
    if let Some(seconds) = hook.int_given("timeoutSeconds")
        && !(1..=30).contains(&seconds)
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        e.invalid(&at.child("timeoutSeconds"), seconds, detail);
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

pub(super) fn operations(e: &mut Report, at: &Path<'_>, rule: &Value) {
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
