//! What may change in a pod, by the endpoint that it was sent to.

use std::collections::BTreeSet;

use flumen_fields::{FieldError, Path};
use serde_json::Value;

use super::difference::difference;
use super::pod_annotations::{self, APP_ARMOR, MIRROR};
use super::report::Report;
use super::{address, format, meta, pod, scheduling};
use crate::internal;
use crate::prepare;
use crate::read::Read;

const CHANGEABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const ENDED: &str = "may not be transitioned to non-terminated state";

pub(super) fn update(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    pod::meta_and_spec(e, new);
    annotation_updates(e, new, old);
    let at = Path::new("spec");
    let (spec, was) = (new.part("spec"), old.part("spec"));
    for list in ["containers", "initContainers"] {
        let at = at.child(list);
        let (now, then) = (spec.list(list), was.list(list));
        if now.len() != then.len() {
            return e.forbidden(&at, "pod updates may not add or remove containers");
        }
        for (n, container) in now.iter().enumerate() {
            e.filled(&at.index(n).child("image"), container.text("image"));
            super::containers::image_without_space(e, &at.index(n), container);
        }
    }
    if !deadline(e, &at.child("activeDeadlineSeconds"), spec, was) {
        return;
    }
    added_tolerations(e, &at.child("tolerations"), spec, was);
    removed_gates(e, &at.child("schedulingGates"), spec, was);
    if spec == was {
        return;
    }
    let mut rest = spec.clone();
    for list in ["containers", "initContainers"] {
        let Some(Value::Array(containers)) = rest.get_mut(list) else { continue };
        for (container, then) in containers.iter_mut().zip(was.list(list)) {
            take(container, then, "image");
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        take(&mut rest, was, field);
    }
    let grace = "terminationGracePeriodSeconds";
    if was.int(grace) < 0 && rest.int_given(grace) == Some(1) {
        take(&mut rest, was, grace);
    }
    if !was.list("schedulingGates").is_empty() {
        gated(e, &at, &mut rest, was);
    }
    if rest != *was {
        let shown = difference("core.PodSpec", was, &rest);
        e.forbidden(&at, format!("{CHANGEABLE}\n{shown}"));
    }
}

fn take(into: &mut Value, from: &Value, field: &str) {
    if let Value::Object(fields) = into {
        match from.get(field) {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
    }
}

fn annotation_updates(e: &mut Report, new: &Value, old: &Value) {
    let at = Path::new("metadata");
    let at = at.child("annotations");
    let (meta, was) = (new.part("metadata"), old.part("metadata"));
    let (now, then) = (meta.map("annotations"), was.map("annotations"));
    for (key, value) in then {
        if now.get(key) == Some(value) {
            continue;
        }
        if key.starts_with(APP_ARMOR) {
            e.forbidden(&at.key(key), "may not remove or update AppArmor annotations");
        }
        if key == MIRROR {
            e.forbidden(&at.key(key), "may not remove or update mirror pod annotation");
        }
    }
    for key in now.keys().filter(|key| !then.contains_key(*key)) {
        if key.starts_with(APP_ARMOR) {
            e.forbidden(&at.key(key), "may not add AppArmor annotations");
        }
        if key == MIRROR {
            e.forbidden(&at.key(key), "may not add mirror pod annotation");
        }
    }
    pod_annotations::check(e, &at, meta, new.part("spec"));
}

/// Answers whether there is more to check.
fn deadline(e: &mut Report, at: &Path<'_>, spec: &Value, was: &Value) -> bool {
    let field = "activeDeadlineSeconds";
    let before = e.len();
    match (spec.int_given(field), was.int_given(field)) {
        (Some(now), then) => {
            e.in_range(at, now, 0, i64::from(i32::MAX));
            if e.len() == before && then.is_some_and(|then| then < now) {
                e.invalid(at, now, "must be less than or equal to previous value");
            }
            e.len() == before
        }
        (None, Some(_)) => {
            e.invalid(at, Value::Null, "must not update from a positive integer to nil value");
            true
        }
        (None, None) => true,
    }
}

fn added_tolerations(e: &mut Report, at: &Path<'_>, spec: &Value, was: &Value) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Value::Object(fields) = &mut toleration {
            fields.remove("tolerationSeconds");
        }
        toleration
    };
    let now: Vec<Value> = spec.list("tolerations").iter().map(without_seconds).collect();
    for then in was.list("tolerations") {
        if !now.contains(&without_seconds(then)) {
            let detail = "existing toleration can not be modified except its tolerationSeconds";
            return e.forbidden(at, detail);
        }
    }
    scheduling::tolerations(e, at, spec.list("tolerations"));
}

