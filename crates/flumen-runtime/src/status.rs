//! Writes of statuses and finalizers.

use std::sync::Arc;

use flumen_api::Kind;
use flumen_kube::{Client, Cluster as _, Error, ObjectName, PatchType, Resource};
use flumen_yaml::Node;
use serde_json::json;

use crate::{
    KindInfo, Store,
    json::{merge_patch, tree},
    queue::Requeue,
};

/// Writes the difference between two states of one object's status; `None` without one.
pub(crate) async fn write<K: Kind>(
    client: &Client,
    info: &KindInfo,
    before: &K,
    after: &K,
) -> Result<Option<Node>, Error> {
    let status = |object: &K| object.status().unwrap_or_else(|_| json!({}));
    let Some(patch) = merge_patch(&status(before), &status(after)) else { return Ok(None) };
    let resource = info.resource();
    let object = name(&resource, after);
    let body = tree(&json!({ "status": patch }));
    client.patch_status(object, &body, info.status_manager).await.map(Some)
}

/// Returns the object with our finalizer, which is added if it is missing. An error is the requeue instead of a
/// reconciliation.
pub(crate) async fn with_finalizer<K: Kind>(
    client: &Client,
    store: &Store<K>,
    info: &KindInfo,
    object: Arc<K>,
) -> Result<Arc<K>, Requeue> {
    let metadata = object.metadata();
    if has_finalizer(info, object.as_ref()) {
        return Ok(object);
    }
    match set_finalizer(client, info, object.as_ref(), true).await {
        Ok(node) => store.update(&node),
        Err(error) if error.is_not_found() => return Err(Requeue::Never),
        // The watch event of the other change may not trigger a reconciliation.
        Err(error) if error.is_conflict() => return Err(Requeue::Backoff),
        Err(error) => {
            let (kind, namespace, name) = (K::KIND, &metadata.namespace, &metadata.name);
            tracing::error!(object = %format!("{kind}/{namespace}/{name}"), %error, "cannot add the finalizer");
            return Err(Requeue::Backoff);
        }
    }
    match store.get(&metadata.namespace, &metadata.name) {
        Some(Ok(object)) => Ok(object),
        _ => Err(Requeue::Now),
    }
}

/// Whether an object is held until its reconciler has finalized it.
pub fn has_finalizer<K: Kind>(info: &KindInfo, object: &K) -> bool {
    object.metadata().finalizers.iter().any(|name| name == info.finalizer)
}

/// Adds or removes our finalizer. The patch names the revision that we know: finalizers of others are never overwritten.
pub(crate) async fn set_finalizer<K: Kind>(
    client: &Client,
    info: &KindInfo,
    object: &K,
    is_set: bool,
) -> Result<Node, Error> {
    let metadata = object.metadata();
    let mut finalizers: Vec<&str> = metadata.finalizers.iter().map(String::as_str).collect();
    finalizers.retain(|name| *name != info.finalizer);
    if is_set {
        finalizers.push(info.finalizer);
    }
    let patch = json!({"metadata": {
        "finalizers": finalizers,
        "resourceVersion": metadata.resource_version,
    }});
    let resource = info.resource();
    let object = name(&resource, object);
    client.patch(object, PatchType::Merge, &tree(&patch), info.status_manager).await
}

fn name<'a, K: Kind>(resource: &'a Resource, object: &'a K) -> ObjectName<'a> {
    let metadata = object.metadata();
    ObjectName { resource, namespace: &metadata.namespace, name: &metadata.name }
}
