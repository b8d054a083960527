//! Selectors of objects by their labels, and of nodes.

use flumen_fields::{Path, Shown};
use serde_json::Value;

use super::format;
use super::meta;
use super::report::Report;
use crate::internal;
use crate::read::Read;

const IN: &str = "must be specified when `operator` is 'In' or 'NotIn'";
const EXISTS: &str = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
const OPERATOR: &str = "not a valid selector operator";

/// A selector of labels in a field, if it is there.
pub(super) fn check(e: &mut Report, at: &Path<'_>, selector: &Value) {
    meta::labels(e, &at.child("matchLabels"), selector, "matchLabels");
    let at = at.child("matchExpressions");
    for (n, expression) in selector.list("matchExpressions").iter().enumerate() {
        requirement(e, &at.index(n), expression, Operators::Known);
    }
}

/// Whether an operator may be one that only newer servers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operators {
    Known,
    Any,
}

/// A requirement on labels.
pub(super) fn requirement(e: &mut Report, at: &Path<'_>, requirement: &Value, may: Operators) {
    operator(e, at, requirement, may);
    e.form(&at.child("key"), requirement.text("key"), format::qualified_name);
    let at = at.child("values");
    for (n, value) in requirement.texts("values").enumerate() {
        e.form(&at.index(n), value, format::label_value);
    }
}

/// Whether the operator of a requirement has the values that it needs.
pub(super) fn operator(e: &mut Report, at: &Path<'_>, requirement: &Value, may: Operators) {
    let values = requirement.list("values");
    match requirement.text("operator") {
        "In" | "NotIn" if values.is_empty() => e.required(&at.child("values"), IN),
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            e.forbidden(&at.child("values"), EXISTS);
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other if may == Operators::Known => e.invalid(&at.child("operator"), other, OPERATOR),
        _ => {}
    }
}

/// A selector as messages show it.
pub(super) fn shown(selector: &Value) -> Shown {
    if selector.is_null() {
        return Shown::Value(Value::Null);
    }
    internal::shown_served("apimachinery.pkg.apis.meta.v1.LabelSelector", selector)
}

/// How a selector works; none if it cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// It has no requirements at all.
    Everything,
    Yes,
    No,
}

/// Compares labels with a selector. A selector that is not there matches nothing.
pub(super) fn matches(selector: &Value, labels: &Value) -> Option<Match> {
    if selector.is_null() {
        return Some(Match::No);
    }
    let text = |key: &str| labels.get(key).and_then(Value::as_str);
    let mut result = Match::Yes;
    let mut empty = true;
    for (key, value) in selector.pairs("matchLabels") {
        empty = false;
        if !format::qualified_name(key).is_empty() || !format::label_value(value).is_empty() {
            return None;
        }
        if text(key) != Some(value) {
            result = Match::No;
        }
    }
    for requirement in selector.list("matchExpressions") {
        empty = false;
        let key = requirement.text("key");
        let values = requirement.list("values");
        let has = || {
            text(key).is_some_and(|found| values.iter().any(|value| value.as_str() == Some(found)))
        };
        let fits = match requirement.text("operator") {
            "In" if !values.is_empty() => has(),
            "NotIn" if !values.is_empty() => !has(),
            "Exists" if values.is_empty() => text(key).is_some(),
            "DoesNotExist" if values.is_empty() => text(key).is_none(),
            _ => return None,
        };
        let bad = |value: &str| !format::label_value(value).is_empty();
        if !format::qualified_name(key).is_empty() || requirement.texts("values").any(bad) {
            return None;
        }
        if !fits {
            result = Match::No;
        }
    }
    Some(if empty { Match::Everything } else { result })
}

/// Terms that select nodes.
pub(super) fn nodes(e: &mut Report, at: &Path<'_>, selector: &Value) {
    let at = at.child("nodeSelectorTerms");
    let terms = selector.list("nodeSelectorTerms");
    if terms.is_empty() {
        e.required(&at, "must have at least one node selector term");
    }
    for (n, term) in terms.iter().enumerate() {
        node_term(e, &at.index(n), term, Values::Labels);
    }
}

/// Whether the values of a term have to be values of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Labels,
    Any,
}

pub(super) fn node_term(e: &mut Report, at: &Path<'_>, term: &Value, form: Values) {
    let expressions = at.child("matchExpressions");
    for (n, requirement) in term.list("matchExpressions").iter().enumerate() {
        let at = expressions.index(n);
        let values = requirement.list("values");
        match requirement.text("operator") {
            "In" | "NotIn" if values.is_empty() => e.required(&at.child("values"), IN),
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                e.forbidden(&at.child("values"), EXISTS);
            }
            "Gt" | "Lt" if values.len() != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                e.required(&at.child("values"), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            other => e.invalid(&at.child("operator"), other, OPERATOR),
        }
        e.form(&at.child("key"), requirement.text("key"), format::qualified_name);
        if form == Values::Labels {
            let at = at.child("values");
            for (n, value) in requirement.texts("values").enumerate() {
                e.form(&at.index(n), value, format::label_value);
            }
        }
    }
    let fields = at.child("matchFields");
    for (n, requirement) in term.list("matchFields").iter().enumerate() {
        let at = fields.index(n);
        match requirement.text("operator") {
            "In" | "NotIn" => {
                if requirement.list("values").len() != 1 {
                    let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                    e.required(&at.child("values"), detail);
                }
            }
            other => e.invalid(&at.child("operator"), other, OPERATOR),
        }
        let key = requirement.text("key");
        if key == "metadata.name" {
            let at = at.child("values");
            for (n, value) in requirement.texts("values").enumerate() {
                e.form(&at.index(n), value, format::dns_subdomain);
            }
        } else {
            e.invalid(&at.child("key"), key, "not a valid field selector key");
        }
    }
}
