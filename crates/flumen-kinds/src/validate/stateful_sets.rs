//! Stateful sets.

use std::borrow::Cow;

use flumen_fields::Path;
use serde_json::{Value, json};

use super::meta::{self, Naming, Scope};
use super::report::Report;
use super::selector::{self, Match};
use super::workloads::{
    always, at_most_all, available, bounded, collisions, count_or_percent, counters, labels_match,
    number, required_selector,
};
use super::{claims, format, pod, pod_annotations};
use crate::internal;
use crate::read::Read;

pub(super) fn stateful_set(e: &mut Report, object: &Value) {
    meta::check(e, object, Scope::Namespaced, Naming::LABEL);
    stateful_set_spec(e, object.part("spec"), Stage::Create);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Create,
    Update,
}

fn stateful_set_spec(e: &mut Report, spec: &Value, stage: Stage) {
    let at = Path::new("spec");
    match spec.text("podManagementPolicy") {
        "" => e.required(&at.child("podManagementPolicy"), ""),
        "OrderedReady" | "Parallel" => {}
        other => {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            e.invalid(&at.child("podManagementPolicy"), other, detail);
        }
    }
    stateful_strategy(e, &at.child("updateStrategy"), spec.part("updateStrategy"));
    if let Some(policy) = spec.some("persistentVolumeClaimRetentionPolicy") {
        let at = at.child("persistentVolumeClaimRetentionPolicy");
        for field in ["whenDeleted", "whenScaled"] {
            e.one_of(&at.child(field), policy.text(field), &["Retain", "Delete"]);
        }
    }
    let templates = spec.list("volumeClaimTemplates");
    if stage == Stage::Create {
        let at = at.child("volumeClaimTemplates");
        for (n, claim) in templates.iter().enumerate() {
            let at = at.index(n);
            claims::claim_spec(e, &at.child("spec"), claim.part("spec"), claims::Groups::Checked);
        }
    }
    e.not_negative(&at.child("replicas"), spec.int("replicas"));
    e.not_negative(&at.child("minReadySeconds"), spec.int("minReadySeconds"));
    let start = spec.part("ordinals").int("start");
    e.not_negative(&at.child("ordinals.start"), start);
    if stage == Stage::Create {
        let name = spec.text("serviceName");
        e.form_if_filled(&at.child("serviceName"), name, format::dns_label);
    }
    required_selector(e, &at, spec, "statefulset");
    let template = spec.part("template");
    let template_at = at.child("template");
    let labels = template.part("metadata").part("labels");
    match selector::matches(spec.part("selector"), labels) {
        None => e.invalid(&at.child("selector"), selector::shown(spec.part("selector")), ""),
        Some(found) => {
            if found == Match::No {
                labels_match(e, &template_at, template);
            }
            let checked = with_claims(template, templates);
            pod::template(e, &template_at, &checked);
            let meta = template.part("metadata");
            meta::labels(e, &template_at.child("labels"), meta, "labels");
            meta::annotations(e, &template_at.child("annotations"), meta);
            pod_annotations::check(
                e,
                &template_at.child("annotations"),
                meta,
                template.part("spec"),
            );
        }
    }
    always(e, &template_at, template, "StatefulSet");
}

/// The template as pods will have it: with volumes of the claims, and names that the set gives.
fn with_claims<'a>(template: &'a Value, claims: &[Value]) -> Cow<'a, Value> {
    let spec = template.part("spec");
    let named = !spec.text("subdomain").is_empty() || !spec.text("hostname").is_empty();
    if claims.is_empty() && !named {
        return Cow::Borrowed(template);
    }
    let mut template = template.clone();
    if let Some(Value::Object(spec)) = template.get_mut("spec") {
        spec.remove("subdomain");
        spec.remove("hostname");
        if !claims.is_empty() {
            let name = |claim: &Value| claim.part("metadata").text("name").to_owned();
            let mut names: Vec<String> = claims.iter().map(name).collect();
            names.sort_unstable();
            names.dedup();
            let volume =
                |name: &String| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
            let mut volumes: Vec<Value> = names.iter().map(volume).collect();
            let own = spec.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
            let kept = |volume: &Value| !names.iter().any(|name| name == volume.text("name"));
            volumes.extend(own.into_iter().filter(kept));
            spec.insert("volumes".to_owned(), volumes.into());
        }
    }
    Cow::Owned(template)
}

fn stateful_strategy(e: &mut Report, at: &Path<'_>, strategy: &Value) {
    let rolling = strategy.some("rollingUpdate");
    let rolling_at = at.child("rollingUpdate");
    match (strategy.text("type"), rolling) {
        ("", _) => e.required(at, ""),
        ("OnDelete", Some(rolling)) => {
            let shown = internal::shown("apps.RollingUpdateStatefulSetStrategy", rolling);
            e.invalid(&rolling_at, shown, "only allowed for updateStrategy 'RollingUpdate'");
        }
        ("RollingUpdate", Some(rolling)) => {
            e.not_negative(&rolling_at.child("partition"), rolling.int("partition"));
            if let Some(value) = rolling.some("maxUnavailable") {
                let at = rolling_at.child("maxUnavailable");
                count_or_percent(e, &at, value);
                if number(value) == 0 {
                    e.invalid(&at, value.clone(), "cannot be 0");
                }
                at_most_all(e, &at, value);
            }
        }
        ("OnDelete" | "RollingUpdate", None) => {}
        _ => {
            let shown = internal::shown("apps.StatefulSetUpdateStrategy", strategy);
            e.invalid(at, shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

pub(super) fn stateful_set_update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    stateful_set_spec(e, new.part("spec"), Stage::Update);
    let changeable = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let rest = |object: &Value| {
        let mut spec = object.part("spec").clone();
        if let Value::Object(fields) = &mut spec {
            fields.retain(|name, _| !changeable.contains(&name.as_str()));
        }
        spec
    };
    if rest(new) != rest(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        e.forbidden(&Path::new("spec"), detail);
    }
}

pub(super) fn stateful_set_status(e: &mut Report, new: &Value, old: &Value) {
    let fields = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ];
    counters(e, new, &fields);
    let most = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    bounded(e, new, &most);
    available(e, new, "status.readyReplicas");
    meta::check_update(e, new, old);
    collisions(e, new, old);
}
