//! The work queue: which object is reconciled next.
//!
//! A key is in the queue once, however often it is added, and one reconciliation of it runs at a time: what is added
//! meanwhile runs afterwards. Namespaces take turns, so that one with a thousand objects does not delay one with three.
//! Within a namespace dependencies come before their dependents.
//!
//! Lock order: the queue locks nothing else while it is locked.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{Key, KindInfo, index::Relation};

/// Why a key is reconciled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Its interval is over, or what it waited for may be there.
    Due,
    /// An object that it refers to has changed, or the object itself: the name of that.
    Changed(String),
}

#[derive(Debug, Default)]
pub struct Queue {
    state: Mutex<State>,
    /// Notified when a key becomes ready, or due earlier than before.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    items: HashMap<Key, Item>,
    /// Keys that are ready, by namespace.
    ready: HashMap<String, ReadyKeys>,
    /// Namespaces that have ready keys, in the order in which they are served.
    turns: VecDeque<String>,
    /// Keys that become ready later; the number keeps those of one instant apart.
    later: BTreeMap<(Instant, u64), Key>,
    number: u64,
}

/// Keys by their [depth](Item::depth), each in the order of adding. None of the lists is empty.
type ReadyKeys = BTreeMap<usize, VecDeque<Key>>;

#[derive(Debug, Default)]
struct Item {
    phase: Phase,
    /// Length of the longest chain of dependencies before it.
    depth: usize,
    /// Position of the key in `later`.
    due: Option<(Instant, u64)>,
    /// Failures in a row.
    failures: u32,
    /// What the last reconciliation gave up waiting for.
    waits_for: Option<Relation>,
    /// Notified when the key is added during a reconciliation.
    added: Arc<Notify>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Idle,
    Ready {
        trigger: Trigger,
        since: Instant,
    },
    Running {
        /// Triggers since the reconciliation started.
        again: Vec<Trigger>,
        /// Revision of the source that is being reconciled.
        revision: Option<String>,
    },
}

/// Shortest and longest delay of a retry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

