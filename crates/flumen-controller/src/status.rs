//! Writing what is known of an object back into it.

use std::sync::Arc;

use flumen_api::Kind;
use flumen_kube::{Client, Cluster as _, Error, ObjectName, PatchType, Resource};
use flumen_object::Gvk;
use flumen_yaml::Node;
use serde_json::json;

use crate::{
    cache::Reflected,
    json::{merge_patch, tree},
    queue::Next,
};

/// The finalizer of everything that leaves something behind.
const FINALIZER: &str = "finalizers.fluxcd.io";
/// The annotation that asks for a pass.
const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

/// How a kind that we define is served; the server need not be asked.
pub(crate) fn resource<K: Kind>() -> Resource {
    Resource {
        gvk: Gvk::new(&K::api_version().into(), K::KIND.into()),
        plural: K::PLURAL.into(),
        namespaced: true,
        verbs: [].into(),
    }
}

/// What a user has asked for with the annotation, if anything.
pub(crate) fn requested_at<K: Kind>(object: &K) -> Option<&String> {
    object.metadata().annotations.get(REQUESTED_AT)
}

/// Writes what differs between two states of one object's status. `None` when nothing does.
pub(crate) async fn write<K: Kind>(
    client: &Client,
    before: &K,
    after: &K,
    manager: &str,
) -> Result<Option<Node>, Error> {
    let status = |object: &K| object.status().unwrap_or_else(|_| json!({}));
    let Some(patch) = merge_patch(&status(before), &status(after)) else { return Ok(None) };
    let resource = resource::<K>();
    let object = name(&resource, after);
    let body = tree(&json!({ "status": patch }));
    client.patch_status(object, &body, manager).await.map(Some)
}

/// The object with our finalizer, which is added if it is not there. An error is what is to happen instead of a pass.
pub(crate) async fn with_finalizer<K: Kind>(
    client: &Client,
    reflected: &Reflected<K>,
    object: Arc<K>,
    manager: &str,
) -> Result<Arc<K>, Next> {
    let metadata = object.metadata();
    if has_finalizer(object.as_ref()) {
        return Ok(object);
    }
    match set_finalizer(client, object.as_ref(), true, manager).await {
        Ok(node) => reflected.saw(&node),
        Err(error) if error.is_not_found() => return Err(Next::Rest),
        // What has changed is on its way to us, and may ask for no pass by itself.
        Err(error) if error.is_conflict() => return Err(Next::Retry),
        Err(error) => {
            let (kind, namespace, name) = (K::KIND, &metadata.namespace, &metadata.name);
            tracing::error!(object = %format!("{kind}/{namespace}/{name}"), %error, "cannot add the finalizer");
            return Err(Next::Retry);
        }
    }
    match reflected.get(&metadata.namespace, &metadata.name) {
        Some(Ok(object)) => Ok(object),
        _ => Err(Next::Now),
    }
}

pub(crate) fn has_finalizer<K: Kind>(object: &K) -> bool {
    object.metadata().finalizers.iter().any(|name| name == FINALIZER)
}

/// Adds or removes our finalizer. The object must be as we know it: another's finalizer is never overwritten.
pub(crate) async fn set_finalizer<K: Kind>(
    client: &Client,
    object: &K,
    is_set: bool,
    manager: &str,
) -> Result<Node, Error> {
    let metadata = object.metadata();
    let mut finalizers: Vec<&str> = metadata.finalizers.iter().map(String::as_str).collect();
    finalizers.retain(|name| *name != FINALIZER);
    if is_set {
        finalizers.push(FINALIZER);
    }
    let patch = json!({"metadata": {
        "finalizers": finalizers,
        "resourceVersion": metadata.resource_version,
    }});
    let resource = resource::<K>();
    client.patch(name(&resource, object), PatchType::Merge, &tree(&patch), manager).await
}

fn name<'a, K: Kind>(resource: &'a Resource, object: &'a K) -> ObjectName<'a> {
    let metadata = object.metadata();
    ObjectName { resource, namespace: &metadata.namespace, name: &metadata.name }
}
