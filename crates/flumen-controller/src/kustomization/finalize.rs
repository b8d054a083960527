//! The end of a Kustomization: what it applied goes with it, if it says so.

use flumen_api::{DeletionPolicy, Kustomization, READY, condition};
use flumen_apply::{Change, Silent};

use super::{
    STATUS_MANAGER,
    outcome::close,
    settings::owner,
    store::{self, StatusStore},
    target::{account, account_exists, target},
};
use crate::{
    Controller, Key,
    events::Severity,
    queue::Next,
    status::{self, set_finalizer},
};

/// The annotation whose value is the revision for which most of an inventory may be deleted.
pub(crate) const ALLOW_LARGE_PRUNE: &str = "kustomize.toolkit.fluxcd.io/allow-large-prune";

/// Whether the user has allowed the revision at hand to delete most of what there is.
pub(super) fn allows_large_prune(object: &Kustomization, revision: &str) -> bool {
    object.metadata.annotations.get(ALLOW_LARGE_PRUNE).is_some_and(|allowed| allowed == revision)
}

/// Deletes the objects, then lets the Kustomization go.
pub(super) async fn finalize(controller: &Controller, key: &Key, object: &Kustomization) -> Next {
    let (inventory, _) = store::read(object.status.inventory.as_ref(), None);
    let is_deleting = object.deletes_objects() && !object.spec.suspend && !inventory.is_empty();
    if is_deleting && let Err(next) = delete(controller, key, object, inventory).await {
        let mut closed = object.clone();
        close(&mut closed);
        match status::write(&controller.client, object, &closed, STATUS_MANAGER).await {
            Ok(Some(node)) => controller.kustomizations.saw(&node),
            Ok(None) => {}
            Err(error) => tracing::warn!(object = %key, %error, "cannot write the status"),
        }
        return next;
    }
    controller.memory.forget(key);
    match set_finalizer(&controller.client, object, false, STATUS_MANAGER).await {
        Ok(node) => {
            if node.at(&["metadata", "deletionTimestamp"]).is_none() {
                controller.kustomizations.saw(&node);
            }
            Next::Rest
        }
        Err(error) if error.is_not_found() => Next::Rest,
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot remove the finalizer");
            Next::Retry
        }
    }
}

async fn delete(
    controller: &Controller,
    key: &Key,
    object: &Kustomization,
    inventory: flumen_apply::Inventory,
) -> Result<(), Next> {
    let post = |severity, message: &str| {
        // The reason is that of the last outcome, as users of Flux know it.
        let reason = condition(object, READY).map_or("error", |ready| ready.reason.as_str());
        let revision = object.status.last_applied_revision.as_deref().unwrap_or_default();
        let metadata = [("revision", revision)];
        let metadata = if revision.is_empty() { &[][..] } else { &metadata[..] };
        controller.kustomize_events.post(object, severity, reason, message, metadata);
    };
    if let Some(account) = account(controller, object)
        && object.spec.kube_config.is_none()
        && !account_exists(controller, &key.namespace, account).await
    {
        let ids = inventory.entries().into_iter().map(|entry| entry.id.to_string());
        let list = ids.collect::<Vec<_>>().join("\n");
        post(Severity::Error, &format!("unable to prune objects: \n{list}"));
        return Ok(());
    }
    let target = target(controller, object).await.map_err(|error| {
        tracing::error!(object = %key, %error, "cannot reach the cluster of the objects");
        Next::Retry
    })?;
    let mut options = flumen_apply::Options::new(owner(key));
    options.timeout = object.spec.timeout();
    options.concurrency = controller.options.concurrent_requests;
    options.wait = object.spec.deletion_policy == DeletionPolicy::WaitForTermination;
    let store = StatusStore::of_inventory(inventory);
    match flumen_apply::delete(&target.client, &store, &options, &Silent).await {
        Ok(changes) => {
            let lines = lines(&changes);
            if !lines.is_empty() {
                post(Severity::Info, &lines);
            }
            Ok(())
        }
        Err(flumen_apply::Error::NotDeleted(_)) => {
            post(Severity::Error, "failed to wait for resources termination");
            Ok(())
        }
        Err(error) => {
            tracing::error!(object = %key, %error, "cannot delete everything");
            post(Severity::Error, "pruning for deleted resource failed");
            Err(Next::Retry)
        }
    }
}

fn lines(changes: &[Change]) -> String {
    let lines = changes.iter().map(|change| format!("{} {}", change.id, change.action.as_str()));
    lines.collect::<Vec<_>>().join("\n")
}
