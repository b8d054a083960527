//! Which requests wait for which others.

use std::collections::BTreeSet;

use flumen_fields::Path;
use serde_json::Value;

use super::format;
use super::meta::{self, Naming, Scope};
use super::report::Report;
use crate::internal;
use crate::read::Read;

const VERBS: [&str; 9] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

pub(super) fn schema(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    let precedence = spec.int("matchingPrecedence");
    let precedence_at = at.child("matchingPrecedence");
    if precedence <= 0 {
        e.invalid(&precedence_at, precedence, "must be a positive value");
    }
    if precedence > 10_000 {
        e.invalid(&precedence_at, precedence, "must not be greater than 10000");
    }
    if precedence == 1 && object.part("metadata").text("name") != "exempt" {
        let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
        e.invalid(&precedence_at, precedence, detail);
    }
    if let Some(method) = spec.some("distinguisherMethod")
        && !matches!(method.text("type"), "ByNamespace" | "ByUser")
    {
        let shown = internal::shown("flowcontrol.FlowDistinguisherMethod", method);
        let at = at.child("distinguisherMethod");
        e.not_supported(&at.child("type"), shown, &["ByNamespace", "ByUser"]);
    }
    let level = spec.part("priorityLevelConfiguration").text("name");
    let level_at = at.child("priorityLevelConfiguration");
    if level.is_empty() {
        e.required(&level_at.child("name"), "must reference a priority level");
    } else {
        e.form(&level_at.child("name"), level, format::dns_subdomain);
    }
    let rules = at.child("rules");
    for (n, rule) in spec.list("rules").iter().enumerate() {
        self::rule(e, &rules.index(n), rule);
    }
    condition_types(e, object);
}

pub(super) fn schema_update(e: &mut Report, new: &Value, _old: &Value) {
    schema(e, new);
}

pub(super) fn status(e: &mut Report, new: &Value, _old: &Value) {
    condition_types(e, new);
}

fn condition_types(e: &mut Report, object: &Value) {
    let at = Path::new("status");
    let at = at.child("conditions");
    let mut seen = BTreeSet::new();
    for (n, condition) in object.part("status").list("conditions").iter().enumerate() {
        let at = at.index(n);
        let of = condition.text("type");
        if !seen.insert(of) {
            e.duplicate(&at.child("type"), of);
        }
        e.filled(&at.child("type"), of);
    }
}

fn rule(e: &mut Report, at: &Path<'_>, rule: &Value) {
    let subjects = at.child("subjects");
    if rule.list("subjects").is_empty() {
        e.required(&subjects, "subjects must contain at least one value");
    }
    for (n, subject) in rule.list("subjects").iter().enumerate() {
        self::subject(e, &subjects.index(n), subject);
    }
    if rule.list("resourceRules").is_empty() && rule.list("nonResourceRules").is_empty() {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        e.required(at, detail);
    }
    let resources = at.child("resourceRules");
    for (n, rule) in rule.list("resourceRules").iter().enumerate() {
        resource_rule(e, &resources.index(n), rule);
    }
    let others = at.child("nonResourceRules");
    for (n, rule) in rule.list("nonResourceRules").iter().enumerate() {
        let at = others.index(n);
        verbs(e, &at, rule);
        let urls_at = at.child("nonResourceURLs");
        if rule.list("nonResourceURLs").is_empty() {
            e.required(&urls_at, "nonResourceURLs must contain at least one value");
        } else if !wildcard(e, &urls_at, rule, "nonResourceURLs", "non-resource URLs") {
            for (n, url) in rule.texts("nonResourceURLs").enumerate() {
                url_path(e, &urls_at.index(n), url);
            }
        }
    }
}

/// Whether everything is named, in which case nothing else may be.
fn wildcard(e: &mut Report, at: &Path<'_>, rule: &Value, field: &str, what: &str) -> bool {
    let all = rule.texts(field).any(|value| value == "*");
    if all && rule.list(field).len() > 1 {
        let detail = format!("if '*' is present, must not specify other {what}");
        e.invalid(at, rule.part(field).clone(), detail);
    }
    all
}