/// When an object is reconciled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// Not before something changes.
    Never,
    /// After this time.
    After(Duration),
    /// After a delay that grows with every failure.
    Backoff,
    /// At once.
    Now,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Requests a reconciliation as soon as possible.
    pub fn add(&self, key: Key, trigger: Trigger) {
        self.state().add(key, trigger);
        self.changed.notify_one();
    }

    /// Requests a reconciliation of a key that waits for this, or that is running: it may have looked a moment too early.
    pub(crate) fn add_waiting(&self, key: &Key, relation: Relation) {
        let mut state = self.state();
        let Some(item) = state.items.get(key) else { return };
        if matches!(item.phase, Phase::Running { .. }) || item.waits_for == Some(relation) {
            state.add(key.clone(), Trigger::Due);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Sets the length of the longest chain of dependencies before a key: keys with shorter ones come first, since a
    /// dependent would most likely find that its dependencies are not ready.
    pub(crate) fn set_depth(&self, key: &Key, depth: usize) {
        self.state().items.entry(key.clone()).or_default().depth = depth;
    }

    /// Waits for the next key, and returns how long it was ready. The caller ends it with [`Self::done`].
    pub(crate) async fn next(&self) -> (Key, Trigger, Duration) {
        loop {
            let due = {
                let mut state = self.state();
                state.wake(Instant::now());
                if let Some(next) = state.take() {
                    return next;
                }
                state.later.keys().next().map(|(due, _)| *due)
            };
            match due {
                Some(due) => tokio::select! {
                    () = self.changed.notified() => {}
                    () = sleep_until(due) => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    /// Ends a reconciliation that gave up waiting for something, or for nothing. Triggers since its start come before
    /// its own wish.
    pub(crate) fn done(
        &self,
        key: &Key,
        requeue: Requeue,
        waits_for: Option<Relation>,
        backoff: Backoff,
    ) {
        self.state().done(key, requeue, waits_for, backoff);
        self.changed.notify_one();
    }

    /// Waits until a change triggers a key that is being reconciled, and returns the name of what changed.
    pub(crate) async fn superseded(&self, key: &Key) -> String {
        loop {
            let added = {
                let mut state = self.state();
                let item = state.items.entry(key.clone()).or_default();
                if let Phase::Running { again, .. } = &item.phase
                    && let Some(Trigger::Changed(by)) = most_urgent(again)
                {
                    return by.clone();
                }
                item.added.clone()
            };
            added.notified().await;
        }
    }

    /// Counts the ready keys of each kind.
    pub(crate) fn ready(&self) -> BTreeMap<&'static KindInfo, usize> {
        let state = self.state();
        let mut ready = BTreeMap::new();
        for key in state.ready.values().flat_map(ReadyKeys::values).flatten() {
            *ready.entry(key.kind).or_default() += 1;
        }
        ready
    }

    /// Notes that the reconciliation of a key is about to read its source: earlier changes of that are no reason for
    /// another one.
    pub fn reads_source(&self, key: &Key, source: &Key) {
        let mut state = self.state();
        let phase = state.items.get_mut(key).map(|item| &mut item.phase);
        if let Some(Phase::Running { again, .. }) = phase {
            let by = source.to_string();
            again.retain(|trigger| !matches!(trigger, Trigger::Changed(one) if *one == by));
        }
    }

    /// Notes the revision of the source that the reconciliation of a key works on.
    pub fn works_on(&self, key: &Key, source: &str) {
        let mut state = self.state();
        let phase = state.items.get_mut(key).map(|item| &mut item.phase);
        if let Some(Phase::Running { revision, .. }) = phase {
            *revision = Some(source.to_owned());
        }
    }

    /// Whether a key is being reconciled at this revision of its source.
    pub(crate) fn is_working_on(&self, key: &Key, source: &str) -> bool {
        let state = self.state();
        let phase = state.items.get(key).map(|item| &item.phase);
        matches!(phase, Some(Phase::Running { revision: Some(revision), .. }) if revision == source)
    }

    /// Whether a key is being reconciled.
    pub fn is_running(&self, key: &Key) -> bool {
        let state = self.state();
        state.items.get(key).is_some_and(|item| matches!(item.phase, Phase::Running { .. }))
    }

    /// Removes a deleted object.
    pub(crate) fn forget(&self, key: &Key) {
        let mut state = self.state();
        let Some(item) = state.items.get(key) else { return };
        if matches!(item.phase, Phase::Idle) {
            let due = item.due;
            state.items.remove(key);
            due.and_then(|due| state.later.remove(&due));
        }
    }
}

impl State {
    fn add(&mut self, key: Key, trigger: Trigger) {
        let item = self.items.entry(key.clone()).or_default();
        match &mut item.phase {
            Phase::Running { again, .. } => {
                if !again.contains(&trigger) {
                    again.push(trigger);
                }
                item.added.notify_one();
            }
            Phase::Ready { .. } => {}
            phase @ Phase::Idle => {
                *phase = Phase::Ready { trigger, since: Instant::now() };
                if let Some(due) = item.due.take() {
                    self.later.remove(&due);
                }
                let depth = item.depth;
                self.push_ready(key, depth);
            }
        }
    }

    fn push_ready(&mut self, key: Key, depth: usize) {
        let ready = self.ready.entry(key.namespace.clone()).or_default();
        if ready.is_empty() {
            self.turns.push_back(key.namespace.clone());
        }
        ready.entry(depth).or_default().push_back(key);
    }

    /// Moves the keys that are due to the ready ones.
    fn wake(&mut self, now: Instant) {
        while let Some(entry) = self.later.first_entry() {
            if entry.key().0 > now {
                return;
            }
            let key = entry.remove();
            if let Some(item) = self.items.get_mut(&key) {
                item.due = None;
            }
            self.add(key, Trigger::Due);
        }
    }

    fn take(&mut self) -> Option<(Key, Trigger, Duration)> {
        let namespace = self.turns.pop_front()?;
        let ready = self.ready.get_mut(&namespace)?;
        let mut shallowest = ready.first_entry()?;
        let key = shallowest.get_mut().pop_front()?;
        if shallowest.get().is_empty() {
            shallowest.remove();
        }
        if ready.is_empty() {
            self.ready.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        let item = self.items.get_mut(&key)?;
        let phase = std::mem::replace(
            &mut item.phase,
            Phase::Running { again: Vec::new(), revision: None },
        );
        let Phase::Ready { trigger, since } = phase else { return None };
        Some((key, trigger, since.elapsed()))
    }

    fn done(&mut self, key: &Key, requeue: Requeue, waits_for: Option<Relation>, backoff: Backoff) {
        let Some(item) = self.items.get_mut(key) else { return };
        let phase = std::mem::take(&mut item.phase);
        item.waits_for = waits_for;
        item.failures =
            if requeue == Requeue::Backoff { item.failures.saturating_add(1) } else { 0 };
        let wait = match requeue {
            Requeue::Never => None,
            Requeue::After(wait) => Some(wait),
            Requeue::Backoff => {
                let doubled = backoff.first.saturating_mul(1 << (item.failures - 1).min(20));
                Some(doubled.min(backoff.longest))
            }
            Requeue::Now => Some(Duration::ZERO),
        };
        if let Phase::Running { again, .. } = phase
            && let Some(trigger) = most_urgent(&again)
        {
            self.add(key.clone(), trigger.clone());
        } else if let Some(wait) = wait {
            self.number += 1;
            let due = (Instant::now() + wait, self.number);
            item.due = Some(due);
            self.later.insert(due, key.clone());
        }
    }
}

/// A change matters more than an interval that is over.
fn most_urgent(triggers: &[Trigger]) -> Option<&Trigger> {
    let change = triggers.iter().find(|trigger| matches!(trigger, Trigger::Changed(_)));
    change.or(triggers.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff =
        Backoff { first: Duration::from_secs(1), longest: Duration::from_mins(1) };

    static KIND: KindInfo = crate::kind::tests::kind("Widget");
    static SOURCE: KindInfo = crate::kind::tests::kind("Source");

    fn key(namespace: &str, name: &str) -> Key {
        Key::new(&KIND, namespace, name)
    }

    fn done(queue: &Queue, key: &Key, requeue: Requeue) {
        queue.done(key, requeue, None, BACKOFF);
    }

    async fn take(queue: &Queue) -> String {
        let (key, ..) = queue.next().await;
        format!("{}/{}", key.namespace, key.name)
    }

    #[tokio::test(start_paused = true)]
    async fn namespaces_take_turns() {
        let queue = Queue::default();
        for name in ["1", "2", "3"] {
            queue.add(key("many", name), Trigger::Due);
        }
        queue.add(key("few", "1"), Trigger::Due);
        assert_eq!(queue.ready(), [(&KIND, 4)].into());
        let mut taken = Vec::new();
        for _ in 0..4 {
            taken.push(take(&queue).await);
        }
        assert_eq!(taken, ["many/1", "few/1", "many/2", "many/3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn dependencies_come_before_their_dependents() {
        let queue = Queue::default();
        queue.set_depth(&key("a", "last"), 2);
        queue.set_depth(&key("a", "middle"), 1);
        for (namespace, name) in [("a", "last"), ("a", "middle"), ("b", "x"), ("a", "first")] {
            queue.add(key(namespace, name), Trigger::Due);
        }
        let mut taken = Vec::new();
        for _ in 0..4 {
            taken.push(take(&queue).await);
        }
        assert_eq!(taken, ["a/first", "b/x", "a/middle", "a/last"]);
        assert_eq!(queue.ready(), BTreeMap::new());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_queued_once_and_runs_once() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        queue.add(key("a", "1"), Trigger::Due);
        queue.add(key("a", "2"), Trigger::Due);
        assert_eq!(take(&queue).await, "a/1");
        assert_eq!(take(&queue).await, "a/2");
        let trigger = Trigger::Changed("Source/a/x".to_owned());
        queue.add(key("a", "1"), trigger.clone());
        assert_eq!(queue.superseded(&key("a", "1")).await, "Source/a/x");
        done(&queue, &key("a", "1"), Requeue::After(Duration::from_mins(10)));
        assert_eq!(queue.next().await, (key("a", "1"), trigger, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn the_revision_is_known_while_the_key_is_reconciled() {
        let queue = Queue::default();
        let key = key("a", "1");
        queue.works_on(&key, "main@1");
        assert!(!queue.is_working_on(&key, "main@1"), "nothing is reconciled");
        queue.add(key.clone(), Trigger::Due);
        queue.next().await;
        assert!(!queue.is_working_on(&key, "main@1"), "it has not read the source yet");
        queue.works_on(&key, "main@1");
        assert!(queue.is_working_on(&key, "main@1"));
        assert!(!queue.is_working_on(&key, "main@2"));
        done(&queue, &key, Requeue::Never);
        assert!(!queue.is_working_on(&key, "main@1"), "it is over");
    }

    #[tokio::test(start_paused = true)]
    async fn only_changes_after_reading_the_source_trigger_again() {
        let queue = Queue::default();
        let key = key("a", "1");
        let source = Key::new(&SOURCE, "a", "s");
        let by_source = Trigger::Changed(source.to_string());
        let by_spec = Trigger::Changed(key.to_string());
        queue.add(key.clone(), Trigger::Due);
        queue.next().await;
        queue.add(key.clone(), by_source.clone());
        queue.add(key.clone(), by_spec.clone());
        queue.reads_source(&key, &source);
        assert_eq!(queue.superseded(&key).await, key.to_string());
        done(&queue, &key, Requeue::Never);
        assert_eq!(queue.next().await.1, by_spec);
        queue.reads_source(&key, &source);
        queue.add(key.clone(), by_source.clone());
        done(&queue, &key, Requeue::Never);
        assert_eq!(queue.next().await.1, by_source);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_back_off() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        let mut waits = Vec::new();
        for _ in 0..8 {
            let before = Instant::now();
            queue.next().await;
            waits.push(before.elapsed().as_secs());
            done(&queue, &key("a", "1"), Requeue::Backoff);
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60]);
        queue.next().await;
        done(&queue, &key("a", "1"), Requeue::After(Duration::from_secs(5)));
        queue.next().await;
        done(&queue, &key("a", "1"), Requeue::Backoff);
        let before = Instant::now();
        queue.next().await;
        assert_eq!(before.elapsed().as_secs(), 1, "a success resets the backoff");
    }

    #[tokio::test(start_paused = true)]
    async fn a_trigger_comes_before_the_interval() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        queue.next().await;
        done(&queue, &key("a", "1"), Requeue::After(Duration::from_mins(10)));
        queue.add(key("a", "1"), Trigger::Due);
        let before = Instant::now();
        queue.next().await;
        assert_eq!(before.elapsed().as_secs(), 0);
        done(&queue, &key("a", "1"), Requeue::Never);
        let state = queue.state();
        assert!(state.later.is_empty(), "the former due time is gone");
    }

    #[tokio::test(start_paused = true)]
    async fn only_keys_that_wait_for_a_relation_are_woken_by_it() {
        let queue = Queue::default();
        let (key, relation) = (key("a", "1"), Relation::DEPENDENCY);
        queue.add_waiting(&key, relation);
        assert_eq!(queue.ready(), BTreeMap::new(), "it was never reconciled");
        queue.add(key.clone(), Trigger::Due);
        queue.next().await;
        queue.done(&key, Requeue::Never, Some(relation), BACKOFF);
        queue.add_waiting(&key, Relation::SOURCE);
        assert_eq!(queue.ready(), BTreeMap::new(), "it waits for something else");
        queue.add_waiting(&key, relation);
        queue.next().await;
        queue.add_waiting(&key, relation);
        done(&queue, &key, Requeue::Never);
        assert_eq!(queue.next().await.0, key, "it may have looked too early");
        done(&queue, &key, Requeue::Never);
        queue.add_waiting(&key, relation);
        assert_eq!(queue.ready(), BTreeMap::new(), "it no longer waits");
    }
}
