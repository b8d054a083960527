//! Whether a policy or a webhook is about a request.

use std::sync::Arc;

use flumen_expr::LabelSelector;
use serde_json::Value;

use super::{Attempt, Result};
use crate::{Resource, meta};

/// Whether a policy or a binding is about a request, and in which version it is to be shown then. Without
/// rules it is about everything.
pub(super) fn policy_meets(
    attempt: &Attempt<'_>,
    object: &Value,
    of: &Value,
) -> Result<Option<Arc<Resource>>> {
    let rules = list(&of["resourceRules"]);
    let version = match rules {
        [] => Some(Arc::clone(&attempt.request.resource)),
        _ => version_met(attempt, object, of, rules),
    };
    let excluded = version_met(attempt, object, of, list(&of["excludeResourceRules"]));
    selected(attempt, object, of, version.filter(|_| excluded.is_none()))
}

/// The same of a webhook. Without rules it is about nothing.
pub(super) fn webhook_meets(
    attempt: &Attempt<'_>,
    object: &Value,
    of: &Value,
) -> Result<Option<Arc<Resource>>> {
    let version = version_met(attempt, object, of, list(&of["rules"]));
    selected(attempt, object, of, version)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The version, if the selectors of a policy or a webhook meet the request as well.
fn selected(
    attempt: &Attempt<'_>,
    object: &Value,
    of: &Value,
    version: Option<Arc<Resource>>,
) -> Result<Option<Arc<Resource>>> {
    let Some(version) = version else { return Ok(None) };
    let selects_objects = &of["objectSelector"];
    let old = attempt.old.is_some_and(|old| selects(selects_objects, old));
    if !selects(selects_objects, object) && !old {
        return Ok(None);
    }
    let is_meant = selects_namespace(attempt, object, &of["namespaceSelector"])?;
    Ok(is_meant.then_some(version))
}

/// The version in which a rule meets a request: that of the request, or else another one of the same
/// objects if rules are meant so.
fn version_met(
    attempt: &Attempt<'_>,
    object: &Value,
    of: &Value,
    rules: &[Value],
) -> Option<Arc<Resource>> {
    let own = &attempt.request.resource;
    if rules.iter().any(|rule| is_met(attempt, object, rule, own)) {
        return Some(Arc::clone(own));
    }
    if of["matchPolicy"] != "Equivalent" {
        return None;
    }
    let catalog = attempt.request.api.catalog();
    rules.iter().find_map(|rule| {
        let mut versions = catalog.equivalents(own);
        versions.find(|version| is_met(attempt, object, rule, version)).map(Arc::clone)
    })
}

fn is_met(attempt: &Attempt<'_>, object: &Value, rule: &Value, resource: &Resource) -> bool {
    let has = |field: &str, wanted: &str| {
        let words = rule[field].as_array().into_iter().flatten();
        words.filter_map(Value::as_str).any(|word| word == "*" || word == wanted)
    };
    let subresource = &attempt.request.target().subresource;
    let is_resource = rule["resources"].as_array().into_iter().flatten().any(|word| {
        let Some(word) = word.as_str() else { return false };
        match word.split_once('/') {
            None => subresource.is_empty() && (word == "*" || word == resource.plural),
            Some((plural, part)) => {
                (plural == "*" || plural == resource.plural)
                    && (part == "*" || part == subresource.as_str())
            }
        }
    });
    let scope = match rule["scope"].as_str() {
        Some("Namespaced") => resource.is_namespaced(),
        Some("Cluster") => !resource.is_namespaced(),
        _ => true,
    };
    let names = list(&rule["resourceNames"]);
    let is_named = names.is_empty() || names.iter().any(|name| name == attempt.name(object));
    is_resource
        && scope
        && is_named
        && has("apiGroups", &resource.group)
        && has("apiVersions", &resource.version)
        && has("operations", attempt.operation.name())
}

fn selects_namespace(attempt: &Attempt<'_>, object: &Value, selector: &Value) -> Result<bool> {
    if is_everything(selector) {
        return Ok(true);
    }
    if attempt.is_about("", "namespaces") {
        return Ok(selects(selector, object));
    }
    if attempt.namespace().is_empty() {
        return Ok(true);
    }
    let namespace = attempt.find("", "namespaces", "", attempt.namespace())?;
    Ok(namespace.is_some_and(|namespace| selects(selector, &namespace)))
}

fn is_everything(selector: &Value) -> bool {
    selector.as_object().is_none_or(serde_json::Map::is_empty)
}

/// Whether the labels of an object meet a selector.
pub(super) fn selects(selector: &Value, object: &Value) -> bool {
    if is_everything(selector) {
        return true;
    }
    let text = crate::rules::selector_text(selector);
    LabelSelector::parse_query(&text)
        .is_ok_and(|selector| selector.match_with(|key| meta::label(object, key)))
}
