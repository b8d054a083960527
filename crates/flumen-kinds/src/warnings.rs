//! What the server says about an object that it accepts all the same.

mod addresses;
mod pods;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flumen_fields::Path;
use flumen_schema::api::ApiKind;
use serde_json::Value;

use crate::read::{Read, is_integer, quantity};
use crate::validate::dns_label;
use crate::x509;

/// What the server says in every answer about a kind that is on its way out.
pub fn deprecation(kind: &ApiKind) -> Option<&'static str> {
    match (kind.group, kind.kind) {
        ("", "ComponentStatus") => Some("v1 ComponentStatus is deprecated in v1.19+"),
        ("", "Endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        _ => None,
    }
}

/// Texts for `Warning` headers, in their order. There is an old object in an update.
pub fn warnings(kind: &ApiKind, new: &Value, old: Option<&Value>) -> Vec<String> {
    let mut found = Vec::new();
    let spec = new.part("spec");
    match (kind.group, kind.kind) {
        ("", "Pod") if old.is_none() => {
            name(&mut found, new, "the Pod's hostname");
            pods::check(&mut found, &Path::ROOT, new, pods::Of::Pod);
        }
        ("", "PodTemplate") if changed(new, old) => {
            pods::check(
                &mut found,
                &Path::new("template"),
                new.part("template"),
                pods::Of::Template,
            );
        }
        ("", "ReplicationController") | ("apps", "Deployment" | "ReplicaSet") => {
            if old.is_none() {
                name(&mut found, new, "Pod names and hostnames");
            }
            template(&mut found, new, old);
        }
        ("apps", "DaemonSet") => template(&mut found, new, old),
        ("apps", "StatefulSet") => {
            template(&mut found, new, old);
            stateful_set(&mut found, spec, old);
        }
        ("batch", "Job") => {
            if old.is_none() {
                name(&mut found, new, "Pod names and hostnames");
            }
            if changed(new, old) {
                job(&mut found, &Path::new("spec"), spec);
            }
        }
        ("batch", "CronJob") => {
            if old.is_none() {
                name(&mut found, new, "Pod names and hostnames");
            }
            if changed(new, old) {
                let at = Path::new("spec");
                let at = at.child("jobTemplate");
                job(&mut found, &at.child("spec"), spec.part("jobTemplate").part("spec"));
            }
            if old.is_some() && spec.text("schedule").contains("TZ") {
                found.push("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details".into());
            }
        }
        ("", "Service") => addresses::service(&mut found, new),
        ("", "Endpoints") => addresses::endpoints(&mut found, new),
        ("discovery.k8s.io", "EndpointSlice") => addresses::slice(&mut found, new, old),
        ("networking.k8s.io", "NetworkPolicy") => addresses::network_policy(&mut found, spec),
        ("networking.k8s.io", "Ingress") if old.is_none() => {
            let key = "kubernetes.io/ingress.class";
            let annotated = new.part("metadata").part("annotations").some(key).is_some();
            if annotated && spec.some("ingressClassName").is_none() {
                found.push(format!(
                    "annotation {key:?} is deprecated, please use 'spec.ingressClassName' instead"
                ));
            }
        }
        ("", "Node") => {
            if !spec.text("externalID").is_empty() {
                let text = "spec.externalID: this field is deprecated, and is unused by Kubernetes";
                found.push(text.into());
            }
            addresses::ranges(&mut found, &Path::new("spec").child("podCIDRs"), spec, "podCIDRs");
        }
        ("", "ServiceAccount") => {
            let key = "kubernetes.io/enforce-mountable-secrets";
            let has =
                |object: &Value| object.part("metadata").part("annotations").some(key).is_some();
            if has(new) && !old.is_some_and(has) {
                found.push(format!("metadata.annotations[{key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"));
            }
        }
        ("", "PersistentVolumeClaim") => {
            annotation(&mut found, new, BETA_CLASS, CLASS_ATTRIBUTE);
            claim(&mut found, &Path::new("spec"), spec);
        }
        ("", "PersistentVolume") => volume(&mut found, new),
        ("", "Secret") if new.text("type") == "kubernetes.io/tls" => key_pair(&mut found, new),
        ("storage.k8s.io", "CSIDriver") => {
            let requests = spec.list("tokenRequests");
            let was = old.map_or(&[][..], |old| old.part("spec").list("tokenRequests"));
            let unsaid = spec.some("serviceAccountTokenInSecrets").is_none();
            if requests != was && !requests.is_empty() && unsaid {
                found.push("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes".into());
            }
        }
        ("storage.k8s.io", "StorageClass") => topologies(&mut found, new),
        ("node.k8s.io", "RuntimeClass") => {
            for key in new.part("scheduling").map("nodeSelector").keys() {
                if let Some(text) = old_label(key) {
                    found.push(format!("scheduling.nodeSelector: {text}"));
                }
            }
        }
        _ => {}
    }
    found
}

const BETA_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const CLASS_ATTRIBUTE: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";

/// Workloads speak up when what they want changes.
fn changed(new: &Value, old: Option<&Value>) -> bool {
    old.is_none_or(|old| {
        new.part("metadata").int("generation") != old.part("metadata").int("generation")
    })
}

