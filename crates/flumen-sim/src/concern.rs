//! Which objects are to be looked at again when another changes.

use serde_json::Value;

use crate::{
    accounts,
    kind::{Id, Kind},
    node,
    object::{self, items, map, text},
    selector,
    world::World,
};

/// Whether objects of a kind are kept. Of some kinds, only those that controllers write.
pub(crate) fn is_followed(kind: Kind, name: &str) -> bool {
    match kind {
        Kind::ConfigMap => name == accounts::ROOT_CA,
        Kind::ServiceAccount => name == "default",
        Kind::Lease => name == node::NAME,
        Kind::Event => false,
        _ => true,
    }
}

/// Kinds that take over pods without a controller.
const ADOPTERS: [Kind; 5] =
    [Kind::ReplicaSet, Kind::ReplicationController, Kind::StatefulSet, Kind::DaemonSet, Kind::Job];

/// The object itself, its controller, and those that look at it.
pub(crate) fn concerned(world: &World, kind: Kind, changed: &Value) -> Vec<Id> {
    let mut ids = vec![Id::of(kind, changed)];
    let namespace = object::namespace(changed);
    let named = |kind: Kind, name: &str| Id::new(kind, namespace, name);
    let all = |kind: Kind| world.ids(kind, namespace).cloned();
    if let Some(owner) = object::controller(changed) {
        ids.extend(Kind::of(owner).map(|owner_kind| named(owner_kind, text(owner, "/name"))));
    }
    match kind {
        Kind::Pod => {
            let labels = map(changed, "/metadata/labels");
            let services = world.list(Kind::Service, namespace);
            let serving = services.filter(|s| selector::contains(labels, map(s, "/spec/selector")));
            ids.extend(serving.map(|service| Id::of(Kind::Service, service)));
            ids.extend(all(Kind::PodDisruptionBudget));
            ids.extend(claims(changed).map(|claim| named(Kind::PersistentVolumeClaim, claim)));
            if object::controller(changed).is_none() {
                ids.extend(ADOPTERS.into_iter().flat_map(all));
            }
        }
        Kind::ReplicaSet if object::controller(changed).is_none() => {
            ids.extend(all(Kind::Deployment));
        }
        Kind::ServiceAccount | Kind::ConfigMap => ids.push(Id::new(Kind::Namespace, "", namespace)),
        Kind::ClusterRole => {
            let roles = world.all(Kind::ClusterRole);
            let aggregated = roles.filter(|role| role.get("aggregationRule").is_some());
            ids.extend(aggregated.map(|role| Id::of(Kind::ClusterRole, role)));
        }
        Kind::Endpoints | Kind::EndpointSlice => {
            let service = object::label(changed, "kubernetes.io/service-name")
                .unwrap_or(object::name(changed));
            ids.push(named(Kind::Service, service));
        }
        Kind::PersistentVolume => {
            let claim = changed.pointer("/spec/claimRef").unwrap_or(&Value::Null);
            let (namespace, name) = (text(claim, "/namespace"), text(claim, "/name"));
            ids.push(Id::new(Kind::PersistentVolumeClaim, namespace, name));
        }
        Kind::PersistentVolumeClaim => {
            ids.push(Id::new(Kind::PersistentVolume, "", text(changed, "/spec/volumeName")));
            let pods = world.list(Kind::Pod, namespace);
            let users = pods.filter(|pod| claims(pod).any(|claim| claim == object::name(changed)));
            ids.extend(users.map(|pod| Id::of(Kind::Pod, pod)));
        }
        Kind::StorageClass => {
            let waiting = world.all(Kind::PersistentVolumeClaim);
            ids.extend(waiting.map(|claim| Id::of(Kind::PersistentVolumeClaim, claim)));
            ids.push(Id::new(Kind::Namespace, "", "kube-system"));
        }
        Kind::Node | Kind::Lease => {
            ids.push(Id::new(Kind::Namespace, "", "kube-node-lease"));
            let sets = world.all(Kind::DaemonSet).filter(|_| kind == Kind::Node);
            ids.extend(sets.map(|set| Id::of(Kind::DaemonSet, set)));
        }
        Kind::Service => ids.push(named(Kind::Endpoints, object::name(changed))),
        _ => {}
    }
    ids
}

/// The quotas of a namespace, which any object in it may use.
pub(crate) fn quotas<'a>(world: &'a World, namespace: &'a str) -> impl Iterator<Item = Id> + 'a {
    world.ids(Kind::ResourceQuota, namespace).cloned()
}

/// The claims that a pod uses.
pub(crate) fn claims(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = items(pod, "/spec/volumes").iter();
    volumes.map(|v| text(v, "/persistentVolumeClaim/claimName")).filter(|name| !name.is_empty())
}
