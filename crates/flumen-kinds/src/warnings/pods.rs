//! Pods and templates of pods.

use std::collections::{BTreeMap, BTreeSet};

use flumen_fields::Path;
use serde_json::Value;

use super::{addresses, claim, fraction, node_term, old_label};
use crate::read::Read;
use crate::validate::{label_value, visit_containers};

const NO_POD: &str = "a null labelSelector results in matching no pod";
const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const SECCOMP_TEXT: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Pod,
    Template,
}

pub(super) fn check(found: &mut Vec<String>, at: &Path<'_>, pod: &Value, of: Of) {
    let spec = pod.part("spec");
    let spec_at = at.child("spec");
    for key in spec.map("nodeSelector").keys() {
        if let Some(text) = old_label(key) {
            found.push(format!("{}: {text}", spec_at.child("nodeSelector").key(key)));
        }
    }
    affinity_of_nodes(found, &spec_at, spec);
    spread(found, &spec_at.child("topologySpreadConstraints"), spec);
    let metadata = at.child("metadata");
    let annotations = metadata.child("annotations");
    old_annotations(found, &annotations, pod);
    volumes(found, &spec_at.child("volumes"), spec.list("volumes"));
    overlaps(found, spec.list("volumes"));
    repeated(found, &spec_at, spec);
    for resource in ["memory", "ephemeral-storage"] {
        fraction(found, &spec_at.child("overhead"), spec.part("overhead"), resource);
    }
    let known = pod.part("metadata").part("annotations");
    let context = spec.part("securityContext");
    if context.some("seccompProfile").is_none() && known.some(SECCOMP).is_some() {
        found.push(format!("{}: {SECCOMP_TEXT}", annotations.key(SECCOMP)));
    }
    for (list, n, container) in visit_containers(spec) {
        let list = spec_at.child(list);
        let own = container.part("securityContext");
        let key = format!("{SECCOMP_CONTAINER}{}", container.text("name"));
        if own.some("seccompProfile").is_none() && known.some(&key).is_some() {
            found.push(format!("{}: {SECCOMP_TEXT}", annotations.key(&key)));
        }
        let key = format!("{APP_ARMOR}{}", container.text("name"));
        let named = own.some("appArmorProfile").or(context.some("appArmorProfile")).is_some();
        if known.some(&key).is_some() && !named {
            let text = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
            let at = if of == Of::Pod { Path::new("metadata") } else { metadata };
            found.push(format!("{}: {text}", at.child("annotations").key(&key)));
        }
        self::container(found, &list.index(n), container);
    }
    ports(found, &spec_at, spec);
    if spec.int("terminationGracePeriodSeconds") < 0 {
        let at = spec_at.child("terminationGracePeriodSeconds");
        found.push(format!(
            "{at}: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    affinity_of_pods(found, &spec_at, spec);
    let config_at = spec_at.child("dnsConfig");
    let servers_at = config_at.child("nameservers");
    for (n, server) in spec.part("dnsConfig").texts("nameservers").enumerate() {
        addresses::ip(found, &servers_at.index(n), server);
    }
    let aliases_at = spec_at.child("hostAliases");
    for (n, alias) in spec.list("hostAliases").iter().enumerate() {
        addresses::ip(found, &aliases_at.index(n).child("ip"), alias.text("ip"));
    }
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn affinity_of_nodes(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let nodes = spec.part("affinity").part("nodeAffinity");
    let at = at.child("affinity");
    let at = at.child("nodeAffinity");
    let required = at.child(REQUIRED);
    let terms_at = required.child("nodeSelectorTerms");
    for (n, term) in nodes.part(REQUIRED).list("nodeSelectorTerms").iter().enumerate() {
        node_term(found, &terms_at.index(n), term);
    }
    let preferred = at.child(PREFERRED);
    for (n, term) in nodes.list(PREFERRED).iter().enumerate() {
        let at = preferred.index(n);
        let at = at.child("preference");
        node_term(found, &at, term.part("preference"));
        let at = at.child("matchExpressions");
        for (n, expression) in term.part("preference").list("matchExpressions").iter().enumerate() {
            let at = at.index(n);
            let at = at.child("values");
            for (n, value) in expression.texts("values").enumerate() {
                for problem in label_value(value) {
                    found.push(format!("{}: {value} is invalid, {problem}", at.index(n)));
                }
            }
        }
    }
}

fn affinity_of_pods(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let at = at.child("affinity");
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = spec.part("affinity").part(kind);
        let at = at.child(kind);
        let required = at.child(REQUIRED);
        for (n, term) in pods.list(REQUIRED).iter().enumerate() {
            if term.some("labelSelector").is_none() {
                found.push(format!("{}: {NO_POD}", required.index(n).child("labelSelector")));
            }
        }
        let preferred = at.child(PREFERRED);
        for (n, term) in pods.list(PREFERRED).iter().enumerate() {
            if term.part("podAffinityTerm").some("labelSelector").is_none() {
                let at = preferred.index(n);
                let at = at.child("podAffinityTerm");
                found.push(format!("{}: {NO_POD}", at.child("labelSelector")));
            }
        }
    }
}

fn spread(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    for (n, constraint) in spec.list("topologySpreadConstraints").iter().enumerate() {
        let at = at.index(n);
        let key = constraint.text("topologyKey");
        if let Some(text) = old_label(key) {
            found.push(format!("{}: {key} is {text}", at.child("topologyKey")));
        }
        if constraint.some("labelSelector").is_none() {
            found.push(format!("{}: {NO_POD}", at.child("labelSelector")));
        }
    }
}

fn old_annotations(found: &mut Vec<String>, at: &Path<'_>, pod: &Value) {
    let known = pod.part("metadata").part("annotations");
    let old = [
        (
            "scheduler.alpha.kubernetes.io/critical-pod",
            "non-functional in v1.16+; use the \"priorityClassName\" field instead",
        ),
        (
            "security.alpha.kubernetes.io/sysctls",
            "non-functional in v1.11+; use the \"sysctls\" field instead",
        ),
        (
            "security.alpha.kubernetes.io/unsafe-sysctls",
            "non-functional in v1.11+; use the \"sysctls\" field instead",
        ),
    ];
    for (key, text) in old {
        if known.some(key).is_some() {
            found.push(format!("{}: {text}", at.key(key)));
        }
    }
}

fn volumes(found: &mut Vec<String>, at: &Path<'_>, volumes: &[Value]) {
    let first = [
        (
            "photonPersistentDisk",
            "photonPersistentDisk",
            "deprecated in v1.11, non-functional in v1.16+",
        ),
        ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
        ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
        ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
        ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
        ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
        ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ];
    let last = [
        ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
        ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ];
    for (n, volume) in volumes.iter().enumerate() {
        let at = at.index(n);
        let mut gone = |(field, shown, text): (&str, &str, &str)| {
            if volume.some(field).is_some() {
                found.push(format!("{}: {text}", at.child(shown)));
            }
        };
        first.into_iter().for_each(&mut gone);
        if let Some(template) = volume.part("ephemeral").some("volumeClaimTemplate") {
            let at = at.child("ephemeral");
            let at = at.child("volumeClaimTemplate");
            claim(found, &at.child("spec"), template.part("spec"));
        }
        let mut gone = |(field, shown, text): (&str, &str, &str)| {
            if volume.some(field).is_some() {
                found.push(format!("{}: {text}", at.child(shown)));
            }
        };
        last.into_iter().for_each(&mut gone);
    }
}

/// Files of a volume that hide each other.
fn overlaps(found: &mut Vec<String>, volumes: &[Value]) {
    for volume in volumes {
        let name = volume.text("name");
        let single = [
            ("configMap", format!("ConfigMap {:?}", volume.part("configMap").text("name"))),
            ("secret", format!("Secret {:?}", volume.part("secret").text("secretName"))),
            ("downwardAPI", "DownwardAPI".to_owned()),
        ];
        for (field, what) in single {
            let mut files = Files::default();
            for item in volume.part(field).list("items") {
                for overlap in files.add(item.text("path"), "") {
                    found.push(format!("volume {name:?} ({what}): overlapping paths: {overlap}"));
                }
            }
        }
        let mut files = Files::default();
        for source in volume.part("projected").list("sources") {
            if source.as_object().is_none_or(serde_json::Map::is_empty) {
                found.push(format!("volume {name:?} (Projected) has no sources provided"));
                continue;
            }
            for (path, what) in projected(source) {
                for overlap in files.add(path, &what) {
                    found
                        .push(format!("volume {name:?} (Projected): overlapping paths: {overlap}"));
                }
            }
        }
    }
}

fn projected(source: &Value) -> Vec<(&str, String)> {
    let items = |field: &str, what: String| {
        let items = source.part(field).list("items").iter();
        items.map(|item| (item.text("path"), what.clone())).collect()
    };
    for (field, what) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        if let Some(inner) = source.some(field) {
            return items(field, format!("{what} {:?}", inner.text("name")));
        }
    }
    if source.some("downwardAPI").is_some() {
        return items("downwardAPI", "DownwardAPI".to_owned());
    }
    if let Some(token) = source.some("serviceAccountToken") {
        return vec![(token.text("path"), "ServiceAccountToken".to_owned())];
    }
    Vec::new()
}

#[derive(Default)]
struct Files<'a>(Vec<(&'a str, String)>);

