//! When which object gets its turn.
//!
//! A key is in the queue once, however often it is asked for, and one pass over it runs at a time: what is asked for
//! meanwhile is done afterwards. Keys that are ready are taken in turns of their namespaces, so that a namespace with
//! a thousand objects does not hold up one with three. Within a namespace those come first that others wait for.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{Key, Kind};

/// Why a key is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Its time has come.
    Due,
    /// Something that it depends on has changed: the name of that.
    Changed(String),
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Something is ready, or is due earlier than thought.
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    items: HashMap<Key, Item>,
    /// Keys that are ready, by namespace.
    ready: HashMap<String, Line>,
    /// Namespaces that have ready keys, in the order of their turns.
    turns: VecDeque<String>,
    /// Keys that become ready later; the number keeps those of one instant apart.
    later: BTreeMap<(Instant, u64), Key>,
    number: u64,
}

/// Keys by their [depth](Item::depth), each in the order of asking. None of them is empty.
type Line = BTreeMap<usize, VecDeque<Key>>;

#[derive(Debug, Default)]
struct Item {
    phase: Phase,
    /// How many dependencies stand behind one another before it.
    depth: usize,
    /// Where the key stands in `later`.
    due: Option<(Instant, u64)>,
    /// How often in a row it has failed.
    failures: u32,
    /// Told when it is asked for during a pass.
    asked: Arc<Notify>,
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
        /// Why it was asked for again since the pass began.
        again: Vec<Trigger>,
        /// The revision of the source that the pass works on.
        revision: Option<String>,
    },
}

/// The shortest and the longest time until something that failed is tried again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