fn verbs(e: &mut Report, at: &Path<'_>, rule: &Value) {
    let at = at.child("verbs");
    if rule.list("verbs").is_empty() {
        e.required(&at, "verbs must contain at least one value");
    } else if !wildcard(e, &at, rule, "verbs", "verbs")
        && !rule.texts("verbs").all(|verb| VERBS.contains(&verb))
    {
        e.not_supported(&at, rule.part("verbs").clone(), &VERBS);
    }
}

fn resource_rule(e: &mut Report, at: &Path<'_>, rule: &Value) {
    verbs(e, at, rule);
    let fields = [
        ("apiGroups", "resource rules must supply at least one api group", "api groups"),
        ("resources", "resource rules must supply at least one resource", "resources"),
    ];
    for (field, missing, what) in fields {
        let at = at.child(field);
        if rule.list(field).is_empty() {
            e.required(&at, missing);
        } else {
            wildcard(e, &at, rule, field, what);
        }
    }
    let at = at.child("namespaces");
    if rule.list("namespaces").is_empty() && !rule.truth("clusterScope") {
        let detail =
            "resource rules that are not cluster scoped must supply at least one namespace";
        e.required(&at, detail);
    } else if !wildcard(e, &at, rule, "namespaces", "namespaces") {
        for (n, namespace) in rule.texts("namespaces").enumerate() {
            for problem in format::dns_label(namespace) {
                let detail =
                    format!("each member of this list must be '*' or a DNS-1123 label; {problem}");
                e.invalid(&at.index(n), namespace, detail);
            }
        }
    }
}

fn url_path(e: &mut Report, at: &Path<'_>, path: &str) {
    if path.is_empty() {
        return e.invalid(at, path, "must not be empty");
    }
    if path == "/" {
        return;
    }
    if !path.starts_with('/') {
        return e.invalid(at, path, "must start with slash");
    }
    if path.contains(' ') {
        return e.invalid(at, path, "must not contain white-space");
    }
    if path.contains("//") {
        return e.invalid(at, path, "must not contain double slash");
    }
    let stars = path.matches('*').count();
    if stars > 1 || (stars == 1 && !path.ends_with("/*")) {
        let detail = "wildcard can only do suffix matching";
        e.invalid(at, path, detail);
    }
}

fn subject(e: &mut Report, at: &Path<'_>, subject: &Value) {
    let kinds = [("ServiceAccount", "serviceAccount"), ("User", "user"), ("Group", "group")];
    let kind = subject.text("kind");
    let Some((_, own)) = kinds.iter().find(|(name, _)| *name == kind) else {
        return e.not_supported(&at.child("kind"), kind, &["Group", "ServiceAccount", "User"]);
    };
    let own_at = at.child(own);
    match subject.some(own) {
        None => {
            let detail = format!("{own} is required when subject kind is '{kind}'");
            e.required(&own_at, &detail);
        }
        Some(inner) => {
            let name = inner.text("name");
            e.filled(&own_at.child("name"), name);
            if kind == "ServiceAccount" {
                if name != "*" {
                    e.form_if_filled(&own_at.child("name"), name, format::dns_subdomain);
                }
                let namespace = inner.text("namespace");
                if namespace.is_empty() {
                    let detail = "must specify namespace for service account";
                    e.required(&own_at.child("namespace"), detail);
                } else {
                    e.form(&own_at.child("namespace"), namespace, format::dns_label);
                }
            }
        }
    }
    for (other, field) in kinds.iter().filter(|(name, _)| *name != kind) {
        if subject.some(field).is_some() {
            let detail = format!("{field} is forbidden when subject kind is not '{other}'");
            e.forbidden(&at.child(field), detail);
        }
    }
}