fn removed_gates(e: &mut Report, at: &Path<'_>, spec: &Value, was: &Value) {
    let known: Vec<&str> =
        was.list("schedulingGates").iter().map(|gate| gate.text("name")).collect();
    for (n, gate) in spec.list("schedulingGates").iter().enumerate() {
        let name = gate.text("name");
        if !known.contains(&name) {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            e.forbidden(&at.index(n).child("name"), detail);
        }
    }
}

/// A pod that is not scheduled yet may still become pickier about its node.
fn gated(e: &mut Report, at: &Path<'_>, rest: &mut Value, was: &Value) {
    let field = "nodeSelector";
    if rest.part(field) != was.part(field) {
        let kept =
            was.map(field).iter().all(|(key, value)| rest.map(field).get(key) == Some(value));
        if !kept {
            let detail =
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
            e.invalid(&at.child(field), rest.part(field).clone(), detail);
        }
        take(rest, was, field);
    }
    let (affinity, then) = (rest.part("affinity"), was.part("affinity"));
    let (now, then_nodes) = (affinity.part("nodeAffinity"), then.part("nodeAffinity"));
    if now == then_nodes {
        return;
    }
    let at = at.child("affinity");
    node_affinity(e, &at.child("nodeAffinity"), now, then_nodes);
    let only_nodes =
        affinity.some("podAffinity").is_none() && affinity.some("podAntiAffinity").is_none();
    if then.is_null() && only_nodes {
        take(rest, was, "affinity");
    } else if affinity.is_null() {
        let kept = serde_json::json!({"nodeAffinity": then_nodes});
        if let Value::Object(fields) = rest {
            fields.insert("affinity".to_owned(), kept);
        }
    } else if let Some(affinity) = rest.get_mut("affinity") {
        take(affinity, then, "nodeAffinity");
    }
}

fn node_affinity(e: &mut Report, at: &Path<'_>, now: &Value, then: &Value) {
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    if then.some(required).is_none() {
        return;
    }
    let at = at.child(required);
    let at = at.child("nodeSelectorTerms");
    let (now, then) = (now.part(required), then.part(required));
    let (now, then) = (now.list("nodeSelectorTerms"), then.list("nodeSelectorTerms"));
    if !then.is_empty() && now.len() != then.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return e.invalid(&at, now.to_vec(), detail);
    }
    for (n, (now, then)) in now.iter().zip(then).enumerate() {
        let empty = |term: &Value| {
            term.list("matchExpressions").is_empty() && term.list("matchFields").is_empty()
        };
        let extends = |field: &str| now.list(field).starts_with(then.list(field));
        let fits =
            (empty(now) || !empty(then)) && extends("matchExpressions") && extends("matchFields");
        if !fits {
            let shown = internal::shown("core.NodeSelectorTerm", now);
            let detail = "only additions are allowed (no mutations or deletions)";
            e.invalid(&at.index(n), shown, detail);
        }
    }
}

