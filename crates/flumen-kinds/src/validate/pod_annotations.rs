//! Annotations that mean something to pods.

use flumen_fields::Path;
use serde_json::Value;

use super::report::Report;
use super::{containers, scheduling, volumes};
use crate::json;
use crate::read::Read;

const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(super) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

pub(super) fn check(e: &mut Report, at: &Path<'_>, meta: &Value, spec: &Value) {
    let annotations = meta.part("annotations");
    if let Some(value) = annotations.text_given(MIRROR)
        && spec.text("nodeName").is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        e.invalid(&at.key(MIRROR), value, detail);
    }
    if let Some(text) = annotations.text_given(TOLERATIONS).filter(|text| !text.is_empty()) {
        match tolerations_in(text) {
            Ok(found) => scheduling::tolerations(e, &at.child(TOLERATIONS), &found),
            Err(problem) => e.invalid(at, TOLERATIONS, problem),
        }
    }
    let cost = "controller.kubernetes.io/pod-deletion-cost";
    if let Some(value) = annotations.text_given(cost) {
        let digits = value.strip_prefix('-').unwrap_or(value);
        let leading = value != "0" && !value.starts_with('-') && digits.starts_with('0');
        if leading || digits.starts_with('+') || value.parse::<i32>().is_err() {
            e.invalid(&at.key(cost), value, "must be a 32bit integer");
        }
    }
    if let Some(profile) = annotations.text_given(SECCOMP) {
        seccomp_annotation(e, &at.child(SECCOMP), profile);
    }
    for (key, value) in meta.pairs("annotations") {
        if key.starts_with(SECCOMP_CONTAINER) {
            seccomp_annotation(e, &at.child(key), value);
        }
    }
    for (key, value) in meta.pairs("annotations") {
        let Some(name) = key.strip_prefix(APP_ARMOR) else { continue };
        if !containers::visit(spec).any(|(_, _, container)| container.text("name") == name) {
            e.invalid(&at.key(key), name, "container not found");
        }
        let known = matches!(value, "" | "runtime/default" | "unconfined");
        if !known && !value.starts_with("localhost/") {
            e.invalid(&at.key(key), value, format!("invalid AppArmor profile name: {value:?}"));
        }
    }
}

/// Tolerations as text, which may spell the names of fields in any case.
fn tolerations_in(text: &str) -> Result<Vec<Value>, String> {
    let tape = json::scan(text.as_bytes())?;
    let kind = tape.root().kind();
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) => Ok(items.into_iter().map(uncapitalized).collect()),
        Ok(Value::Null) => Ok(Vec::new()),
        _ => Err(format!("json: cannot unmarshal {kind} into Go value of type []core.Toleration")),
    }
}

fn uncapitalized(toleration: Value) -> Value {
    let Value::Object(fields) = toleration else { return toleration };
    let known = ["key", "operator", "value", "effect", "tolerationSeconds"];
    let name = |name: String| {
        let same = known.iter().find(|known| known.eq_ignore_ascii_case(&name));
        same.map_or(name, |known| (*known).to_owned())
    };
    fields.into_iter().map(|(field, value)| (name(field), value)).collect()
}

fn seccomp_annotation(e: &mut Report, at: &Path<'_>, profile: &str) {
    match profile {
        "runtime/default" | "docker/default" | "unconfined" => {}
        other => match other.strip_prefix("localhost/") {
            Some(path) => volumes::descending(e, at, path),
            None => e.invalid(at, profile, "must be a valid seccomp profile"),
        },
    }
}

/// Profiles that annotations and fields both name have to be the same.
pub(super) fn profiles_match(e: &mut Report, at: &Path<'_>, meta: &Value, spec: &Value) {
    let annotations = meta.part("annotations");
    let context = spec.part("securityContext");
    if let (Some(profile), Some(annotation)) =
        (context.some("seccompProfile"), annotations.text_given(SECCOMP))
    {
        let at = at.child("securityContext");
        profile_matches(e, &at.child("seccompProfile"), profile, annotation, "seccomp");
    }
    let places = [
        ("seccompProfile", SECCOMP_CONTAINER, "seccomp"),
        ("appArmorProfile", APP_ARMOR, "apparmor"),
    ];
    for (field, prefix, what) in places {
        if what == "apparmor" && spec.part("os").text("name") == "windows" {
            continue;
        }
        for (list, n, container) in containers::visit(spec) {
            let own = container.part("securityContext").some(field);
            let inherited = || context.some(field).filter(|_| what == "apparmor");
            let Some(profile) = own.or_else(inherited) else { continue };
            let key = format!("{prefix}{}", container.text("name"));
            if let Some(annotation) = annotations.text_given(&key) {
                let at = at.child(list);
                let at = at.index(n);
                let at = at.child("securityContext");
                profile_matches(e, &at.child(field), profile, annotation, what);
            }
        }
    }
}

fn profile_matches(e: &mut Report, at: &Path<'_>, profile: &Value, annotation: &str, what: &str) {
    let of_type = match profile.text("type") {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => {
            annotation == "runtime/default" || (what == "seccomp" && annotation == "docker/default")
        }
        "Localhost" => annotation.starts_with("localhost/"),
        _ => return,
    };
    if !of_type {
        let detail = format!("{what} type in annotation and field must match");
        e.forbidden(&at.child("type"), detail);
    } else if profile.text("type") == "Localhost"
        && annotation.strip_prefix("localhost/") != profile.text_given("localhostProfile")
    {
        let detail = format!("{what} profile in annotation and field must match");
        e.forbidden(&at.child("localhostProfile"), detail);
    }
}
