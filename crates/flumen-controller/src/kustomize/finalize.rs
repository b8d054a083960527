//! Finalization of a Kustomization: what it applied is deleted with it, if its deletion policy says so.

use flumen_api::{Kustomization, READY, condition, is_ready};
use flumen_apply::{Change, Inventory, Progress, Report};
use flumen_runtime::{Finalized, Requeue, Severity};
use parking_lot::Mutex;

use super::{
    Kustomize,
    outcome::{Revision, SUCCEEDED, close, finished, lines},
    reconciler::Run,
    settings::delete_options,
    store::{self, StatusStore},
    target::{account, account_exists, target},
    teardown,
};

/// The annotation whose value is the revision for which most of an inventory may be deleted.
pub(super) const ALLOW_LARGE_PRUNE: &str = "kustomize.toolkit.fluxcd.io/allow-large-prune";

/// Whether the user has allowed the revision at hand to delete most of what there is.
pub(super) fn allows_large_prune(object: &Kustomization, revision: &str) -> bool {
    object.metadata.annotations.get(ALLOW_LARGE_PRUNE).is_some_and(|allowed| allowed == revision)
}

/// Deletes the objects as soon as their dependents are deleted.
pub(super) async fn finalize(kustomize: &Kustomize, run: &Run<'_>) -> Finalized {
    let object = run.object();
    if let Some(requeue) = teardown::wait(kustomize, run, &object).await {
        return Finalized::Not(requeue);
    }
    let (inventory, _) = store::read(object.status.inventory.as_ref(), None);
    let is_deleting = object.deletes_objects() && !object.spec.suspend && !inventory.is_empty();
    let deletion = Deletion { kustomize, run, object: &object };
    if is_deleting && let Err(requeue) = deletion.run(inventory).await {
        run.with(|object| close(object, kustomize.runtime.clock.now()));
        if let Err(error) = run.write().await {
            tracing::warn!(object = %run.key(), %error, "cannot write the status");
        }
        return Finalized::Not(requeue);
    }
    kustomize.memory.forget(run.key());
    Finalized::Done
}

/// Posts the event of a successful reconciliation, which users of Flux see for the last one, too.
pub(super) fn announce(run: &Run<'_>) {
    let object = run.object();
    if is_ready(&object) && !object.spec.suspend {
        let revision = Revision::last_applied(&object);
        let mut facts = revision.as_ref().map(Revision::metadata).unwrap_or_default();
        facts.push(("commit_status", "update"));
        let message = finished(run.elapsed(), object.spec.interval);
        run.post(Severity::Info, SUCCEEDED, &message, &facts);
    }
}

/// Deletion of the objects of a Kustomization.
struct Deletion<'a> {
    kustomize: &'a Kustomize,
    run: &'a Run<'a>,
    object: &'a Kustomization,
}

impl Deletion<'_> {
    async fn run(&self, inventory: Inventory) -> Result<(), Requeue> {
        let Self { kustomize, run, object } = *self;
        let key = run.key();
        if let Some(account) = account(kustomize, object)
            && object.spec.kube_config.is_none()
            && !account_exists(kustomize, &key.namespace, account).await
        {
            let ids = inventory.entries().into_iter().map(|entry| entry.id.to_string());
            let list = ids.collect::<Vec<_>>().join("\n");
            self.post(Severity::Error, &format!("unable to prune objects: \n{list}"));
            return Ok(());
        }
        let target = target(kustomize, object).await.map_err(|error| {
            tracing::error!(object = %key, %error, "cannot reach the cluster of the objects");
            Requeue::Backoff
        })?;
        let options = delete_options(kustomize, key, object, &target);
        let store = StatusStore::of_inventory(inventory);
        let report = DeletionReport { deletion: self, changes: Mutex::default() };
        match flumen_apply::delete(&target.client, &store, &options, &report).await {
            Ok(_) => {
                report.post();
                Ok(())
            }
            Err(flumen_apply::Error::NotDeleted(_)) => {
                self.post(Severity::Error, "failed to wait for resources termination");
                Ok(())
            }
            Err(error) => {
                tracing::error!(object = %key, %error, "cannot delete everything");
                self.post(Severity::Error, "pruning for deleted resource failed");
                Err(Requeue::Backoff)
            }
        }
    }

    fn post(&self, severity: Severity, message: &str) {
        // The reason is that of the last outcome, as in Flux.
        let ready = condition(self.object, READY);
        let reason = ready.map_or(severity.as_str(), |ready| &ready.reason);
        let revision = Revision::last_applied(self.object);
        let facts = revision.as_ref().map(Revision::metadata).unwrap_or_default();
        self.run.post(severity, reason, message, &facts);
    }
}

/// Posts what is deleted as soon as all deletions are requested, and releases the worker while they take their time.
struct DeletionReport<'a> {
    deletion: &'a Deletion<'a>,
    changes: Mutex<Vec<Change>>,
}

impl DeletionReport<'_> {
    fn post(&self) {
        let changes = std::mem::take(&mut *self.changes.lock());
        let lines = lines(&changes);
        if !lines.is_empty() {
            self.deletion.post(Severity::Info, &lines);
        }
    }
}

impl Report for DeletionReport<'_> {
    fn report(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Pruned(change) => self.changes.lock().push((*change).clone()),
            Progress::Terminating(_) => {
                self.post();
                self.deletion.run.release_worker();
            }
            _ => {}
        }
    }
}
