//! One run, from objects to a committed inventory.
//!
//! The order of effects is the contract, and this file shows it: know what is there, review a stage, write the
//! inventory ahead, apply the stage, and so on; then late kinds, pruning, health, and the commit. A run that dies
//! anywhere is repaired by running again.

use std::collections::BTreeSet;

use flumen_kube::{Cluster, Resource};
use flumen_object::{GroupKind, ObjectId, ObjectSet, Stage};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::Instant;

use crate::{
    Action, Change, Deployment, DeploymentResult, Entry, Error, Inventory, InventoryStore,
    ObjectError, Options, Progress, Prune, Recorded, Report, Seen,
    deployment::remember,
    desired::{Desired, prepare},
    gone::until_gone,
    kinds::until_served,
    live::Live,
    prune::{delete_all, guard},
    rescue::review_or_rescue,
    review::Verdict,
    wait::{WaitOptions, Waited, until_healthy},
    write::{Written, write},
};

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Every object of the run, in the order in which it was dealt with; deletions last.
    pub changes: Vec<Change>,
    pub inventory: Inventory,
    /// The objects that were applied, or would have been: what a caller may wait for.
    pub waited: Vec<Waited>,
}

impl Outcome {
    /// Whether the cluster was left as it was.
    pub fn is_noop(&self) -> bool {
        !self.changes.iter().any(Change::is_write)
    }
}

/// Applies `objects`, prunes what is gone from them, and waits, as `options` say.
pub async fn apply<C: Cluster, S: InventoryStore>(
    cluster: &C,
    objects: ObjectSet,
    store: &S,
    options: &Options,
    report: &dyn Report,
) -> Result<Outcome, Error> {
    let deadline = Instant::now() + options.timeout;
    let before = store.load().await?;
    let desired = prepare(cluster, objects, options).await?;
    let live = Live::read(cluster, &desired, &before.inventory, options).await?;
    let mut run = Run {
        cluster,
        store,
        options,
        report,
        deadline,
        live,
        ahead: before.inventory.clone(),
        before,
        after: Inventory::default(),
        changes: Vec::new(),
        waited: Vec::new(),
        pending_prune: None,
        is_applied: false,
    };
    match run.all(desired).await {
        Ok(()) => run.commit().await,
        Err(error) => {
            run.record_failure(&error).await;
            Err(error)
        }
    }
}

struct Run<'a, C, S> {
    cluster: &'a C,
    store: &'a S,
    options: &'a Options,
    report: &'a dyn Report,
    deadline: Instant,
    live: Live,
    before: Recorded,
    /// What the store names now: everything of before, and what this run may create.
    ahead: Inventory,
    /// What is applied.
    after: Inventory,
    changes: Vec<Change>,
    waited: Vec<Waited>,
    pending_prune: Option<Error>,
    /// All objects are applied; what may still fail is pruning and health.
    is_applied: bool,
}

