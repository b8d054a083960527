//! The end of a Kustomization: what it applied goes with it, if it says so.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use flumen_api::{Kustomization, READY, condition, is_ready};
use flumen_apply::{Change, Inventory, Progress, Report};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use super::{
    STATUS_MANAGER,
    outcome::{Revision, SUCCEEDED, close, finished, lines},
    settings::delete_options,
    store::{self, StatusStore},
    target::{account, account_exists, target},
    teardown,
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

/// Deletes the objects when it is their turn, then lets the Kustomization go. The permit is given back while they take their time.
pub(super) async fn finalize(
    controller: &Controller,
    key: &Key,
    object: &Kustomization,
    permit: OwnedSemaphorePermit,
) -> Next {
    if let Some(next) = teardown::wait(controller, key, object).await {
        return next;
    }
    let began = Instant::now();
    let (inventory, _) = store::read(object.status.inventory.as_ref(), None);
    let is_deleting = object.deletes_objects() && !object.spec.suspend && !inventory.is_empty();
    let deletion = Deletion { controller, key, object, permit: Mutex::new(Some(permit)) };
    if is_deleting && let Err(next) = deletion.run(inventory).await {
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
            if is_ready(object) && !object.spec.suspend {
                tell_end(controller, object, began.elapsed());
            }
            if node.at(&["metadata", "deletionTimestamp"]).is_none() {
                controller.kustomizations.saw(&node);
            } else if node.at(&["metadata", "finalizers"]).is_none() {
                // The watch has yet to say so, and nothing may be deleted twice.
                controller.kustomizations.gone(&node);
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

/// Users of Flux know that the last pass over an object that was ready says so, too.
fn tell_end(controller: &Controller, object: &Kustomization, took: Duration) {
    let revision = Revision::last_applied(object);
    let mut metadata = revision.as_ref().map(Revision::metadata).unwrap_or_default();
    metadata.push(("commit_status", "update"));
    let message = finished(took, object.spec.interval);
    controller.kustomize_events.post(object, Severity::Info, SUCCEEDED, &message, &metadata);
}

/// The deletion of what a Kustomization has applied.
struct Deletion<'a> {
    controller: &'a Controller,
    key: &'a Key,
    object: &'a Kustomization,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Deletion<'_> {
    async fn run(&self, inventory: Inventory) -> Result<(), Next> {
        let Self { controller, key, object, .. } = *self;
        if let Some(account) = account(controller, object)
            && object.spec.kube_config.is_none()
            && !account_exists(controller, &key.namespace, account).await
        {
            let ids = inventory.entries().into_iter().map(|entry| entry.id.to_string());
            let list = ids.collect::<Vec<_>>().join("\n");
            self.post(Severity::Error, &format!("unable to prune objects: \n{list}"));
            return Ok(());
        }
        let target = target(controller, object).await.map_err(|error| {
            tracing::error!(object = %key, %error, "cannot reach the cluster of the objects");
            Next::Retry
        })?;
        let options = delete_options(controller, key, object, &target);
        let store = StatusStore::of_inventory(inventory);
        let told = Told { deletion: self, changes: Mutex::default() };
        match flumen_apply::delete(&target.client, &store, &options, &told).await {
            Ok(_) => {
                told.tell();
                Ok(())
            }
            Err(flumen_apply::Error::NotDeleted(_)) => {
                self.post(Severity::Error, "failed to wait for resources termination");
                Ok(())
            }
            Err(error) => {
                tracing::error!(object = %key, %error, "cannot delete everything");
                self.post(Severity::Error, "pruning for deleted resource failed");
                Err(Next::Retry)
            }
        }
    }

    fn post(&self, severity: Severity, message: &str) {
        let object = self.object;
        // The reason is that of the last outcome, as users of Flux know it.
        let reason = condition(object, READY).map_or(severity.as_str(), |ready| &ready.reason);
        let revision = Revision::last_applied(object);
        let metadata = revision.as_ref().map(Revision::metadata).unwrap_or_default();
        self.controller.kustomize_events.post(object, severity, reason, message, &metadata);
    }
}

/// Tells what is deleted as soon as all of it is asked for, however long it takes to go.
struct Told<'a> {
    deletion: &'a Deletion<'a>,
    changes: Mutex<Vec<Change>>,
}

impl Told<'_> {
    fn tell(&self) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines(&std::mem::take(&mut *changes));
        if !lines.is_empty() {
            self.deletion.post(Severity::Info, &lines);
        }
    }
}

impl Report for Told<'_> {
    fn report(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Pruned(change) => {
                let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
                changes.push((*change).clone());
            }
            Progress::Terminating(_) => {
                self.tell();
                self.deletion.permit.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
            _ => {}
        }
    }
}
