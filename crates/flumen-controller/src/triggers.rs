//! Who is woken by what.

use std::sync::Arc;

use flumen_api::{
    Artifact, ConditionStatus, Kustomization, READY, condition, is_ready, is_reconciling,
};
use flumen_object::ObjectId;

use crate::{
    Controller, Key, Kind,
    cache::{
        GroupKind,
        owned::Moved,
        referenced::Referenced,
        reflected::{Change, Name, Read},
    },
    index::Index,
    kustomization::{
        ALLOW_LARGE_PRUNE, ARTIFACT_FAILED, DEPENDENCY_NOT_READY, UNKNOWN_KINDS, depends_on,
        depends_on_objects, drift::MODE, has_expression_on,
    },
    moved,
    queue::Trigger,
    status::{has_finalizer, requested_at},
};

/// Annotations that change what a pass does.
const SETTINGS: [&str; 3] = [MODE, ALLOW_LARGE_PRUNE, UNKNOWN_KINDS];

/// What the caches have seen.
#[derive(Debug)]
pub(crate) enum News {
    Kustomization(Change<Kustomization>),
    Source(Box<OfSource>),
    Moved(Moved),
    Referenced(Referenced),
    /// An object that somebody depends on has changed.
    Depended(ObjectId),
    /// A kind begins to be served.
    Established(GroupKind),
}

/// What has happened to a source.
#[derive(Debug)]
pub(crate) struct OfSource {
    key: Key,
    /// It is to be reconciled.
    is_asked: bool,
    is_gone: bool,
    before: Option<Artifact>,
    after: Option<Artifact>,
}

impl News {
    /// What happened to a source.
    pub(crate) fn of_source<K: flumen_api::Kind>(
        kind: Kind,
        change: Change<K>,
        artifact: impl Fn(&K) -> Option<Artifact>,
    ) -> Self {
        let of = |read: &Option<Read<K>>| match read {
            Some(Ok(object)) => artifact(object),
            _ => None,
        };
        Self::Source(Box::new(OfSource {
            is_asked: is_asked(&change),
            is_gone: change.after.is_none(),
            before: of(&change.before),
            after: of(&change.after),
            key: Key::new(kind, change.name.0, change.name.1),
        }))
    }
}

/// Whether a change of an object asks for a pass over it: it is new, its spec has changed, it is to be deleted, or
/// somebody asks.
fn is_asked<K: flumen_api::Kind>(change: &Change<K>) -> bool {
    let Some(after) = &change.after else { return false };
    match (&change.before, after) {
        (Some(Ok(before)), Ok(after)) => {
            let (old, new) = (before.metadata(), after.metadata());
            old.uid != new.uid
                || old.generation != new.generation
                || old.deletion_timestamp != new.deletion_timestamp
                || requested_at(before.as_ref()) != requested_at(after.as_ref())
                || settings(before.as_ref()) != settings(after.as_ref())
        }
        _ => true,
    }
}

/// The annotations that say how an object is reconciled.
fn settings<K: flumen_api::Kind>(object: &K) -> [Option<&String>; 3] {
    SETTINGS.map(|name| object.metadata().annotations.get(name))
}

/// Puts into the queue what the news concern.
pub(crate) fn handle(controller: &Controller, news: News) {
    let mut index = controller.index();
    let index = &mut *index;
    match news {
        News::Kustomization(change) => {
            index.update(&change);
            keep_dependencies(controller, index, &change);
            of_kustomization(controller, index, &change);
        }
        News::Depended(id) => {
            for dependant in index.dependants_on_object(&id) {
                wake_waiting(controller, dependant, DEPENDENCY_NOT_READY);
            }
        }
        News::Established(kind) => {
            for name in controller.providers.missing(&kind) {
                controller.queue.add(key_of(&name), Trigger::Due);
            }
        }
        News::Source(news) => of_source(controller, index, *news),
        News::Moved(moved) => moved::heard(controller, moved),
        News::Referenced(reference) => {
            let (namespace, name) = &reference.name;
            let by = format!("{}/{namespace}/{name}", reference.kind);
            for reader in index.readers(&reference) {
                controller.queue.add(key_of(reader), Trigger::Changed(by.clone()));
            }
        }
    }
}

