//! One pass over a Kustomization, from its source to its status.
//!
//! The steps are in [`Pass::work`]. What they have to say is kept in the object and written once, at the end; before
//! that only when objects are about to appear that the inventory does not name, and when it takes longer than a second.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use flumen_api::{
    ConditionStatus, GoDuration, Kustomization, READY, condition, mark_reconciling, set_condition,
};
use flumen_apply::{Inventory, Watched as _};
use flumen_build::flux::check_encryption;
use flumen_fs::Tree;
use flumen_health::HealthRules;
use flumen_object::{Gvk, Object};
use jiff::Timestamp;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, watch},
    time::{Instant, sleep},
};

use super::{
    STATUS_MANAGER, artifact, build,
    changes::Changes,
    decryption, depends,
    drift::{Mode, is_applied},
    failure::{Failure, Said},
    finalize, flux_components,
    health::HEALTHY,
    late::fails_unknown_kinds,
    memory::Remembered,
    outcome::{
        PROGRESSING, Revision, SUCCEEDED, close, fail, finished, handle_request, lines,
        lines_of_writes, record, step_message, succeed,
    },
    settings::{apply_options, health_rules},
    store::{self, StatusStore},
    target::{Target, account, target},
};
use crate::{
    Controller, Key,
    events::Severity,
    index::source,
    malformed,
    queue::Next,
    status::{self, with_finalizer},
};

/// Work that takes longer is shown while it goes on.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Reconciles a Kustomization. The permit is given back when there is nothing to do but to wait.
pub(crate) async fn reconcile(
    controller: &Controller,
    key: &Key,
    permit: OwnedSemaphorePermit,
) -> Next {
    let object = match controller.kustomizations.get(&key.namespace, &key.name) {
        Some(Ok(object)) => object,
        Some(Err(object)) => {
            let to = (controller.kustomizations.as_ref(), &controller.kustomize_events);
            return malformed::tell(controller, key, &object, to, STATUS_MANAGER).await;
        }
        None => {
            controller.memory.forget(key);
            return Next::Rest;
        }
    };
    if object.metadata.deletion_timestamp.is_some() {
        return finalize::finalize(controller, key, &object, permit).await;
    }
    let client = &controller.client;
    let object =
        match with_finalizer(client, &controller.kustomizations, object, STATUS_MANAGER).await {
            Ok(object) => object,
            Err(next) => return next,
        };
    let pass = Pass {
        controller,
        key,
        started: Instant::now(),
        permit: Mutex::new(Some(permit)),
        waits: watch::Sender::new(Waiting::Nothing),
        news: Notify::new(),
        state: Mutex::new(State {
            object: object.as_ref().clone(),
            written: object,
            written_at: Instant::now(),
            revision: None,
            build_digest: None,
            awaited: BTreeSet::new(),
        }),
    };
    pass.run().await
}

pub(super) struct Pass<'a> {
    pub(super) controller: &'a Controller,
    pub(super) key: &'a Key,
    started: Instant,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    /// What is waited for, while there is nothing else to do.
    pub(super) waits: watch::Sender<Waiting>,
    /// There is something to show to those who look at the object meanwhile.
    pub(super) news: Notify,
    state: Mutex<State>,
}

/// What a pass waits for. Nothing is under way then, so that the pass may be given up for a newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiting {
    Nothing,
    /// Kinds that are not served yet.
    Kinds,
    Health,
}

pub(super) struct State {
    /// The object with all that this pass has to say of it.
    pub(super) object: Kustomization,
    /// The object as the cluster has it.
    written: Arc<Kustomization>,
    /// When it was written, or the pass began.
    written_at: Instant,
    /// Set when the source has been found.
    revision: Option<Revision>,
    /// Set when the build has succeeded.
    build_digest: Option<String>,
    /// The kinds that objects wait for.
    pub(super) awaited: BTreeSet<Gvk>,
}