pub(super) fn status(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    annotation_updates(e, new, old);
    let (status, was) = (new.part("status"), old.part("status"));
    let at = Path::new("status");
    let conditions = at.child("conditions");
    for (n, condition) in status.list("conditions").iter().enumerate() {
        let at = conditions.index(n);
        observed(e, &at, condition);
        let of = condition.text("type");
        if !matches!(of, "PodScheduled" | "Ready" | "Initialized") {
            e.form(&at.child("Type"), of, format::qualified_name);
        }
    }
    if new.part("spec").text("nodeName") != old.part("spec").text("nodeName") {
        e.forbidden(&at.child("nodeName"), "may not be changed directly");
    }
    let nominated = status.text("nominatedNodeName");
    if nominated != was.text("nominatedNodeName") && !nominated.is_empty() {
        let at = at.child("nominatedNodeName");
        e.form(&at, nominated, format::dns_subdomain);
        if !old.part("spec").text("nodeName").is_empty() {
            e.forbidden(&at, "may not be set on pods that are already bound to a node");
        }
    }
    observed(e, &at, status);
    e.immutable(&at.child("qosClass"), status.part("qosClass"), was.part("qosClass"));
    for (field, list) in
        [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")]
    {
        restarts(
            e,
            &at.child(field),
            (status.list(field), was.list(field)),
            old.part("spec"),
            list,
        );
    }
    let field = "ephemeralContainerStatuses";
    let ended = |of: &Value| of.part("state").some("terminated").is_some();
    for (n, before) in was.list(field).iter().enumerate().filter(|(_, before)| ended(before)) {
        let name = before.text("name");
        if status.list(field).iter().any(|now| now.text("name") == name && !ended(now)) {
            e.forbidden(&at.child(field).index(n).child("state"), ENDED);
        }
    }
    claim_statuses(e, &at.child("resourceClaimStatuses"), new);
    addresses(e, &at, status, was);
}

/// Claims that were made for a pod.
fn claim_statuses(e: &mut Report, at: &Path<'_>, pod: &Value) {
    let claims = pod.part("spec").list("resourceClaims");
    let mut seen = BTreeSet::new();
    for (n, status) in pod.part("status").list("resourceClaimStatuses").iter().enumerate() {
        let at = at.index(n);
        let (at, name) = (at.child("name"), status.text("name"));
        if !claims.iter().any(|claim| claim.text("name") == name) {
            e.invalid(&at, name, "must match the name of an entry in `spec.resourceClaims`");
        }
        if !seen.insert(name) {
            e.duplicate(&at, name);
        }
        if let Some(claim) = status.text_given("resourceClaimName") {
            e.form(&at, claim, format::dns_subdomain);
        }
    }
}

fn observed(e: &mut Report, at: &Path<'_>, of: &Value) {
    let generation = of.int("observedGeneration");
    if generation < 0 {
        e.invalid(&at.child("observedGeneration"), generation, "must be a non-negative integer");
    }
}

/// A container that has ended runs again only if its pod says so.
fn restarts(
    e: &mut Report,
    at: &Path<'_>,
    (now, then): (&[Value], &[Value]),
    spec: &Value,
    list: &str,
) {
    let ended = |status: &Value| status.part("state").some("terminated").is_some();
    for (n, was) in then.iter().enumerate().filter(|(_, was)| ended(was)) {
        let name = was.text("name");
        let runs = now.iter().find(|status| status.text("name") == name && !ended(status));
        if runs.is_none() {
            continue;
        }
        let code = was.part("state").part("terminated").int("exitCode");
        let container = spec.list(list).iter().find(|container| container.text("name") == name);
        let own = container.and_then(|container| container.text_given("restartPolicy"));
        let allowed = container.is_some()
            && match own.unwrap_or_else(|| spec.text("restartPolicy")) {
                "Always" => true,
                "OnFailure" => code != 0,
                _ => false,
            };
        if !allowed {
            e.forbidden(&at.index(n).child("state"), ENDED);
        }
    }
}

fn addresses(e: &mut Report, at: &Path<'_>, status: &Value, was: &Value) {
    for (field, of) in [("podIPs", "core.PodIP"), ("hostIPs", "core.HostIP")] {
        let at = at.child(field);
        let addresses = status.list(field);
        if field == "hostIPs" {
            let first = addresses.first().map(|address| address.text("ip"));
            if let Some(first) = first.filter(|first| *first != status.text("hostIP")) {
                let at = at.index(0);
                e.invalid(&at.child("ip"), first, "must be equal to `hostIP`");
            }
        }
        let known: Vec<&str> = was.list(field).iter().map(|address| address.text("ip")).collect();
        for (n, address) in addresses.iter().enumerate() {
            e.ip(&at.index(n), address.text("ip"), &known);
        }
        if addresses.len() > 1 {
            let texts = addresses.iter().map(|address| address.text("ip"));
            if !address::is_dual_stack(texts) || addresses.len() > 2 {
                let shown = internal::shown_list(of, addresses);
                let detail = "may specify no more than one IP for each IP family";
                e.invalid(&at, shown, detail);
            }
        }
    }
}

pub(super) fn ephemeral_containers(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    pod::meta_and_spec(e, new);
    annotation_updates(e, new, old);
    let at = Path::new("spec");
    let at = at.child("ephemeralContainers");
    let now = new.part("spec").list("ephemeralContainers");
    for was in old.part("spec").list("ephemeralContainers") {
        let name = was.text("name");
        match now.iter().find(|container| container.text("name") == name) {
            None => {
                let detail = format!("existing ephemeral containers {name:?} may not be removed\n");
                e.forbidden(&at, detail);
            }
            Some(container) if container != was => {
                let shown = difference("core.EphemeralContainer", was, container);
                let detail =
                    format!("existing ephemeral containers {name:?} may not be changed\n{shown}");
                e.forbidden(&at, detail);
            }
            Some(_) => {}
        }
    }
}

pub(super) fn resize(e: &mut Report, new: &Value, old: &Value) {
    meta::check_update(e, new, old);
    pod::meta_and_spec(e, new);
    let at = Path::new("spec");
    let (spec, was) = (new.part("spec"), old.part("spec"));
    if old.part("metadata").part("annotations").some(MIRROR).is_some() {
        e.truncate(0);
        return e.forbidden(&Path::new("[]"), "static pods cannot be resized");
    }
    if was.part("os").text("name") == "windows" {
        e.truncate(0);
        return e.forbidden(&Path::new("[]"), "windows pods cannot be resized");
    }
    if prepare::quality_of_service(old) != prepare::quality_of_service(new) {
        let class = new.part("status").text("qosClass");
        e.invalid(&at, class, "Pod QOS Class may not change as a result of resizing");
    }
    let set = |spec: &Value| {
        let own = spec.part("resources");
        !own.map("requests").is_empty() || !own.map("limits").is_empty()
    };
    if set(spec) || set(was) {
        let detail = "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled";
        return e.forbidden(&Path::new("[]"), detail);
    }
    let before = e.len();
    for list in ["containers", "initContainers"] {
        let at = at.child(list);
        let (now, then) = (spec.list(list), was.list(list));
        if now.len() != then.len() {
            e.forbidden(&at, format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (n, (now, then)) in now.iter().zip(then).enumerate() {
            if now.text("name") != then.text("name") {
                let detail = format!("{list} may not be renamed or reordered on resize");
                e.forbidden(&at.index(n).child("name"), detail);
            }
        }
    }
    if e.len() != before {
        return;
    }
    for list in ["initContainers", "containers"] {
        let at = at.child(list);
        for (n, (now, then)) in spec.list(list).iter().zip(was.list(list)).enumerate() {
            let sidecar = then.text("restartPolicy") == "Always";
            if list == "containers" || sidecar {
                removed(e, &at.index(n).child("resources"), now, then);
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for (now, then) in spec.list(list).iter().zip(was.list(list)) {
            let sidecar = now.text("restartPolicy") == "Always";
            let detail = match list {
                "containers" => "only cpu and memory resources are mutable",
                _ if sidecar => "only cpu and memory resources for sidecar containers are mutable",
                _ => "resources for non-sidecar init containers are immutable",
            };
            let resizable = list == "containers" || sidecar;
            let same =
                if resizable { without_compute(now) == without_compute(then) } else { now == then };
            if !same {
                e.push(FieldError::forbidden(&at, detail));
            }
        }
    }
}

fn removed(e: &mut Report, at: &Path<'_>, now: &Value, then: &Value) {
    for (field, what) in [("requests", "requests"), ("limits", "limits")] {
        let (now, then) = (now.part("resources").map(field), then.part("resources").map(field));
        if then.keys().any(|name| !now.contains_key(name)) {
            e.forbidden(&at.child(field), format!("resource {what} cannot be removed"));
        }
    }
}

/// A container without what may be resized.
fn without_compute(container: &Value) -> Value {
    let mut container = container.clone();
    let resources = container.get_mut("resources").and_then(Value::as_object_mut);
    if let Some(resources) = resources {
        for field in ["requests", "limits"] {
            let Some(Value::Object(list)) = resources.get_mut(field) else { continue };
            list.remove("cpu");
            list.remove("memory");
            if list.is_empty() {
                resources.remove(field);
            }
        }
    }
    container
}