fn of_source(controller: &Controller, index: &Index, news: OfSource) {
    if news.is_gone {
        controller.forget(&news.key);
    }
    let revision =
        |artifact: &Option<Artifact>| artifact.as_ref().map(|artifact| artifact.revision.clone());
    let stored =
        |artifact: &Option<Artifact>| artifact.as_ref().map(|artifact| artifact.last_update_time);
    if revision(&news.before) != revision(&news.after) {
        wake_users(controller, index, &news.key, news.after.as_ref());
    } else if stored(&news.before) != stored(&news.after) {
        // What was lost is there again.
        for user in index.users(&news.key) {
            wake_waiting(controller, user, ARTIFACT_FAILED);
        }
    }
    if news.is_asked {
        controller.queue.add(news.key, Trigger::Due);
    }
}

fn of_kustomization(controller: &Controller, index: &Index, change: &Change<Kustomization>) {
    let (namespace, name) = &change.name;
    let key = Key::new(Kind::Kustomization, namespace, name);
    let (before, after) =
        (dependencies(change.before.as_ref()), dependencies(change.after.as_ref()));
    if before != after
        && let Some(Ok(object)) = &change.after
    {
        controller.queue.set_depth(&key, depth(controller, object));
    }
    if is_asked(change) {
        let by = Trigger::Changed(key.to_string());
        controller.queue.add(key, by);
    } else if change.after.is_none() {
        controller.memory.forget(&key);
        controller.contests.forget(&key);
        controller.forget(&key);
    } else if has_other_marks(change) {
        // Its own expressions may look at them.
        wake_waiting(controller, &change.name, DEPENDENCY_NOT_READY);
    }
    let object = change.after.as_ref().and_then(|read| read.as_ref().ok());
    controller.providers.recorded(&change.name, object.map(AsRef::as_ref));
    if state(change.before.as_ref()) == state(change.after.as_ref()) {
        // An expression may look at anything.
        for dependant in index.dependants(&change.name) {
            let object = kustomization(controller, dependant);
            if object.is_some_and(|object| has_expression_on(&object, &change.name)) {
                wake_waiting(controller, dependant, DEPENDENCY_NOT_READY);
            }
        }
    } else {
        wake_dependants(controller, index, &change.name);
    }
    let is_done = is_held(change.before.as_ref()) && !is_held(change.after.as_ref());
    for name in before.iter().filter(|name| is_done || !after.contains(name)) {
        wake_deleted(controller, name);
    }
    if before != after {
        // It may close a circle, or open one: all who wait behind it must know.
        let behind = index.behind(&change.name);
        if change.before.is_some() || behind.contains(&change.name) {
            for name in behind {
                wake_dependants(controller, index, &name);
            }
        }
    }
}

/// Whether a Kustomization is not let go before its objects are.
fn is_held(read: Option<&Read<Kustomization>>) -> bool {
    matches!(read, Some(Ok(object)) if has_finalizer(object.as_ref()))
}

/// Whether the labels or annotations of a Kustomization have changed that asks with expressions for its dependencies.
fn has_other_marks(change: &Change<Kustomization>) -> bool {
    let (Some(Ok(before)), Some(Ok(after))) = (&change.before, &change.after) else { return false };
    after.spec.depends_on.iter().any(|one| one.ready_expr.is_some())
        && (before.metadata.labels != after.metadata.labels
            || before.metadata.annotations != after.metadata.annotations)
}

fn dependencies(read: Option<&Read<Kustomization>>) -> Vec<Name> {
    let object = read.and_then(|read| read.as_ref().ok());
    object.into_iter().flat_map(|object| depends_on(object).collect::<Vec<_>>()).collect()
}

/// What those who depend on a Kustomization look at.
fn state(read: Option<&Read<Kustomization>>) -> Option<(bool, i64, i64, Option<&str>)> {
    let object = read?.as_ref().ok()?;
    let ready = condition(object.as_ref(), READY).map(|ready| ready.status);
    Some((
        ready == Some(ConditionStatus::True),
        object.metadata.generation,
        object.status.observed_generation,
        object.status.last_applied_revision.as_deref(),
    ))
}