pub(super) fn level(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Cluster, Naming::SUBDOMAIN);
    let at = Path::new("spec");
    let spec = object.part("spec");
    let of = spec.text("type");
    if (object.part("metadata").text("name") == "exempt") != (of == "Exempt") {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        e.invalid(&at.child("type"), of, detail);
    }
    match of {
        "Exempt" => {
            if spec.some("limited").is_some() {
                let detail = "must be nil if the type is not Limited";
                e.forbidden(&at.child("limited"), detail);
            }
            shares(e, &at.child("exempt"), spec.part("exempt"));
            lendable(e, &at.child("exempt"), spec.part("exempt"));
        }
        "Limited" => {
            if spec.some("exempt").is_some() {
                e.forbidden(&at.child("exempt"), "must be nil if the type is Limited");
            }
            match spec.some("limited") {
                None => {
                    let detail = "must not be empty when type is Limited";
                    e.required(&at.child("limited"), detail);
                }
                Some(limited) => self::limited(e, &at.child("limited"), limited),
            }
        }
        other => e.not_supported(&at.child("type"), other, &["Exempt", "Limited"]),
    }
    condition_types(e, object);
}

pub(super) fn level_update(e: &mut Report, new: &Value, _old: &Value) {
    level(e, new);
}

fn shares(e: &mut Report, at: &Path<'_>, part: &Value) {
    let shares = part.int("nominalConcurrencyShares");
    if shares < 0 {
        let at = at.child("nominalConcurrencyShares");
        e.invalid(&at, shares, "must be a non-negative integer");
    }
}

fn lendable(e: &mut Report, at: &Path<'_>, part: &Value) {
    e.in_range(&at.child("lendablePercent"), part.int("lendablePercent"), 0, 100);
}

fn limited(e: &mut Report, at: &Path<'_>, limited: &Value) {
    shares(e, at, limited);
    let response = limited.part("limitResponse");
    let response_at = at.child("limitResponse");
    let queuing_at = response_at.child("queuing");
    match (response.text("type"), response.some("queuing")) {
        ("Reject", Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            e.forbidden(&queuing_at, detail);
        }
        ("Reject", None) => {}
        ("Queue", None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            e.required(&queuing_at, detail);
        }
        ("Queue", Some(queuing)) => self::queuing(e, &queuing_at, queuing),
        (other, _) => e.not_supported(&response_at.child("type"), other, &["Queue", "Reject"]),
    }
    lendable(e, at, limited);
    let borrowing = limited.int("borrowingLimitPercent");
    if borrowing < 0 {
        let at = at.child("borrowingLimitPercent");
        e.invalid(&at, borrowing, "if specified, must be a non-negative integer");
    }
}

fn queuing(e: &mut Report, at: &Path<'_>, queuing: &Value) {
    let (length, queues, hand) =
        (queuing.int("queueLengthLimit"), queuing.int("queues"), queuing.int("handSize"));
    if length <= 0 {
        e.invalid(&at.child("queueLengthLimit"), length, "must be positive");
    }
    if queues <= 0 {
        e.invalid(&at.child("queues"), queues, "must be positive");
    } else if queues > 10_000_000 {
        e.invalid(&at.child("queues"), queues, "must not be greater than 10000000");
    }
    let hand_at = at.child("handSize");
    if hand <= 0 {
        e.invalid(&hand_at, hand, "must be positive");
    } else if hand > queues {
        let detail = format!("should not be greater than queues ({queues})");
        e.invalid(&hand_at, hand, detail);
    } else if hand_bits(queues, hand) > 60 {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than 60"
        );
        e.invalid(&hand_at, hand, detail);
    }
}

/// How many bits it takes to choose a hand out of a deck of queues.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "decks are small, and a logarithm is rounded up"
)]
fn hand_bits(deck: i64, hand: i64) -> i64 {
    ((deck as f64).log2() * hand as f64).ceil() as i64
}
