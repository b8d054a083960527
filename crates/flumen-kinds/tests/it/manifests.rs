//! Manifests that a server accepts, put together at random from a table.

use flumen_schema::api::{Api, ApiKind};
use flumen_testkit::Random;
use serde_json::{Value, json};

struct Base {
    kind: &'static ApiKind,
    manifest: Value,
}

/// What may be added to the manifests of a kind, or to every pod.
struct Addition {
    kind: &'static str,
    place: &'static str,
    value: Value,
}

/// The table of manifests.
pub(crate) struct Manifests {
    bases: Vec<Base>,
    additions: Vec<Addition>,
}

impl Manifests {
    pub(crate) fn read() -> Self {
        let (mut bases, mut additions) = (Vec::new(), Vec::new());
        let lines = include_str!("manifests.txt").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let mut words = line.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_else(|| panic!("{line} has four words"));
            let (what, first, second, json) = (word(), word(), word(), word());
            let value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{line}: {e}"));
            if what == "base" {
                let (group, version) = first.split_once('/').unwrap_or(("", first));
                let kind = Api::get().kind(group, version, second);
                let kind = kind.unwrap_or_else(|| panic!("{second} is not served"));
                bases.push(Base { kind, manifest: value });
            } else {
                additions.push(Addition { kind: first, place: second, value });
            }
        }
        Self { bases, additions }
    }

    /// A manifest with some of what may be added to it.
    pub(crate) fn pick(&self, random: &mut Random) -> (&'static ApiKind, Value) {
        let Base { kind, manifest } = random.pick(&self.bases);
        let mut manifest = manifest.clone();
        manifest["metadata"] = json!({ "name": "a" });
        let pod = pod_of(kind);
        for addition in &self.additions {
            let place = match (addition.kind, pod) {
                (of, _) if of == kind.kind => addition.place.to_owned(),
                ("pod", Some(pod)) => format!("{pod}{}", addition.place),
                _ => continue,
            };
            if random.one_in(6) {
                put(&mut manifest, &place, addition.value.clone());
            }
        }
        (kind, manifest)
    }
}

fn pod_of(kind: &ApiKind) -> Option<&'static str> {
    match kind.kind {
        "Pod" => Some("/spec"),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController" => {
            Some("/spec/template/spec")
        }
        "CronJob" => Some("/spec/jobTemplate/spec/template/spec"),
        "PodTemplate" => Some("/template/spec"),
        _ => None,
    }
}

fn put(manifest: &mut Value, place: &str, value: Value) {
    let (parent, name) = place.rsplit_once('/').expect("a place begins with a slash");
    match manifest.pointer_mut(parent) {
        Some(Value::Array(items)) => items.push(value),
        Some(parent) => parent[name] = value,
        None => panic!("there is no {parent}"),
    }
}
