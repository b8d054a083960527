//! Kustomizations as the runtime sees them.

use std::sync::Arc;

use flumen_api::{
    Artifact, ConditionStatus, Kustomization, READY, SubstituteKind, condition, is_ready,
    is_reconciling,
};
use flumen_object::{Gvk, ObjectId};
use flumen_runtime::{
    Change, Changed, Done, Failure, Finalized, Key, KindInfo, Reconciler, Reconciliation,
    Reference, Relation, Wake,
};
use flumen_yaml::Text;

use super::{
    Kustomize, depends,
    drift::MODE,
    finalize::{self, ALLOW_LARGE_PRUNE},
    late::UNKNOWN_KINDS,
    outcome,
    work::{Notes, Work},
};
use crate::{
    KUSTOMIZATION,
    source::{artifacts_of, source_of},
};

/// Annotations that change what a reconciliation does.
const SETTINGS: [&str; 3] = [MODE, ALLOW_LARGE_PRUNE, UNKNOWN_KINDS];

/// One reconciliation of a Kustomization.
pub(super) type Run<'r> = Reconciliation<'r, Kustomization, Notes>;

pub(crate) struct Kustomizations(Arc<Kustomize>);

impl Kustomizations {
    pub(crate) fn new(kustomize: &Arc<Kustomize>) -> Self {
        Self(kustomize.clone())
    }
}

impl Reconciler for Kustomizations {
    type Object = Kustomization;
    type Notes = Notes;

    fn kind(&self) -> &'static KindInfo {
        &KUSTOMIZATION
    }

    fn settings(&self) -> &'static [&'static str] {
        &SETTINGS
    }

    fn references(&self, object: &Kustomization) -> Vec<Reference> {
        let source = source_of(object).map(|key| key.object_id());
        let source = source.map(|id| Reference { relation: Relation::SOURCE, id });
        let dependencies = object.spec.depends_on.iter().map(|dependency| Reference {
            relation: Relation::DEPENDENCY,
            id: depends::id(object, dependency),
        });
        let inputs = inputs(object).map(|id| Reference { relation: Relation::INPUT, id });
        source.into_iter().chain(dependencies).chain(inputs).collect()
    }

    fn wakes(&self, user: &Kustomization, relation: Relation, changed: &Changed<'_>) -> Wake {
        if relation == Relation::SOURCE {
            return match artifacts_of(changed) {
                Some((before, after)) => wakes_by_source(user, before, after),
                None => Wake::No,
            };
        }
        match changed.states::<Kustomization>() {
            // An expression may look at anything.
            Some(change) if readiness(change.former()) == readiness(change.present()) => {
                if depends::has_expression_on(user, &change.name) {
                    Wake::IfWaiting
                } else {
                    Wake::No
                }
            }
            _ => Wake::IfWaiting,
        }
    }

    fn wakes_itself(&self, change: &Change<Kustomization>) -> Option<Relation> {
        let (before, after) = (change.former()?, change.present()?);
        // Its own expressions may look at its labels and annotations.
        let has_expression = after.spec.depends_on.iter().any(|one| one.ready_expr.is_some());
        let is_relabelled = before.metadata.labels != after.metadata.labels
            || before.metadata.annotations != after.metadata.annotations;
        (has_expression && is_relabelled).then_some(Relation::DEPENDENCY)
    }

    fn observe(&self, key: &Key, change: &Change<Kustomization>) {
        if change.after.is_none() {
            self.0.memory.forget(key);
            self.0.contests.forget(key);
        }
        self.0.providers.recorded(&change.name, change.present());
    }

    async fn reconcile(&self, run: &Run<'_>) -> Result<Done, Failure> {
        Work { kustomize: &self.0, run }.run().await?;
        Ok(Done { interval: run.with(|object| object.spec.interval.0) })
    }

    fn complete(&self, run: &Run<'_>, outcome: &Result<Done, Failure>) {
        outcome::complete(run, outcome);
    }

    fn complete_suspended(&self, object: &mut Kustomization) {
        outcome::close(object, self.0.runtime.clock.now());
    }

    fn announce(&self, run: &Run<'_>, outcome: &Result<Done, Failure>) {
        outcome::announce(run, outcome);
    }

    async fn finalize(&self, run: &Run<'_>) -> Finalized {
        finalize::finalize(&self.0, run).await
    }

    fn finalized(&self, run: &Run<'_>) {
        finalize::announce(run);
    }

    fn ended(&self, key: &Key) {
        self.0.judge_moved(key);
    }
}

/// Returns the `ConfigMap`s and Secrets that a Kustomization reads.
fn inputs(object: &Kustomization) -> impl Iterator<Item = ObjectId> {
    let spec = &object.spec;
    let variables = spec.post_build.iter().flat_map(|post_build| &post_build.substitute_from);
    let variables = variables.map(|one| match one.kind {
        SubstituteKind::ConfigMap => ("ConfigMap", &one.name),
        SubstituteKind::Secret => ("Secret", &one.name),
    });
    let cluster = spec.kube_config.as_ref().and_then(|config| config.secret_ref.as_ref());
    let keys = spec.decryption.as_ref().and_then(|decryption| decryption.secret_ref.as_ref());
    let secrets = cluster.map(|one| &one.name).into_iter().chain(keys.map(|one| &one.name));
    let namespace = Text::from(object.metadata.namespace.as_str());
    variables.chain(secrets.map(|name| ("Secret", name))).map(move |(kind, name)| ObjectId {
        gvk: Gvk::new(&Text::literal("v1"), Text::literal(kind)),
        namespace: namespace.clone(),
        name: Text::from(name.as_str()),
    })
}

fn wakes_by_source(
    user: &Kustomization,
    before: Option<&Artifact>,
    after: Option<&Artifact>,
) -> Wake {
    let revision = |artifact: Option<&Artifact>| artifact.map(|artifact| artifact.revision.clone());
    let stored = |artifact: Option<&Artifact>| artifact.map(|artifact| artifact.last_update_time);
    if revision(before) == revision(after) {
        // An artifact that was lost has been stored again.
        return if stored(before) == stored(after) { Wake::No } else { Wake::IfWaiting };
    }
    let Some(revision) = revision(after) else { return Wake::No };
    let attempted = user.status.last_attempted_revision.as_ref();
    let is_behind = attempted != Some(&revision) || !(is_ready(user) || is_reconciling(user));
    Wake::AtRevision { revision, is_behind }
}

/// Returns what dependents look at.
fn readiness(object: Option<&Kustomization>) -> Option<(bool, i64, i64, Option<&str>)> {
    let object = object?;
    let ready = condition(object, READY).map(|ready| ready.status);
    Some((
        ready == Some(ConditionStatus::True),
        object.metadata.generation,
        object.status.observed_generation,
        object.status.last_applied_revision.as_deref(),
    ))
}