/// What is to happen after a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing until something changes.
    Rest,
    /// Again after this time.
    After(Duration),
    /// Again, later with every failure.
    Retry,
    /// Again at once.
    Now,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a pass as soon as possible.
    pub(crate) fn add(&self, key: Key, trigger: Trigger) {
        self.state().add(key, trigger);
        self.news.notify_one();
    }

    /// Tells how many dependencies stand behind one another before a key: it comes after those that have fewer, since
    /// it would most likely find that they are not ready.
    pub(crate) fn set_depth(&self, key: &Key, depth: usize) {
        self.state().items.entry(key.clone()).or_default().depth = depth;
    }

    /// Waits for a key whose turn it is, and says how long it was ready. It must be given back with [`Self::done`].
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
                    () = self.news.notified() => {}
                    () = sleep_until(due) => {}
                },
                None => self.news.notified().await,
            }
        }
    }

    /// Ends a pass. What was asked for meanwhile comes before what the pass itself wants.
    pub(crate) fn done(&self, key: &Key, next: Next, backoff: Backoff) {
        self.state().done(key, next, backoff);
        self.news.notify_one();
    }

    /// Waits until something that a key depends on changes while a pass over it runs, and says what.
    pub(crate) async fn changed(&self, key: &Key) -> String {
        loop {
            let asked = {
                let mut state = self.state();
                let item = state.items.entry(key.clone()).or_default();
                if let Phase::Running { again, .. } = &item.phase
                    && let Some(Trigger::Changed(by)) = most_urgent(again)
                {
                    return by.clone();
                }
                item.asked.clone()
            };
            asked.notified().await;
        }
    }

    /// How many keys of each kind are ready.
    pub(crate) fn waiting(&self) -> BTreeMap<Kind, usize> {
        let state = self.state();
        let mut waiting = BTreeMap::new();
        for key in state.ready.values().flat_map(Line::values).flatten() {
            *waiting.entry(key.kind).or_default() += 1;
        }
        waiting
    }

    /// Tells that the pass over a key is about to look at its source: how that has changed before is no reason for
    /// another pass.
    pub(crate) fn looks_at(&self, key: &Key, source: &Key) {
        let mut state = self.state();
        let phase = state.items.get_mut(key).map(|item| &mut item.phase);
        if let Some(Phase::Running { again, .. }) = phase {
            let by = source.to_string();
            again.retain(|trigger| !matches!(trigger, Trigger::Changed(one) if *one == by));
        }
    }

    /// Tells which revision of its source the pass over a key works on.
    pub(crate) fn works_on(&self, key: &Key, source: &str) {
        let mut state = self.state();
        let phase = state.items.get_mut(key).map(|item| &mut item.phase);
        if let Some(Phase::Running { revision, .. }) = phase {
            *revision = Some(source.to_owned());
        }
    }

    /// Whether a pass over a key is under way that works on this revision of its source.
    pub(crate) fn is_working_on(&self, key: &Key, source: &str) -> bool {
        let state = self.state();
        let phase = state.items.get(key).map(|item| &item.phase);
        matches!(phase, Some(Phase::Running { revision: Some(revision), .. }) if revision == source)
    }

    /// Whether a pass over a key is under way.
    pub(crate) fn is_running(&self, key: &Key) -> bool {
        let state = self.state();
        state.items.get(key).is_some_and(|item| matches!(item.phase, Phase::Running { .. }))
    }

    /// Forgets an object that is gone.
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
                item.asked.notify_one();
            }
            Phase::Ready { .. } => {}
            phase @ Phase::Idle => {
                *phase = Phase::Ready { trigger, since: Instant::now() };
                if let Some(due) = item.due.take() {
                    self.later.remove(&due);
                }
                let depth = item.depth;
                self.line_up(key, depth);
            }
        }
    }

    fn line_up(&mut self, key: Key, depth: usize) {
        let line = self.ready.entry(key.namespace.clone()).or_default();
        if line.is_empty() {
            self.turns.push_back(key.namespace.clone());
        }
        line.entry(depth).or_default().push_back(key);
    }

    /// Makes ready what is due.
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
        let line = self.ready.get_mut(&namespace)?;
        let mut shallowest = line.first_entry()?;
        let key = shallowest.get_mut().pop_front()?;
        if shallowest.get().is_empty() {
            shallowest.remove();
        }
        if line.is_empty() {
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

    fn done(&mut self, key: &Key, next: Next, backoff: Backoff) {
        let Some(item) = self.items.get_mut(key) else { return };
        let phase = std::mem::take(&mut item.phase);
        item.failures = if next == Next::Retry { item.failures.saturating_add(1) } else { 0 };
        let wait = match next {
            Next::Rest => None,
            Next::After(wait) => Some(wait),
            Next::Retry => {
                let doubled = backoff.first.saturating_mul(1 << (item.failures - 1).min(20));
                Some(doubled.min(backoff.longest))
            }
            Next::Now => Some(Duration::ZERO),
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

/// What has changed matters more than that the time has come.
fn most_urgent(triggers: &[Trigger]) -> Option<&Trigger> {
    let change = triggers.iter().find(|trigger| matches!(trigger, Trigger::Changed(_)));
    change.or(triggers.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff =
        Backoff { first: Duration::from_secs(1), longest: Duration::from_mins(1) };

    fn key(namespace: &str, name: &str) -> Key {
        Key::new(Kind::Kustomization, namespace, name)
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
        assert_eq!(queue.waiting(), [(Kind::Kustomization, 4)].into());
        let mut taken = Vec::new();
        for _ in 0..4 {
            taken.push(take(&queue).await);
        }
        assert_eq!(taken, ["many/1", "few/1", "many/2", "many/3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn dependencies_come_before_those_who_depend_on_them() {
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
        assert_eq!(queue.waiting(), BTreeMap::new());
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_there_once_and_runs_once() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        queue.add(key("a", "1"), Trigger::Due);
        queue.add(key("a", "2"), Trigger::Due);
        assert_eq!(take(&queue).await, "a/1");
        assert_eq!(take(&queue).await, "a/2");
        let trigger = Trigger::Changed("GitRepository/a/x".to_owned());
        queue.add(key("a", "1"), trigger.clone());
        assert_eq!(queue.changed(&key("a", "1")).await, "GitRepository/a/x");
        queue.done(&key("a", "1"), Next::After(Duration::from_mins(10)), BACKOFF);
        assert_eq!(queue.next().await, (key("a", "1"), trigger, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_pass_tells_what_it_works_on_until_it_ends() {
        let queue = Queue::default();
        let key = key("a", "1");
        queue.works_on(&key, "main@1");
        assert!(!queue.is_working_on(&key, "main@1"), "there is no pass");
        queue.add(key.clone(), Trigger::Due);
        queue.next().await;
        assert!(!queue.is_working_on(&key, "main@1"), "it has not looked yet");
        queue.works_on(&key, "main@1");
        assert!(queue.is_working_on(&key, "main@1"));
        assert!(!queue.is_working_on(&key, "main@2"));
        queue.done(&key, Next::Rest, BACKOFF);
        assert!(!queue.is_working_on(&key, "main@1"), "it is over");
    }

    #[tokio::test(start_paused = true)]
    async fn only_what_changes_after_a_look_asks_for_another() {
        let queue = Queue::default();
        let key = key("a", "1");
        let source = Key::new(Kind::OciRepository, "a", "s");
        let by_source = Trigger::Changed(source.to_string());
        let by_spec = Trigger::Changed(key.to_string());
        queue.add(key.clone(), Trigger::Due);
        queue.next().await;
        queue.add(key.clone(), by_source.clone());
        queue.add(key.clone(), by_spec.clone());
        queue.looks_at(&key, &source);
        assert_eq!(queue.changed(&key).await, key.to_string());
        queue.done(&key, Next::Rest, BACKOFF);
        assert_eq!(queue.next().await.1, by_spec);
        queue.looks_at(&key, &source);
        queue.add(key.clone(), by_source.clone());
        queue.done(&key, Next::Rest, BACKOFF);
        assert_eq!(queue.next().await.1, by_source);
    }

    #[tokio::test(start_paused = true)]
    async fn what_fails_is_tried_again_later_and_later() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        let mut waits = Vec::new();
        for _ in 0..8 {
            let before = Instant::now();
            queue.next().await;
            waits.push(before.elapsed().as_secs());
            queue.done(&key("a", "1"), Next::Retry, BACKOFF);
        }
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 60]);
        queue.next().await;
        queue.done(&key("a", "1"), Next::After(Duration::from_secs(5)), BACKOFF);
        queue.next().await;
        queue.done(&key("a", "1"), Next::Retry, BACKOFF);
        let before = Instant::now();
        queue.next().await;
        assert_eq!(before.elapsed().as_secs(), 1, "success is forgiving");
    }

    #[tokio::test(start_paused = true)]
    async fn asking_comes_before_waiting() {
        let queue = Queue::default();
        queue.add(key("a", "1"), Trigger::Due);
        queue.next().await;
        queue.done(&key("a", "1"), Next::After(Duration::from_mins(10)), BACKOFF);
        queue.add(key("a", "1"), Trigger::Due);
        let before = Instant::now();
        queue.next().await;
        assert_eq!(before.elapsed().as_secs(), 0);
        queue.done(&key("a", "1"), Next::Rest, BACKOFF);
        let state = queue.state();
        assert!(state.later.is_empty(), "the old appointment is gone");
    }
}
