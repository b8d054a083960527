//! One reconciliation of a Kustomization, from its source to healthy objects.
//!
//! The steps are in [`Work::steps`]. What they report is kept in the object; the runtime writes it.

use std::{collections::BTreeSet, sync::Arc};

use flumen_api::{
    ConditionStatus, Kustomization, READY, condition, mark_reconciling, set_condition,
};
use flumen_apply::Watched as _;
use flumen_build::flux::check_encryption;
use flumen_fs::Tree;
use flumen_health::HealthRules;
use flumen_object::{Gvk, Object};
use flumen_runtime::{Failure, Key, Severity, Wait};

use super::{
    Kustomize, artifact, build,
    changes::Changes,
    decryption, depends,
    drift::{Mode, is_applied},
    flux_components,
    health::HEALTHY,
    late::fails_unknown_kinds,
    memory::Remembered,
    outcome::{PROGRESSING, Revision, lines, lines_of_writes, step_message},
    reconciler::Run,
    settings::{apply_options, health_rules},
    store::{self, StatusStore},
    target::{Target, account, target},
};
use crate::source::source_of;

/// What a reconciliation notes for its own end.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Set when the source has been found.
    pub(super) revision: Option<Revision>,
    /// Set when the build has succeeded.
    pub(super) build_digest: Option<String>,
    /// The kinds that objects wait for.
    pub(super) awaited: BTreeSet<Gvk>,
}

/// The work of one reconciliation.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) kustomize: &'a Kustomize,
    pub(super) run: &'a Run<'a>,
}