/// Wakes those who wait for a Kustomization.
fn wake_dependants(controller: &Controller, index: &Index, name: &Name) {
    for dependant in index.dependants(name) {
        wake_waiting(controller, dependant, DEPENDENCY_NOT_READY);
    }
}

/// Wakes a Kustomization if it waits for this reason.
fn wake_waiting(controller: &Controller, name: &Name, reason: &str) {
    let Some(object) = kustomization(controller, name) else { return };
    let key = key_of(name);
    let ready = condition(object.as_ref(), READY);
    // A pass that is under way may have looked a moment too early.
    if ready.is_some_and(|ready| ready.reason == reason) || controller.queue.is_running(&key) {
        controller.queue.add(key, Trigger::Due);
    }
}

/// Wakes a Kustomization that is deleted: it may have waited for those that depend on it to go.
fn wake_deleted(controller: &Controller, name: &Name) {
    let object = kustomization(controller, name);
    if object.is_some_and(|object| object.metadata.deletion_timestamp.is_some()) {
        controller.queue.add(key_of(name), Trigger::Due);
    }
}

/// Watches what somebody depends on, and no longer what nobody does.
fn keep_dependencies(controller: &Controller, index: &Index, change: &Change<Kustomization>) {
    let objects = |read: Option<&Read<Kustomization>>| -> Vec<ObjectId> {
        let object = read.and_then(|read| read.as_ref().ok());
        object.map(|object| depends_on_objects(object).collect()).unwrap_or_default()
    };
    let (before, after) = (objects(change.before.as_ref()), objects(change.after.as_ref()));
    for id in after.iter().filter(|id| !before.contains(id)) {
        controller.depended.keep(id);
    }
    for id in before.iter().filter(|id| index.dependants_on_object(id).next().is_none()) {
        controller.depended.release(id);
    }
}

/// Wakes those who build from a source, dependencies before those who depend on them.
fn wake_users(controller: &Controller, index: &Index, source: &Key, artifact: Option<&Artifact>) {
    let Some(artifact) = artifact else { return };
    let is_behind = |name: &Name, object: &Kustomization| {
        let key = key_of(name);
        let attempted = object.status.last_attempted_revision.as_deref();
        let is_new = attempted != Some(&artifact.revision)
            || !(is_ready(object) || is_reconciling(object))
            // It may have looked a moment too early.
            || controller.queue.is_running(&key);
        is_new && !controller.queue.is_working_on(&key, &artifact.revision)
    };
    let mut users: Vec<(usize, &Name)> = index
        .users(source)
        .filter_map(|name| Some((name, kustomization(controller, name)?)))
        .filter(|(name, object)| is_behind(name, object))
        .map(|(name, object)| (depth(controller, &object), name))
        .collect();
    users.sort();
    for (depth, name) in users {
        let key = key_of(name);
        // What it depends on may have got dependencies since it was seen.
        controller.queue.set_depth(&key, depth);
        controller.queue.add(key, Trigger::Changed(source.to_string()));
    }
}

pub(crate) fn kustomization(controller: &Controller, name: &Name) -> Option<Arc<Kustomization>> {
    controller.kustomizations.get(&name.0, &name.1)?.ok()
}

/// No chain of dependencies is longer; one that is runs in a circle.
const DEEPEST: usize = 64;

/// How many dependencies stand behind one another.
fn depth(controller: &Controller, object: &Kustomization) -> usize {
    let mut names: Vec<_> = depends_on(object).collect();
    let mut depth = 0;
    while !names.is_empty() && depth < DEEPEST {
        depth += 1;
        let there = names.iter().filter_map(|(namespace, name)| {
            controller.kustomizations.get(namespace, name).and_then(Result::ok)
        });
        let mut next: Vec<_> =
            there.flat_map(|object| depends_on(&object).collect::<Vec<_>>()).collect();
        next.sort();
        next.dedup();
        names = next;
    }
    depth
}

pub(crate) fn key_of((namespace, name): &Name) -> Key {
    Key::new(Kind::Kustomization, namespace, name)
}