impl<'a> Files<'a> {
    /// Adds a file; answers what it overlaps with.
    fn add(&mut self, path: &'a str, what: &str) -> Vec<String> {
        let path = path.trim_end_matches('/');
        let shown = |path: &str, what: &str| match what {
            "" => format!("{path:?}"),
            what => format!("{path:?} ({what})"),
        };
        let below = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let collides = |(other, _): &&(&str, String)| {
            !path.is_empty() && !other.is_empty() && (below(other, path) || below(path, other))
        };
        let overlaps = self.0.iter().filter(collides);
        let overlaps = overlaps
            .map(|(other, source)| format!("{} with {}", shown(path, what), shown(other, source)));
        let overlaps = overlaps.collect();
        self.0.push((path, what.to_owned()));
        overlaps
    }
}

fn repeated(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let at = at.child(list);
        let mut seen = BTreeSet::new();
        for (n, item) in spec.list(list).iter().enumerate() {
            let value = item.text(field);
            if !seen.insert(value) {
                found.push(format!("{}: duplicate {field} {value:?}", at.index(n).child(field)));
            }
        }
    }
    let at = at.child("imagePullSecrets");
    for (n, secret) in spec.list("imagePullSecrets").iter().enumerate() {
        if secret.text("name").is_empty() {
            found.push(format!("{}: invalid empty name \"\"", at.index(n).child("name")));
        }
    }
}