impl Work<'_> {
    pub(super) fn key(&self) -> &Key {
        self.run.key()
    }

    pub(super) async fn run(&self) -> Result<(), Failure> {
        self.forget_missed();
        let mut providers = self.kustomize.providers.changes();
        let steps = self.steps();
        tokio::pin!(steps);
        loop {
            tokio::select! {
                outcome = &mut steps => return outcome,
                Ok(()) = providers.changed() => {
                    let is_waiting = !self.run.notes().awaited.is_empty();
                    if is_waiting {
                        self.report_awaited();
                        self.run.show_progress();
                    }
                }
            }
        }
    }

    async fn steps(&self) -> Result<(), Failure> {
        let (kustomize, key, object) = (self.kustomize, self.key(), self.run.object());
        let queue = &kustomize.runtime.queue;
        let retry = object.spec.retry_interval();
        let invalid = |error| Failure::stalled("InvalidAnnotation", error);
        let mode = Mode::of(&object).map_err(invalid)?;
        fails_unknown_kinds(kustomize, &object).map_err(invalid)?;
        let rules = health_rules(&object, account(kustomize, &object).is_some())?;
        if let Some(source) = source_of(&object) {
            queue.reads_source(key, &source);
        }
        let artifact = artifact::resolve(kustomize, &object)?;
        queue.works_on(key, &artifact.revision);
        self.run.notes().revision = Some(Revision::of(&artifact));
        depends::check(kustomize, key, &object, &artifact).await?;

        let revision = artifact.revision.as_str();
        self.step("Fetching manifests", revision);
        let tree = artifact::tree(kustomize, &object, &artifact).await?;
        build::check_path(&tree, &object.spec.path)
            .map_err(|error| Failure::retried("ArtifactFailed", error, retry))?;

        self.run.with(|object| {
            object.status.last_attempted_revision = Some(revision.to_owned());
        });
        self.step("Building manifests", revision);
        let target = target(kustomize, &object).await.map_err(|error| {
            let event = format!("failed to build kube client: {error}");
            Failure::retried("ReconciliationFailed", error, retry)
                .with_event(Severity::Error, event)
        })?;
        let input = build::Input::new(kustomize, &object, &artifact).await;
        if let Some(remembered) = kustomize.memory.get(key)
            && self.is_as_it_was(&object, &target, &rules, &remembered)
            && let Some(input) = remembered.input.is_same(&input, tree.as_ref())
        {
            self.run.notes().build_digest = Some(remembered.digest.clone());
            self.forget_drift();
            kustomize.memory.set(key, Remembered { input, ..remembered });
            return Ok(());
        }
        let built = self.build(&object, tree, input).await;
        let built = built.map_err(|error| Failure::retried("BuildFailed", error, retry))?;
        self.run.notes().build_digest = Some(built.digest.clone());
        kustomize.providers.built(&key.to_name(), &built.objects);

        self.step("Detecting drift", revision);
        check_encryption(&built.objects)
            .map_err(|error| Failure::retried("ReconciliationFailed", error.to_string(), retry))?;
        let objects = if target.is_ours {
            flux_components::leave_alone(*self, built.objects, &built.digest)
        } else {
            built.objects
        };
        let known = kustomize.memory.inventory(key);
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
        let changes = Changes::new(*self);
        let options = apply_options(kustomize, key, &object, &target, &rules, revision)?;
        let store = StatusStore::new(self.run, before);
        let first = objects.iter().next().map(Object::id);
        let applied =
            flumen_apply::apply(&target.client, objects, &store, &options, &changes).await;
        let committed = match &applied {
            Ok(outcome) => Some(outcome.inventory.clone()),
            Err(_) => store.committed(),
        };
        if let Some(inventory) = &committed {
            self.run.with(|object| object.status.inventory = Some(store::entries(inventory)));
        }
        let (changes, pruned) = changes.into_parts();
        if committed.is_some() {
            self.post_changes(&lines_of_writes(&changes));
        }
        let outcome = match (applied, unreadable) {
            (Ok(outcome), None) => outcome,
            (Ok(_), Some(unreadable)) => {
                return Err(Failure::retried("ReconciliationFailed", unreadable, retry));
            }
            (Err(error), _) => {
                let first = first.as_ref();
                return Err(self.apply_failure(&target, &error, first, &changes, retry).await);
            }
        };
        self.post_changes(&lines(&pruned));
        let is_repeated = object.status.observed_generation == object.metadata.generation
            && kustomize.memory.with(key, |known| known.digest == built.digest) == Some(true);
        self.report_contests(&changes, is_repeated);

        self.check_health(&object, &target, rules, &outcome.waited, &changes, revision).await?;
        let remembered =
            Remembered { input: built.input, digest: built.digest, inventory: outcome.inventory };
        kustomize.memory.set(key, remembered);
        Ok(())
    }

    async fn build(
        &self,
        object: &Kustomization,
        tree: Arc<dyn Tree>,
        input: build::Input,
    ) -> Result<build::Built, String> {
        decryption::check_keys(self.kustomize, object).await?;
        build::build(self.kustomize, object, tree, input).await
    }

    /// Whether everything is applied and healthy as the last reconciliation has left it, as far as watched.
    fn is_as_it_was(
        &self,
        object: &Kustomization,
        target: &Target,
        rules: &HealthRules,
        remembered: &Remembered,
    ) -> bool {
        let owned = &self.kustomize.owned;
        let checks_health = object.spec.wait || !object.spec.health_checks.is_empty();
        // A reconciliation that found otherwise, or did not wait to the end, must be completed.
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

    /// Notes which step is running.
    pub(super) fn step(&self, what: &str, revision: &str) {
        let now = self.run.runtime().clock.now();
        self.run.with(|object| {
            let message = step_message(what, revision, object);
            mark_reconciling(object, PROGRESSING, &message, now);
            let in_progress = "Reconciliation in progress";
            let unknown = ConditionStatus::Unknown;
            set_condition(object, READY, unknown, PROGRESSING, in_progress, now);
        });
    }

    /// Starts a wait, during which others use the worker.
    pub(super) fn wait(&self, what: &'static str, reason: &'static str, can_be_superseded: bool) {
        self.run.release_worker();
        self.run.set_wait(Some(Wait { what, reason, can_be_superseded }));
    }

    /// Posts what was done to objects, if anything.
    fn post_changes(&self, lines: &str) {
        if !lines.is_empty() {
            self.post(Severity::Info, PROGRESSING, lines);
        }
    }

    /// Posts an event about the object as it is now.
    pub(super) fn post(&self, severity: Severity, reason: &str, message: &str) {
        let revision = self.run.notes().revision.clone();
        let facts = revision.as_ref().map(Revision::metadata).unwrap_or_default();
        self.run.post(severity, reason, message, &facts);
    }
}