impl<C: Cluster, S: InventoryStore> Run<'_, C, S> {
    async fn all(&mut self, desired: Vec<Desired>) -> Result<(), Error> {
        let everything: Inventory =
            desired.iter().map(|object| Entry { id: object.id.clone(), seen: None }).collect();
        let mut deferred = Vec::new();
        for (stage, mut objects) in stages(desired, &self.options.custom_stage) {
            self.look_again(&mut objects).await?;
            let first = self.changes.len();
            deferred.extend(self.stage(&objects, &everything).await?);
            if matches!(stage, Stage::Definitions | Stage::Classes) {
                let fresh = self.changes[first..].iter().filter(|change| change.is_write());
                let fresh: BTreeSet<&ObjectId> = fresh.map(|change| &change.id).collect();
                let waited = self.waited.iter().filter(|one| fresh.contains(&one.id));
                self.settle(waited.cloned().collect()).await?;
            }
        }
        self.late_kinds(deferred).await?;
        self.is_applied = true;
        let deleted = self.prune().await?;
        if self.options.wait {
            self.settle(self.waited.clone()).await?;
            until_gone(self.cluster, &deleted, self.deadline, self.report).await?;
        }
        Ok(())
    }

    /// Kinds that an earlier stage has defined are served by now.
    async fn look_again(&self, objects: &mut [Desired]) -> Result<(), Error> {
        if self.options.strict_kinds && objects.iter().any(|object| object.resource.is_none()) {
            // Nobody waits for these kinds: what was known a moment ago must not fail them.
            self.cluster.forget_resources();
        }
        for object in objects.iter_mut().filter(|object| object.resource.is_none()) {
            object.resource = self.cluster.resource(&object.id.gvk).await?;
            if let Some(resource) = &object.resource {
                object.place(Some(resource.namespaced), self.options);
            }
        }
        Ok(())
    }

    /// Reviews and applies the objects of one stage; returns those whose kind is not served.
    async fn stage(
        &mut self,
        objects: &[Desired],
        everything: &Inventory,
    ) -> Result<Vec<Desired>, Error> {
        self.report.report(&Progress::Reviewing { objects: objects.len() });
        let Self { cluster, live, options, .. } = &*self;
        let verdicts: Vec<Verdict> = stream::iter(objects)
            .map(|object| async move {
                let review = review_or_rescue(*cluster, object, live, options).await?;
                Ok::<_, Error>(review.verdict)
            })
            .buffered(self.options.concurrency)
            .try_collect()
            .await?;

        let mut deferred = Vec::new();
        let mut failures = Vec::new();
        let mut writes = Vec::new();
        for (object, verdict) in objects.iter().zip(verdicts) {
            match verdict {
                Verdict::Fail { error, .. } => failures.push(error),
                Verdict::Defer if self.options.strict_kinds && !object.is_defined => {
                    failures.push(ObjectError::not_served(&object.id, &object.origin));
                }
                Verdict::Defer => deferred.push(object.clone()),
                Verdict::Skip { exists } => self.skip(object, exists),
                Verdict::Unchanged { seen } => self.keep(object, seen),
                verdict => writes.push((object, verdict)),
            }
        }
        if !failures.is_empty() && !self.options.keep_going {
            return Err(Error::Rejected(failures));
        }
        if !writes.is_empty() {
            // The inventory needs a namespace, which the set itself may bring.
            let (home, writes): (Vec<_>, Vec<_>) =
                writes.into_iter().partition(|(object, _)| self.is_home(&object.id));
            failures.extend(self.write(&home).await?);
            self.write_ahead(everything).await?;
            failures.extend(self.write(&writes).await?);
        }
        if failures.is_empty() { Ok(deferred) } else { Err(Error::ApplyFailed(failures)) }
    }

    /// Whether this is the namespace of the inventory.
    fn is_home(&self, id: &ObjectId) -> bool {
        id.gvk.kind == "Namespace" && id.name == *self.options.owner.namespace
    }

    fn skip(&mut self, object: &Desired, exists: bool) {
        // What was never created needs no deletion.
        if exists || self.before.inventory.contains(&object.id) {
            self.after.insert(Entry { id: object.id.clone(), seen: None });
        }
        self.change(&object.id, Action::Skipped);
    }

    fn keep(&mut self, object: &Desired, seen: Option<Seen>) {
        let remembered = self.before.inventory.get(&object.id).and_then(|entry| entry.seen.clone());
        let seen = seen.or(remembered);
        self.after.insert(Entry { id: object.id.clone(), seen });
        self.waited.push(Waited::of(object));
        self.change(&object.id, Action::Unchanged);
    }

    /// Names in the store whatever is about to appear on the cluster.
    async fn write_ahead(&mut self, everything: &Inventory) -> Result<(), Error> {
        if self.ahead.covers(everything) {
            return Ok(());
        }
        let ahead = everything.clone().with_all_of(&self.ahead);
        let recorded = Recorded { inventory: ahead.clone(), history: self.before.history.clone() };
        self.store.write_ahead(&recorded).await?;
        self.ahead = ahead;
        Ok(())
    }

    /// Applies what was reviewed. Kinds that others stand on are done before the next ones begin.
    async fn write(&mut self, writes: &[(&Desired, Verdict)]) -> Result<Vec<ObjectError>, Error> {
        let (cluster, options, deadline) = (self.cluster, self.options, self.deadline);
        let mut failures = Vec::new();
        for group in writes.chunk_by(|(a, _), (b, _)| a.id.apply_rank() == b.id.apply_rank()) {
            let results: Vec<(&Desired, Result<Written, ObjectError>)> = stream::iter(group)
                .map(|(object, verdict)| async move {
                    let written = write(cluster, object, verdict, options, deadline).await?;
                    Ok::<_, Error>((*object, written))
                })
                .buffered(self.options.concurrency)
                .try_collect()
                .await?;
            for (object, written) in results {
                match written {
                    Ok(Written { action, seen }) => {
                        self.after.insert(Entry { id: object.id.clone(), seen: Some(seen) });
                        self.waited.push(Waited::of(object));
                        self.change(&object.id, action);
                    }
                    Err(error) => failures.push(error),
                }
            }
            if !failures.is_empty() && !self.options.keep_going {
                break;
            }
        }
        Ok(failures)
    }

    /// Waits until these objects are healthy.
    async fn settle(&mut self, waited: Vec<Waited>) -> Result<(), Error> {
        if waited.is_empty() {
            return Ok(());
        }
        let options = WaitOptions {
            selector: Some(self.options.owner.selector()),
            rules: self.options.health.clone(),
            fail_fast: true,
            deadline: self.deadline,
            watched: self.options.watched.clone(),
        };
        let digests = until_healthy(self.cluster, &waited, &options, self.report).await?;
        if self.options.watched.is_some() {
            // What a watch goes by does not change when an object is completed, only when a field is taken from us.
            return Ok(());
        }
        for (id, live) in digests {
            // Controllers may have completed the object since it was applied.
            let Some(entry) = self.after.get(&id) else { continue };
            let mut entry = entry.clone();
            if let Some(seen) = &mut entry.seen {
                seen.live = live;
            }
            self.after.insert(entry);
        }
        Ok(())
    }

    /// Objects whose kind came late go through the same steps as soon as it is served.
    async fn late_kinds(&mut self, mut deferred: Vec<Desired>) -> Result<(), Error> {
        while !deferred.is_empty() {
            let ids: Vec<ObjectId> = deferred.iter().map(|object| object.id.clone()).collect();
            self.report.report(&Progress::Deferred(&ids));
            let kinds: BTreeSet<_> = ids.iter().map(|id| id.gvk.clone()).collect();
            let watched = self.options.watched.as_ref();
            if !until_served(self.cluster, &kinds, watched, self.deadline).await? {
                let objects = ids.into_iter().map(|id| (id.clone(), id.gvk)).collect();
                return Err(Error::KindsNotServed { objects, timeout: self.options.timeout });
            }
            self.look_again(&mut deferred).await?;
            let (served, rest): (Vec<_>, Vec<_>) =
                deferred.into_iter().partition(|object| object.resource.is_some());
            let everything: Inventory =
                served.iter().map(|object| Entry { id: object.id.clone(), seen: None }).collect();
            deferred = rest;
            deferred.extend(self.stage(&served, &everything).await?);
        }
        Ok(())
    }

    /// Deletes what is in the old inventory and no longer wanted.
    async fn prune(&mut self) -> Result<Vec<(Resource, ObjectId)>, Error> {
        let stale: Vec<ObjectId> =
            self.before.inventory.stale(&self.after).iter().map(|entry| entry.id.clone()).collect();
        let guarded = match self.options.prune {
            _ if stale.is_empty() => return Ok(Vec::new()),
            Prune::Forget => return Ok(Vec::new()),
            Prune::Off => Some(None),
            // What was applied stays applied and healthy; only the deletion waits for a word.
            Prune::Guarded => {
                guard(&stale, self.after.len(), self.before.inventory.len()).err().map(Some)
            }
            Prune::Unguarded => None,
        };
        if let Some(pending) = guarded {
            for id in stale {
                self.after.insert(Entry { id, seen: None });
            }
            self.pending_prune = pending;
            return Ok(Vec::new());
        }
        let pruned = delete_all(self.cluster, &stale, self.options).await?;
        for change in pruned.changes {
            self.report.report(&Progress::Pruned(&change));
            self.changes.push(change);
        }
        for error in &pruned.failures {
            self.after.insert(Entry { id: error.id.clone(), seen: None });
        }
        if pruned.failures.is_empty() {
            Ok(pruned.deleted)
        } else {
            Err(Error::PruneFailed(pruned.failures))
        }
    }

    async fn commit(mut self) -> Result<Outcome, Error> {
        let mut history = std::mem::take(&mut self.before.history);
        let outcome = Outcome { changes: self.changes, inventory: self.after, waited: self.waited };
        let last = history.first();
        let news = self.options.deployment.as_ref().filter(|deployment| {
            !outcome.is_noop()
                || last.is_none_or(|last| {
                    last.artifact != deployment.artifact
                        || last.result != DeploymentResult::Succeeded
                })
        });
        if let Some(deployment) = news {
            remember(&mut history, deployment.clone());
        }
        if news.is_some() || self.ahead != outcome.inventory {
            let recorded = Recorded { inventory: outcome.inventory.clone(), history };
            self.store.commit(&recorded).await?;
        }
        match self.pending_prune {
            None => Ok(outcome),
            Some(guarded) => Err(guarded),
        }
    }

    /// Notes a failed run that has written something. Unless all is applied, the inventory goes on naming everything
    /// that may be there.
    async fn record_failure(&mut self, error: &Error) {
        let mut history = std::mem::take(&mut self.before.history);
        let wrote = self.changes.iter().any(Change::is_write);
        match &self.options.deployment {
            Some(deployment) if wrote => {
                let failed = DeploymentResult::Failed;
                let message = error.to_string();
                remember(
                    &mut history,
                    Deployment { result: failed, message, ..deployment.clone() },
                );
            }
            None if self.is_applied => {}
            _ => return,
        }
        let mut inventory = std::mem::take(&mut self.after);
        if !self.is_applied {
            inventory = inventory.with_all_of(&self.ahead);
        }
        // The failure itself is what the caller must see; an inventory that names too much is safe.
        let _ = self.store.commit(&Recorded { inventory, history }).await;
    }

    fn change(&mut self, id: &ObjectId, action: Action) {
        let change = Change { id: id.clone(), action };
        self.report.report(&Progress::Changed(&change));
        self.changes.push(change);
    }
}

/// Splits ordered objects into stages that are applied one after the other.
pub(crate) fn stages(
    desired: Vec<Desired>,
    custom: &BTreeSet<GroupKind>,
) -> Vec<(Stage, Vec<Desired>)> {
    let mut stages: Vec<(Stage, Vec<Desired>)> = Vec::new();
    let mut staged: Vec<(Stage, Desired)> =
        desired.into_iter().map(|object| (Stage::of(&object.id, custom), object)).collect();
    staged.sort_by_key(|(stage, _)| *stage);
    for (stage, object) in staged {
        match stages.last_mut() {
            Some((last, objects)) if *last == stage => objects.push(object),
            _ => stages.push((stage, vec![object])),
        }
    }
    stages
}
