//! Pods do what the labels of their namespace allow; what makes pods is warned about.

use std::collections::BTreeMap;

use flumen_kinds::pod_security::{PodSecurity, SecurityStandard, Violation};
use serde_json::Value;

use super::{Attempt, Operation, Result};
use crate::{ApiError, meta};

/// What makes pods, and where the template is.
const TEMPLATES: &[(&str, &str, &str)] = &[
    ("", "podtemplates", "/template"),
    ("", "replicationcontrollers", "/spec/template"),
    ("apps", "daemonsets", "/spec/template"),
    ("apps", "deployments", "/spec/template"),
    ("apps", "replicasets", "/spec/template"),
    ("apps", "statefulsets", "/spec/template"),
    ("batch", "cronjobs", "/spec/jobTemplate/spec/template"),
    ("batch", "jobs", "/spec/template"),
];

/// Parts of a pod that cannot change what it may do.
const HARMLESS: &[&str] =
    &["attach", "binding", "eviction", "exec", "log", "portforward", "proxy", "status"];

/// As many pods as are looked at when the labels of a namespace change.
const MAX_PODS: usize = 3000;

pub(super) fn validate(attempt: &Attempt<'_>, object: &Value) -> Result {
    if attempt.operation == Operation::Delete {
        return Ok(());
    }
    if attempt.is_about("", "namespaces") {
        return check_namespace(attempt, object);
    }
    let resource = attempt.resource();
    let part = &*attempt.request.target().subresource;
    if (&*resource.group, &*resource.plural) == ("", "pods") && !HARMLESS.contains(&part) {
        return check_pod(attempt, object);
    }
    let template = TEMPLATES.iter().find(|(group, plural, _)| attempt.is_about(group, plural));
    if let Some(template) = template.and_then(|(_, _, pointer)| object.pointer(pointer)) {
        warn(attempt, &policy(attempt)?.warn, template);
    }
    Ok(())
}

fn policy(attempt: &Attempt<'_>) -> Result<PodSecurity> {
    let namespace = attempt.find("", "namespaces", "", attempt.namespace())?.unwrap_or_default();
    Ok(PodSecurity::of_labels(&namespace).0)
}

fn warn(attempt: &Attempt<'_>, standard: &SecurityStandard, pod: &Value) {
    let violations = standard.violations(pod);
    if !violations.is_empty() {
        let what = described(&violations);
        attempt.request.warn(format!("would violate PodSecurity \"{standard}\": {what}"));
    }
}

fn described(violations: &[Violation]) -> String {
    let texts: Vec<String> = violations.iter().map(Violation::to_string).collect();
    texts.join(", ")
}

fn check_pod(attempt: &Attempt<'_>, pod: &Value) -> Result {
    let policy = policy(attempt)?;
    let unchanged = attempt.old.is_some_and(|old| !is_significant(pod, old));
    if policy.is_privileged() || unchanged {
        return Ok(());
    }
    let violations = policy.enforce.violations(pod);
    if violations.is_empty() {
        warn(attempt, &policy.warn, pod);
        return Ok(());
    }
    let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, described(&violations));
    Err(ApiError::forbidden("", "pods", attempt.name(pod), &why))
}

/// Whether containers were added or run something else.
fn is_significant(pod: &Value, old: &Value) -> bool {
    let images = |pod: &Value, list: &str| -> BTreeMap<String, String> {
        let containers = pod["spec"][list].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        containers.map(|container| (text(&container["name"]), text(&container["image"]))).collect()
    };
    let differ = |list: &str| images(pod, list) != images(old, list);
    differ("containers") || differ("initContainers") || differ("ephemeralContainers")
}

/// Labels must be right, and pods that will not be welcome any more are worth a warning.
fn check_namespace(attempt: &Attempt<'_>, namespace: &Value) -> Result {
    let (policy, errors) = PodSecurity::of_labels(namespace);
    let before = attempt.old.map(PodSecurity::of_labels);
    let is_news = before.as_ref().is_none_or(|(_, before)| {
        let texts = |errors: &[_]| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        texts(before) != texts(&errors)
    });
    if !errors.is_empty() && is_news {
        return Err(ApiError::invalid("", "Namespace", attempt.name(namespace), &errors));
    }
    if before.is_some_and(|(before, _)| policy.enforce.is_stricter_than(&before.enforce)) {
        check_present(attempt, meta::name(namespace), &policy.enforce)?;
    }
    Ok(())
}

fn check_present(attempt: &Attempt<'_>, namespace: &str, standard: &SecurityStandard) -> Result {
    let pods = attempt.all("", "pods", namespace)?;
    // By what is wrong: the first pod by name, and how many there are.
    let mut wrong: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for pod in pods.iter().take(MAX_PODS) {
        let violations = standard.violations(pod);
        if !violations.is_empty() {
            let reasons: Vec<&str> = violations.iter().map(|violation| violation.reason).collect();
            wrong.entry(reasons.join(", ")).or_insert((meta::name(pod), 0)).1 += 1;
        }
    }
    let total = pods.len();
    if total > MAX_PODS {
        attempt.request.warn(format!(
            "new PodSecurity enforce level only checked against the first {MAX_PODS} of {total} existing pods"
        ));
    }
    if !wrong.is_empty() {
        attempt.request.warn(format!(
            "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level \"{standard}\""
        ));
    }
    let mut warnings: Vec<String> = wrong
        .into_iter()
        .map(|(reasons, (first, count))| match count {
            1 => format!("{first}: {reasons}"),
            2 => format!("{first} (and 1 other pod): {reasons}"),
            more => format!("{first} (and {} other pods): {reasons}", more - 1),
        })
        .collect();
    warnings.sort_unstable();
    for warning in warnings {
        attempt.request.warn(warning);
    }
    Ok(())
}