impl Pass<'_> {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn object(&self) -> Kustomization {
        self.state().object.clone()
    }

    async fn run(&self) -> Next {
        if self.state().object.spec.suspend {
            return self.end_suspended().await;
        }
        self.forget_missed();
        let outcome = {
            let work = self.work();
            tokio::pin!(work);
            let superseded = self.superseded();
            tokio::pin!(superseded);
            let shown = sleep(SHOWN_AFTER);
            tokio::pin!(shown);
            let mut is_shown = false;
            let mut waits = self.waits.subscribe();
            let mut providers = self.controller.providers.news();
            loop {
                let is_waiting = !self.state().awaited.is_empty();
                tokio::select! {
                    outcome = &mut work => break outcome,
                    failure = &mut superseded => break Err(failure),
                    () = &mut shown, if !is_shown => {
                        // The inventory may have been written meanwhile, and with it how far the pass is.
                        let due = self.state().written_at + SHOWN_AFTER;
                        if due > Instant::now() {
                            shown.as_mut().reset(due);
                        } else {
                            is_shown = true;
                            self.show().await;
                        }
                    }
                    // A long wait is shown for what it is, whatever was shown before it.
                    Ok(()) = waits.changed(), if is_shown => {
                        is_shown = false;
                        shown.as_mut().reset(Instant::now() + SHOWN_AFTER);
                    }
                    () = self.news.notified(), if is_shown => self.show().await,
                    Ok(()) = providers.changed(), if is_shown && is_waiting => {
                        self.tell_awaited();
                        self.show().await;
                    }
                }
            }
        };
        self.end(outcome).await
    }

    /// Ends when something newer than what is waited for has come.
    async fn superseded(&self) -> Failure {
        let cancels_health_checks = self.controller.options.cancel_health_checks;
        let mut waits = self.waits.subscribe();
        loop {
            let waiting = *waits.borrow_and_update();
            let changed = async {
                match waiting {
                    Waiting::Kinds => self.controller.queue.changed(self.key).await,
                    Waiting::Health if cancels_health_checks => {
                        self.controller.queue.changed(self.key).await
                    }
                    Waiting::Health | Waiting::Nothing => std::future::pending().await,
                }
            };
            let by = tokio::select! {
                by = changed => by,
                Ok(()) = waits.changed() => continue,
            };
            let (reason, what) = match waiting {
                Waiting::Health => ("HealthCheckCanceled", "Health checks"),
                Waiting::Kinds | Waiting::Nothing => (PROGRESSING, "Wait for kinds"),
            };
            let said = format!("{what} canceled due to new reconciliation triggered by {by}");
            let message = format!("New reconciliation triggered by {by}");
            let mut failure = Failure::waiting(reason, message, Next::Now);
            failure.is_retried = true;
            return failure.saying(Said::Info(said));
        }
    }

    async fn work(&self) -> Result<(), Failure> {
        let (controller, object) = (self.controller, self.object());
        let retry = object.spec.retry_interval();
        let invalid = |error| Failure::terminal("InvalidAnnotation", error);
        let mode = Mode::of(&object).map_err(invalid)?;
        fails_unknown_kinds(controller, &object).map_err(invalid)?;
        let rules = health_rules(&object, account(controller, &object).is_some())?;
        if let Some(source) = source(&object) {
            controller.queue.looks_at(self.key, &source);
        }
        let artifact = artifact::resolve(controller, &object)?;
        controller.queue.works_on(self.key, &artifact.revision);
        self.state().revision = Some(Revision::of(&artifact));
        depends::check(controller, &object, &artifact).await?;

        let revision = artifact.revision.as_str();
        self.step("Fetching manifests", revision);
        let tree = artifact::tree(controller, &object, &artifact).await?;
        build::check_path(&tree, &object.spec.path)
            .map_err(|error| Failure::of_work("ArtifactFailed", error, retry))?;

        self.state().object.status.last_attempted_revision = Some(revision.to_owned());
        self.step("Building manifests", revision);
        let target = target(controller, &object).await.map_err(|error| {
            let said = Said::Error(format!("failed to build kube client: {error}"));
            Failure::of_work("ReconciliationFailed", error, retry).saying(said)
        })?;
        let input = build::Input::new(controller, &object, &artifact).await;
        if let Some(remembered) = controller.memory.get(self.key)
            && self.is_as_it_was(&object, &target, &rules, &remembered)
            && let Some(input) = remembered.input.is_same(&input, tree.as_ref())
        {
            self.state().build_digest = Some(remembered.digest.clone());
            self.forget_drift();
            controller.memory.set(self.key, Remembered { input, ..remembered });
            return Ok(());
        }
        let built = self.build(&object, tree, input).await;
        let built = built.map_err(|error| Failure::of_work("BuildFailed", error, retry))?;
        self.state().build_digest = Some(built.digest.clone());
        controller.providers.built(&self.name(), &built.objects);

        self.step("Detecting drift", revision);
        check_encryption(&built.objects)
            .map_err(|error| Failure::of_work("ReconciliationFailed", error.to_string(), retry))?;
        let objects = if target.is_ours {
            flux_components::leave_alone(self, built.objects, &built.digest)
        } else {
            built.objects
        };
        let known = controller.memory.inventory(self.key);
        let (before, unreadable) = store::read(object.status.inventory.as_ref(), known.as_ref());
        if mode == Mode::Report && is_applied(&object, revision, &built.digest) {
            let (objects, before) = (objects.clone(), before.clone());
            let reported =
                self.report_drift(&object, &target, &rules, objects, before, revision).await?;
            if let Some(waited) = reported {
                self.check_health(&object, &target, rules, &waited, &[], revision).await?;
                return Ok(());
            }
        }
        let changes = Changes::new(self);
        let options = apply_options(controller, self.key, &object, &target, &rules, revision)?;
        let store = StatusStore::new(self, before);
        let first = objects.iter().next().map(Object::id);
        let applied =
            flumen_apply::apply(&target.client, objects, &store, &options, &changes).await;
        let committed = match &applied {
            Ok(outcome) => Some(outcome.inventory.clone()),
            Err(_) => store.committed(),
        };
        if let Some(inventory) = &committed {
            self.state().object.status.inventory = Some(store::entries(inventory));
        }
        let (changes, pruned) = changes.into_parts();
        if committed.is_some() {
            self.tell(&lines_of_writes(&changes));
        }
        let outcome = match (applied, unreadable) {
            (Ok(outcome), None) => outcome,
            (Ok(_), Some(unreadable)) => {
                return Err(Failure::of_work("ReconciliationFailed", unreadable, retry));
            }
            (Err(error), _) => {
                let first = first.as_ref();
                return Err(self.apply_failure(&target, &error, first, &changes, retry).await);
            }
        };
        self.tell(&lines(&pruned));
        let is_repeated = object.status.observed_generation == object.metadata.generation
            && controller.memory.with(self.key, |known| known.digest == built.digest) == Some(true);
        self.tell_contests(&changes, is_repeated);

        self.check_health(&object, &target, rules, &outcome.waited, &changes, revision).await?;
        let remembered =
            Remembered { input: built.input, digest: built.digest, inventory: outcome.inventory };
        controller.memory.set(self.key, remembered);
        Ok(())
    }

    async fn build(
        &self,
        object: &Kustomization,
        tree: Arc<dyn Tree>,
        input: build::Input,
    ) -> Result<build::Built, String> {
        decryption::check_keys(self.controller, object).await?;
        build::build(self.controller, object, tree, input).await
    }

    /// Whether everything is applied and healthy as the last pass has left it, by what the watches tell.
    fn is_as_it_was(
        &self,
        object: &Kustomization,
        target: &Target,
        rules: &HealthRules,
        remembered: &Remembered,
    ) -> bool {
        let owned = &self.controller.owned;
        let checks_health = object.spec.wait || !object.spec.health_checks.is_empty();
        // A pass that found otherwise, or did not wait to the end, is to be put right.
        let is_said_healthy =
            condition(object, HEALTHY).is_some_and(|said| said.status == ConditionStatus::True);
        let (recorded, unreadable) = store::read(object.status.inventory.as_ref(), None);
        let mut ids = recorded.entries().into_iter().map(|entry| &entry.id);
        target.is_ours
            && unreadable.is_none()
            && recorded.len() == remembered.inventory.len()
            && ids.all(|id| remembered.inventory.contains(id))
            && (object.spec.wait || object.spec.health_checks.is_empty())
            && (!checks_health || recorded.is_empty() || is_said_healthy)
            && remembered.inventory.entries().into_iter().all(|entry| {
                let seen = entry.seen.as_ref();
                let is_same = owned
                    .sight(&entry.id)
                    .is_some_and(|sight| seen.is_some_and(|seen| seen.live == sight.digest));
                let is_healthy = || {
                    let health = owned.health(&entry.id);
                    rules.is_built_in(&entry.id.gvk)
                        && health.is_some_and(|one| one.status == flumen_health::Status::Current)
                };
                is_same && (!checks_health || is_healthy())
            })
    }

    /// Gives others their turn: from here on there is little to do.
    pub(super) fn rest(&self) {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Notes which step is under way.
    pub(super) fn step(&self, what: &str, revision: &str) {
        let mut state = self.state();
        let message = step_message(what, revision, &state.object);
        let now = Timestamp::now();
        mark_reconciling(&mut state.object, PROGRESSING, &message, now);
        let unknown = ConditionStatus::Unknown;
        let in_progress = "Reconciliation in progress";
        set_condition(&mut state.object, READY, unknown, PROGRESSING, in_progress, now);
    }

    /// Tells the cluster which step is under way.
    async fn show(&self) {
        let (before, after) = {
            let state = self.state();
            (state.written.clone(), state.object.clone())
        };
        if let Err(error) = self.write(&before, &after).await {
            tracing::warn!(object = %self.key, %error, "cannot show progress");
        }
    }

    /// Names objects in the status before they appear.
    pub(super) async fn write_inventory(
        &self,
        inventory: &Inventory,
    ) -> Result<(), flumen_kube::Error> {
        let (before, after) = {
            let mut state = self.state();
            state.object.status.inventory = Some(store::entries(inventory));
            (state.written.clone(), state.object.clone())
        };
        self.write(&before, &after).await
    }

    async fn write(
        &self,
        before: &Kustomization,
        after: &Kustomization,
    ) -> Result<(), flumen_kube::Error> {
        let answer = status::write(&self.controller.client, before, after, STATUS_MANAGER).await?;
        if let Some(node) = answer {
            self.controller.kustomizations.saw(&node);
            let mut written = after.clone();
            let version = node.at(&["metadata", "resourceVersion"]);
            let version = version.and_then(flumen_yaml::Node::as_str).unwrap_or_default();
            version.clone_into(&mut written.metadata.resource_version);
            let mut state = self.state();
            state.written = Arc::new(written);
            state.written_at = Instant::now();
        }
        Ok(())
    }

    async fn end_suspended(&self) -> Next {
        let (before, after) = {
            let mut state = self.state();
            close(&mut state.object);
            (state.written.clone(), state.object.clone())
        };
        match self.write(&before, &after).await {
            Err(error) if !error.is_not_found() => Next::Retry,
            _ => Next::Rest,
        }
    }

    /// Says what came of the pass, in one write.
    async fn end(&self, outcome: Result<(), Failure>) -> Next {
        let took = self.started.elapsed();
        let interval = self.state().object.spec.interval;
        let (before, after, next) = {
            let mut state = self.state();
            let state = &mut *state;
            let next = match &outcome {
                Ok(()) => {
                    if let Some(revision) = &state.revision {
                        succeed(&mut state.object, revision);
                    }
                    Next::After(self.controller.options.jittered(interval.0))
                }
                Err(failure) => {
                    fail(&mut state.object, failure);
                    failure.next
                }
            };
            handle_request(&mut state.object);
            if let (Some(revision), Some(digest)) = (&state.revision, state.build_digest.clone()) {
                record(&mut state.object, revision, digest, took);
            }
            (state.written.clone(), state.object.clone(), next)
        };
        if let Err(error) = self.write(&before, &after).await {
            if error.is_not_found() {
                return Next::Rest;
            }
            tracing::error!(object = %self.key, %error, "cannot write the status");
            return Next::Retry;
        }
        let took = GoDuration(took);
        match &outcome {
            Ok(()) => {
                let revision = after.status.last_applied_revision.as_deref().unwrap_or_default();
                tracing::info!(object = %self.key, revision, %took, "applied");
                let message = finished(took.0, interval);
                self.post_with(Severity::Info, SUCCEEDED, &message, &[("commit_status", "update")]);
            }
            Err(failure) => {
                tracing::error!(object = %self.key, reason = failure.reason, error = %failure.message, "failed");
                let (severity, message) = match &failure.event {
                    Said::Nothing => return next,
                    Said::Message => (Severity::Error, &failure.message),
                    Said::Error(message) => (Severity::Error, message),
                    Said::Info(message) => (Severity::Info, message),
                };
                self.post(severity, failure.reason, message);
            }
        }
        next
    }

    /// Tells what was done to objects, if anything.
    fn tell(&self, lines: &str) {
        if !lines.is_empty() {
            self.post(Severity::Info, PROGRESSING, lines);
        }
    }

    /// Posts an event about the object as it is now.
    pub(super) fn post(&self, severity: Severity, reason: &str, message: &str) {
        self.post_with(severity, reason, message, &[]);
    }

    fn post_with(&self, severity: Severity, reason: &str, message: &str, more: &[(&str, &str)]) {
        let state = self.state();
        let mut metadata = state.revision.as_ref().map(Revision::metadata).unwrap_or_default();
        metadata.extend_from_slice(more);
        let events = &self.controller.kustomize_events;
        events.post(&state.object, severity, reason, message, &metadata);
    }
}
