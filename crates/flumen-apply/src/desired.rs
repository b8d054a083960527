//! The objects of a run as they will be sent.

use std::collections::{BTreeMap, BTreeSet};

use flumen_diff::normalize;
use flumen_kube::{Cluster, Resource};
use flumen_object::{Gvk, Object, ObjectId, ObjectSet, Origin};
use flumen_yaml::{Node, Text};

use crate::{Error, Options};

/// What a manifest has that was read from a cluster, and what a server refuses or takes for a condition.
const OF_A_LIVE_OBJECT: [&str; 4] = ["generation", "managedFields", "resourceVersion", "uid"];

/// One object, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    pub(crate) id: ObjectId,
    /// `None` while the kind is not served.
    pub(crate) resource: Option<Resource>,
    pub(crate) body: Node,
    pub(crate) origin: Origin,
    /// A definition among the objects brings the kind.
    pub(crate) is_defined: bool,
}

/// Brings objects into the form in which they are sent, in the order of applying.
pub(crate) async fn prepare<C: Cluster>(
    cluster: &C,
    objects: ObjectSet,
    options: &Options,
) -> Result<Vec<Desired>, Error> {
    let scaled =
        if options.leave_scaled_replicas { scaled_workloads(&objects) } else { BTreeSet::new() };
    let defined = defined_scopes(&objects);
    let mut kinds: BTreeMap<Gvk, Option<Resource>> = BTreeMap::new();
    let mut desired = Vec::with_capacity(objects.len());
    for object in objects {
        let gvk = Gvk::of(&object.node);
        let resource = if let Some(known) = kinds.get(&gvk) {
            known.clone()
        } else {
            let found = cluster.resource(&gvk).await?;
            kinds.insert(gvk.clone(), found.clone());
            found
        };
        let namespaced = resource.as_ref().map(|resource| resource.namespaced);
        let scope = defined.get(&gvk).copied();
        let namespaced = namespaced.or(scope);
        let keeps_replicas = !scaled.contains(&ScaleTarget::of(&object));
        let mut one = Desired::new(object, resource, namespaced, keeps_replicas, options);
        one.is_defined = scope.is_some();
        desired.push(one);
    }
    desired.sort_by(|a, b| a.id.cmp_for_apply(&b.id));
    let twice = desired.windows(2).find(|pair| pair[0].id.cmp_for_apply(&pair[1].id).is_eq());
    if let Some([first, second]) = twice {
        return Err(Error::Duplicate {
            id: first.id.clone(),
            first: Box::new(first.origin.clone()),
            second: Box::new(second.origin.clone()),
        });
    }
    Ok(desired)
}

impl Desired {
    fn new(
        object: Object,
        resource: Option<Resource>,
        namespaced: Option<bool>,
        keeps_replicas: bool,
        options: &Options,
    ) -> Self {
        let Object { node: mut body, origin } = object;
        normalize(&mut body);
        if let Some(metadata) = body.get_mut("metadata").and_then(Node::as_map_mut) {
            metadata.retain(|entry| !OF_A_LIVE_OBJECT.contains(&entry.key.as_str()));
        }
        if !keeps_replicas && let Some(spec) = body.get_mut("spec").and_then(Node::as_map_mut) {
            spec.remove("replicas");
        }
        options.owner.marks(&mut body);
        let id = ObjectId::of(&body);
        let mut desired = Self { id, resource, body, origin, is_defined: false };
        desired.place(namespaced, options);
        desired
    }

    /// Gives the object a namespace or takes it away, as its kind demands, and settles its identity.
    pub(crate) fn place(&mut self, namespaced: Option<bool>, options: &Options) {
        if let Some(metadata) = self.body.get_mut("metadata").and_then(Node::as_map_mut) {
            let named = metadata.get("namespace").and_then(Node::as_str).unwrap_or_default();
            match (namespaced, &options.default_namespace) {
                (Some(false), _) if !named.is_empty() => {
                    metadata.remove("namespace");
                }
                (Some(true), Some(default)) if named.is_empty() => {
                    metadata.set("namespace", Node::string(default.as_str()));
                }
                _ => {}
            }
        }
        self.id = ObjectId::of(&self.body);
    }
}

/// A workload that something scales.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ScaleTarget {
    namespace: Text,
    kind: Text,
    name: Text,
}

impl ScaleTarget {
    fn of(object: &Object) -> Self {
        let id = object.id();
        Self { namespace: id.namespace, kind: id.gvk.kind, name: id.name }
    }
}

/// Workloads whose replicas belong to an autoscaler of the same set.
fn scaled_workloads(objects: &ObjectSet) -> BTreeSet<ScaleTarget> {
    let autoscalers = objects.iter().filter(|object| {
        object.node.get("kind").and_then(Node::as_str) == Some("HorizontalPodAutoscaler")
    });
    let target = |object: &Object| {
        let reference = object.node.at(&["spec", "scaleTargetRef"])?;
        Some(ScaleTarget {
            namespace: object.id().namespace,
            kind: reference.get("kind")?.text()?.clone(),
            name: reference.get("name")?.text()?.clone(),
        })
    };
    autoscalers.filter_map(target).collect()
}

/// Whether the kinds that the set itself defines have namespaces.
fn defined_scopes(objects: &ObjectSet) -> BTreeMap<Gvk, bool> {
    let definition = |object: &Object| {
        let spec = object.node.get("spec")?;
        let group = spec.get("group")?.text()?.clone();
        let kind = spec.at(&["names", "kind"])?.text()?.clone();
        let namespaced = spec.get("scope")?.as_str()? == "Namespaced";
        let served = spec.get("versions")?.as_seq()?.iter().filter(|version| {
            version.get("served").and_then(Node::as_str).is_some_and(|served| served == "true")
        });
        let versions = served.filter_map(|version| version.get("name")?.text().cloned());
        let gvk = |version| Gvk { group: group.clone(), version, kind: kind.clone() };
        Some(versions.map(|version| (gvk(version), namespaced)).collect::<Vec<_>>())
    };
    let definitions = objects.iter().filter(|object| {
        object.node.get("kind").and_then(Node::as_str) == Some("CustomResourceDefinition")
    });
    definitions.filter_map(definition).flatten().collect()
}
