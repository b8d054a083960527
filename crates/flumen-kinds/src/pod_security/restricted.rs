//! What the restricted level asks for beyond the baseline.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{
    Violation, adding, is_isolated, is_windows, items, named, plural, profile, quoted, seccomp,
    setters, text, those, violation,
};

pub(super) fn privilege_escalation(pod: &Value, version: u32) -> Option<Violation> {
    if version >= 25 && is_windows(pod) {
        return None;
    }
    let names =
        those(pod, |container| container["securityContext"]["allowPrivilegeEscalation"] != false);
    if names.is_empty() {
        return None;
    }
    let detail =
        format!("{} must set securityContext.allowPrivilegeEscalation=false", named(&names));
    violation("allowPrivilegeEscalation != false", detail)
}

pub(super) fn dropped_capabilities(pod: &Value, version: u32) -> Option<Violation> {
    if version >= 25 && is_windows(pod) {
        return None;
    }
    let missing = those(pod, |container| {
        let mut dropped = items(&container["securityContext"]["capabilities"], "drop");
        !dropped.any(|dropped| dropped == "ALL")
    });
    let missing = (!missing.is_empty()).then(|| {
        format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", named(&missing))
    });
    let details: Vec<String> =
        missing.into_iter().chain(adding(pod, &["NET_BIND_SERVICE"])).collect();
    if details.is_empty() {
        return None;
    }
    violation("unrestricted capabilities", details.join("; "))
}

const RESTRICTED_VOLUMES: &[&str] = &[
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

pub(super) fn volume_types(pod: &Value, _: u32) -> Option<Violation> {
    let is_good = |volume: &&Value| RESTRICTED_VOLUMES.iter().any(|kind| volume[kind].is_object());
    let bad: Vec<&Value> =
        items(&pod["spec"], "volumes").filter(|volume| !is_good(volume)).collect();
    if bad.is_empty() {
        return None;
    }
    let kinds: BTreeSet<&str> = bad
        .iter()
        .map(|volume| {
            let mut fields = volume.as_object().into_iter().flatten();
            fields.find(|(_, value)| value.is_object()).map_or("unknown", |(kind, _)| kind)
        })
        .collect();
    let word = plural("volume", "volumes", bad.len());
    let uses = plural("uses", "use", bad.len());
    let types = plural("restricted volume type", "restricted volume types", kinds.len());
    let names = quoted(bad.iter().map(|volume| text(&volume["name"])));
    let detail = format!("{word} {names} {uses} {types} {}", quoted(kinds));
    violation("restricted volume types", detail)
}

pub(super) fn non_root(pod: &Value, version: u32) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    if is_isolated(pod, version) {
        return None;
    }
    let set = |of: &Value| of["securityContext"]["runAsNonRoot"].as_bool();
    let of_pod = set(&pod["spec"]);
    let explicit = those(pod, |container| set(container) == Some(false));
    if let Some(who) = setters(of_pod == Some(false), &explicit) {
        return violation(REASON, format!("{who} must not set securityContext.runAsNonRoot=false"));
    }
    let implicit = those(pod, |container| set(container).is_none() && of_pod != Some(true));
    if implicit.is_empty() {
        return None;
    }
    let names = named(&implicit);
    violation(REASON, format!("pod or {names} must set securityContext.runAsNonRoot=true"))
}

pub(super) fn user(pod: &Value, version: u32) -> Option<Violation> {
    if is_isolated(pod, version) {
        return None;
    }
    let is_root = |of: &Value| of["securityContext"]["runAsUser"] == 0;
    let who = setters(is_root(&pod["spec"]), &those(pod, is_root))?;
    violation("runAsUser=0", format!("{who} must not set runAsUser=0"))
}

pub(super) fn set_seccomp(pod: &Value, version: u32) -> Option<Violation> {
    if version >= 25 && is_windows(pod) {
        return None;
    }
    if let Some(bad) = seccomp(pod, version) {
        return Some(bad);
    }
    if profile(&pod["spec"], "seccompProfile").is_some() {
        return None;
    }
    let missing = those(pod, |container| profile(container, "seccompProfile").is_none());
    if missing.is_empty() {
        return None;
    }
    let what =
        "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
    violation("seccompProfile", format!("pod or {} {what}", named(&missing)))
}
