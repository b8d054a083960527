//! Which change triggers which reconciliations.

use std::any::Any;

use flumen_object::{GroupKind, ObjectId};

use crate::{
    Changed, Key, KindInfo, Reference, Relation, Runtime, Trigger, Wake,
    registered::{ChangeEvent, ReadChange, Registered},
};

/// Something that a watch has seen.
pub(crate) enum Notice {
    /// A `Change` of an object of a registered kind.
    Changed(&'static KindInfo, Box<dyn Any + Send>),
    /// An object of another kind that some depend on has changed.
    Dependency(ObjectId),
    /// A `ConfigMap` or `Secret` has changed.
    Input(ObjectId),
    /// A kind is served for the first time.
    Established(GroupKind),
    /// Another part of the controller has something to do, in the order of the changes.
    Call(Box<dyn FnOnce() + Send>),
}

/// A listener for kinds that are served for the first time.
pub(crate) type OnEstablished = Box<dyn Fn(&GroupKind) + Send + Sync>;

/// Follows notices with what is registered.
pub(crate) struct Wakeups<'m> {
    pub(crate) runtime: &'m Runtime,
    pub(crate) kinds: &'m [Box<dyn Registered + Send + Sync>],
    pub(crate) on_established: &'m [OnEstablished],
}

impl Wakeups<'_> {
    pub(crate) fn handle(&self, notice: Notice) {
        match notice {
            Notice::Changed(info, change) => {
                let kind = self.kinds.iter().find(|kind| kind.info() == info);
                if let Some(kind) = kind
                    && let Some(read) = kind.read(change.as_ref())
                {
                    self.changed(kind.as_ref(), &read, change.as_ref());
                }
            }
            Notice::Dependency(id) => {
                let changed = Changed { id: &id, change: None };
                self.wake_users(Relation::DEPENDENCY, &changed);
            }
            Notice::Input(id) => {
                for user in self.users(Relation::INPUT, &id) {
                    self.runtime.queue.add(user, Trigger::Changed(id.to_string()));
                }
            }
            Notice::Established(kind) => {
                self.on_established.iter().for_each(|established| established(&kind));
            }
            Notice::Call(call) => call(),
        }
    }

    fn changed(&self, kind: &dyn Registered, read: &ReadChange, change: &dyn Any) {
        let runtime = self.runtime;
        let ReadChange { key, event, references, .. } = read;
        let before = runtime.index().update(key, references.clone());
        self.keep_dependencies(key.kind, &before, references);
        let are_reordered = dependencies(&before) != dependencies(references);
        if are_reordered && *event != ChangeEvent::Deleted {
            let depth = runtime.index().depth(key);
            runtime.queue.set_depth(key, depth);
        }
        if read.is_requested {
            runtime.queue.add(key.clone(), Trigger::Changed(key.to_string()));
        } else if *event == ChangeEvent::Deleted {
            runtime.forget(key);
        } else if let Some(relation) = read.wakes_itself {
            runtime.queue.add_waiting(key, relation);
        }
        kind.observe(key, change);
        let id = key.object_id();
        let changed = Changed { id: &id, change: Some(change) };
        for relation in [Relation::SOURCE, Relation::DEPENDENCY] {
            self.wake_users(relation, &changed);
        }
        self.wake_terminating(&before, references, read.is_released);
        if are_reordered {
            self.wake_cycle(key, *event == ChangeEvent::Added);
        }
    }

    fn users(&self, relation: Relation, id: &ObjectId) -> Vec<Key> {
        self.runtime.index().users(relation, id).cloned().collect()
    }

    /// Wakes the users of a changed object, dependencies before their dependents.
    fn wake_users(&self, relation: Relation, changed: &Changed<'_>) {
        let queue = &self.runtime.queue;
        let mut woken = Vec::new();
        for user in self.users(relation, changed.id) {
            let Some(kind) = self.kinds.iter().find(|kind| kind.info() == user.kind) else {
                continue;
            };
            match kind.wakes(&user, relation, changed) {
                Wake::No => {}
                Wake::IfWaiting => queue.add_waiting(&user, relation),
                Wake::Now => woken.push((self.runtime.index().depth(&user), user)),
                Wake::AtRevision { revision, is_behind } => {
                    // A running reconciliation may have looked a moment too early.
                    let is_behind = is_behind || queue.is_running(&user);
                    if is_behind && !queue.is_working_on(&user, &revision) {
                        woken.push((self.runtime.index().depth(&user), user));
                    }
                }
            }
        }
        woken.sort();
        for (depth, user) in woken {
            // Its dependencies may have got dependencies since it was seen.
            queue.set_depth(&user, depth);
            queue.add(user, Trigger::Changed(changed.id.to_string()));
        }
    }

    /// Wakes objects that are deleted, and wait for the deletion of this dependent.
    fn wake_terminating(&self, before: &[Reference], after: &[Reference], is_released: bool) {
        let released = before.iter().filter(|one| is_released || !after.contains(one));
        for reference in released.filter(|one| one.relation == Relation::DEPENDENCY) {
            let id = &reference.id;
            let kind = self.kinds.iter().find(|kind| is_of(id, kind.info()));
            let Some(kind) = kind else { continue };
            let key = Key::new(kind.info(), id.namespace.as_str(), id.name.as_str());
            if kind.is_terminating(&key) {
                self.runtime.queue.add(key, Trigger::Due);
            }
        }
    }

    /// Wakes everything behind an object whose new dependencies close or open a cycle.
    fn wake_cycle(&self, key: &Key, is_new: bool) {
        let dependents = self.runtime.index().dependents(key);
        if is_new && !dependents.contains(key) {
            return;
        }
        for dependent in dependents {
            for user in self.users(Relation::DEPENDENCY, &dependent.object_id()) {
                self.runtime.queue.add_waiting(&user, Relation::DEPENDENCY);
            }
        }
    }

    /// Watches the objects of other kinds that an object depends on, and no longer those that none does.
    fn keep_dependencies(&self, user: &KindInfo, before: &[Reference], after: &[Reference]) {
        let others = |references| -> Vec<&ObjectId> {
            let ids = dependencies(references).into_iter();
            ids.filter(|id| !is_of(id, user)).collect()
        };
        let (before, after) = (others(before), others(after));
        for id in after.iter().filter(|id| !before.contains(id)) {
            self.runtime.dependencies.keep(id);
        }
        for id in before.iter().filter(|id| !after.contains(id)) {
            if self.users(Relation::DEPENDENCY, id).is_empty() {
                self.runtime.dependencies.release(id);
            }
        }
    }
}

fn is_of(id: &ObjectId, kind: &KindInfo) -> bool {
    id.gvk.kind == *kind.kind && id.gvk.group == *kind.group
}

fn dependencies(references: &[Reference]) -> Vec<&ObjectId> {
    let ordered = references.iter().filter(|one| one.relation == Relation::DEPENDENCY);
    ordered.map(|one| &one.id).collect()
}