fn container(found: &mut Vec<String>, at: &Path<'_>, container: &Value) {
    let resources = container.part("resources");
    let resources_at = at.child("resources");
    for resource in ["memory", "ephemeral-storage"] {
        for field in ["limits", "requests"] {
            fraction(found, &resources_at.child(field), resources.part(field), resource);
        }
    }
    let env_at = at.child("env");
    let mut names = BTreeSet::new();
    for (n, variable) in container.list("env").iter().enumerate() {
        let name = variable.text("name");
        if names.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let value = variable.text("value");
        let extends = variable.some("valueFrom").is_none()
            && value != reference
            && value.contains(&reference);
        if !extends {
            found.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                env_at.index(n)
            ));
        }
    }
}

/// A port that was seen: where, and at which address and port of the host.
type Taken<'a> = (String, &'a str, i64);

fn ports(found: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    let mut known: BTreeMap<(i64, &str), Vec<Taken<'_>>> = BTreeMap::new();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    let mut named = Vec::new();
    for (list, n, container) in visit_containers(spec) {
        let list = at.child(list);
        let at = list.index(n);
        let at = at.child("ports");
        for (n, port) in container.list("ports").iter().enumerate() {
            let place = at.index(n).to_string();
            let (ip, host) = (port.text("hostIP"), port.int("hostPort"));
            if !ip.is_empty() && host == 0 {
                found.push(format!(
                    "{place}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{ip}}}",
                    port.text("name"), port.int("containerPort"), port.text("protocol")
                ));
            }
            let others =
                known.entry((port.int("containerPort"), port.text("protocol"))).or_default();
            for (other, other_ip, other_host) in others.iter() {
                let how = if ip == *other_ip && host == *other_host {
                    "duplicate"
                } else if host == 0 || *other_host == 0 {
                    "overlapping"
                } else if host == *other_host && ip.is_empty() != other_ip.is_empty() {
                    "dangerously ambiguous"
                } else {
                    continue;
                };
                found.push(format!("{place}: {how} port definition with {other}"));
            }
            others.push((place.clone(), ip, host));
            let name = port.text("name");
            if name.is_empty() {
                continue;
            }
            match names.get(name) {
                Some(other) => named.push(format!("{place}: duplicate port name {name:?} with {other}, services and probes that select ports by name will use {other}")),
                None => {
                    names.insert(name, place);
                }
            }
        }
    }
    found.append(&mut named);
}