fn name(found: &mut Vec<String>, object: &Value, used_in: &str) {
    let problems = dns_label(object.part("metadata").text("name"));
    if !problems.is_empty() {
        let problems = problems.join(" ");
        found.push(format!("metadata.name: this is used in {used_in}, which can result in surprising behavior; a DNS label is recommended: [{problems}]"));
    }
}

fn template(found: &mut Vec<String>, new: &Value, old: Option<&Value>) {
    if changed(new, old) {
        let at = Path::new("spec");
        let template = new.part("spec").part("template");
        pods::check(found, &at.child("template"), template, pods::Of::Template);
    }
}

fn stateful_set(found: &mut Vec<String>, spec: &Value, old: Option<&Value>) {
    let at = Path::new("spec");
    let at = at.child("volumeClaimTemplates");
    for (n, template) in spec.list("volumeClaimTemplates").iter().enumerate() {
        let at = at.index(n);
        if old.is_some() {
            claim(found, &at.child("Spec"), template.part("spec"));
        } else {
            claim(found, &at, template.part("spec"));
        }
    }
    if spec.int("revisionHistoryLimit") < 0 {
        found.push("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended".into());
    }
}

fn job(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let indexed = spec.text("completionMode") == "Indexed";
    if indexed && spec.int("completions") > 100_000 && spec.int("parallelism") > 10_000 {
        found.push(format!("{at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"));
    }
    pods::check(found, &at.child("template"), spec.part("template"), pods::Of::Template);
}

fn annotation(found: &mut Vec<String>, object: &Value, key: &str, text: &str) {
    if object.part("metadata").part("annotations").some(key).is_some() {
        found.push(format!("metadata.annotations[{key}]: {text}"));
    }
}

fn fraction(found: &mut Vec<String>, at: &Path<'_>, list: &Value, resource: &str) {
    if let Some(value) = list.some(resource)
        && !is_integer(&quantity(value))
    {
        let text = value.as_str().unwrap_or_default();
        let at = at.key(resource);
        found.push(format!("{at}: fractional byte value {text:?} is invalid, must be an integer"));
    }
}

/// The spec of a claim on storage.
fn claim(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let at = at.child("resources");
    for field in ["requests", "limits"] {
        fraction(found, &at.child(field), spec.part("resources").part(field), "storage");
    }
}

/// A certificate and its key have to fit.
fn key_pair(found: &mut Vec<String>, secret: &Value) {
    let bytes = |key: &str| STANDARD.decode(secret.part("data").text(key)).unwrap_or_default();
    found.extend(x509::key_pair_problem(&bytes("tls.crt"), &bytes("tls.key")));
}

fn volume(found: &mut Vec<String>, object: &Value) {
    annotation(found, object, BETA_CLASS, CLASS_ATTRIBUTE);
    let options = "volume.beta.kubernetes.io/mount-options";
    let text = "deprecated since v1.31; use \"mountOptions\" attribute instead";
    annotation(found, object, options, text);
    let spec = object.part("spec");
    if spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
        found.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".into());
    }
    let at = Path::new("spec");
    let affinity_at = at.child("nodeAffinity");
    let required_at = affinity_at.child("required");
    let terms_at = required_at.child("nodeSelectorTerms");
    let terms = spec.part("nodeAffinity").part("required").list("nodeSelectorTerms");
    for (n, term) in terms.iter().enumerate() {
        node_term(found, &terms_at.index(n), term);
    }
    let gone = [
        ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
        (
            "photonPersistentDisk",
            "photonPersistentDisk",
            "deprecated in v1.11, non-functional in v1.16+",
        ),
        ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
        ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
        ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
        ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ];
    for (field, shown, text) in gone {
        if spec.some(field).is_some() {
            found.push(format!("{}: {text}", at.child(shown)));
        }
    }
}

fn topologies(found: &mut Vec<String>, object: &Value) {
    let at = Path::new("allowedTopologies");
    for (n, term) in object.list("allowedTopologies").iter().enumerate() {
        let at = at.index(n);
        let at = at.child("matchLabelExpressions");
        for (n, expression) in term.list("matchLabelExpressions").iter().enumerate() {
            let key = expression.text("key");
            if let Some(text) = old_label(key) {
                found.push(format!("{}: {text}", at.index(n).child("key")));
            }
        }
    }
}

fn node_term(found: &mut Vec<String>, at: &Path<'_>, term: &Value) {
    let at = at.child("matchExpressions");
    for (n, expression) in term.list("matchExpressions").iter().enumerate() {
        let key = expression.text("key");
        if let Some(text) = old_label(key) {
            found.push(format!("{}: {key} is {text}", at.index(n).child("key")));
        }
    }
}

/// Labels of nodes that have got other names.
fn old_label(key: &str) -> Option<&'static str> {
    Some(match key {
        "beta.kubernetes.io/arch" => "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
        "beta.kubernetes.io/os" => "deprecated since v1.14; use \"kubernetes.io/os\" instead",
        "failure-domain.beta.kubernetes.io/region" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"
        }
        "failure-domain.beta.kubernetes.io/zone" => {
            "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"
        }
        "beta.kubernetes.io/instance-type" => {
            "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"
        }
        "app.kubernetes.io/created-by" => "deprecated since v1.9",
        "scheduler.alpha.kubernetes.io/preferAvoidPods" => {
            "deprecated since v1.22; use Taints and Tolerations instead"
        }
        "node-role.kubernetes.io/master" => "use \"node-role.kubernetes.io/control-plane\" instead",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
