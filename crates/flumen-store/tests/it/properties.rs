//! Random histories, compared with a model that keeps every revision whole.

use std::collections::BTreeMap;

use flumen_store::{
    CommitError, Condition, Event, Options, Range, ReadError, Revision, Transaction, Watch,
    WatchError,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use tokio::runtime::Builder;

use crate::mode::{Held, both, get_at};

const KEYS: [&str; 8] = ["/a", "/a/1", "/a/2", "/a/2/x", "/a/é", "/a0", "/b/1", "/b/2"];
const PREFIXES: [&str; 6] = ["", "/a", "/a/", "/a/2", "/b/", "/c"];

type Key = &'static str;

#[derive(Clone, Debug)]
enum Step {
    Commit { conditions: Vec<(Key, Expected)>, changes: Vec<(Key, Option<u8>)> },
    Range { prefix: Key, after: Option<Key>, age: u64, limit: Option<usize> },
    Get { key: Key, age: u64 },
    Watch { prefix: Key, age: u64 },
    Compact { age: u64 },
    Reopen,
}

/// A condition, which may hold or not.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Absent,
    Present,
    /// The current revision of the key, or one that is wrong by so much.
    At(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || select(&KEYS[..]);
    let prefix = || select(&PREFIXES[..]);
    // Beyond the newest revision by one, at most.
    let age = || 0..12_u64;
    let expected = prop_oneof![
        Just(Expected::Absent),
        Just(Expected::Present),
        Just(Expected::At(0)),
        Just(Expected::At(1)),
    ];
    let commit = (vec((key(), expected), 0..2), vec((key(), option::of(any::<u8>())), 0..4))
        .prop_map(|(conditions, changes)| Step::Commit { conditions, changes });
    let range = (prefix(), option::of(key()), age(), option::of(0..4_usize))
        .prop_map(|(prefix, after, age, limit)| Step::Range { prefix, after, age, limit });
    vec(
        prop_oneof![
            12 => commit,
            4 => range,
            2 => (key(), age()).prop_map(|(key, age)| Step::Get { key, age }),
            2 => (prefix(), age()).prop_map(|(prefix, age)| Step::Watch { prefix, age }),
            1 => age().prop_map(|age| Step::Compact { age }),
            1 => Just(Step::Reopen),
        ],
        // Fewer events than wait for a watch, so that none falls behind.
        1..40,
    )
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    value: u8,
    revision: Revision,
    created: Revision,
}

type Snapshot = BTreeMap<Key, Known>;

fn known(entry: &flumen_store::Entry) -> Known {
    let [value] = *entry.value else { panic!("one byte") };
    Known { value, revision: entry.revision, created: entry.created }
}

struct Model {
    /// The first is that of revision 1.
    snapshots: Vec<Snapshot>,
    compacted: Revision,
}

impl Model {
    fn new() -> Self {
        Self { snapshots: vec![Snapshot::new()], compacted: 1 }
    }

    fn revision(&self) -> Revision {
        self.snapshots.len() as Revision
    }

    fn at(&self, requested: Revision) -> Result<&Snapshot, ReadError> {
        let (compacted, current) = (self.compacted, self.revision());
        if requested < compacted {
            return Err(ReadError::Compacted { requested, compacted });
        }
        let index = usize::try_from(requested - 1).expect("small");
        self.snapshots.get(index).ok_or(ReadError::Future { requested, current })
    }

    fn now(&self) -> &Snapshot {
        self.snapshots.last().expect("never empty")
    }

    fn commit(
        &mut self,
        conditions: &[(Key, Condition)],
        changes: &BTreeMap<Key, Option<u8>>,
    ) -> Result<Revision, (Key, Option<Revision>)> {
        for (key, condition) in conditions {
            let found = self.now().get(key).map(|known| known.revision);
            let holds = match condition {
                Condition::Absent => found.is_none(),
                Condition::Present => found.is_some(),
                Condition::At(revision) => found == Some(*revision),
            };
            if !holds {
                return Err((key, found));
            }
        }
        let revision = self.revision() + 1;
        let mut next = self.now().clone();
        for (key, value) in changes {
            match value {
                Some(value) => {
                    let created = next.get(key).map_or(revision, |known| known.created);
                    next.insert(key, Known { value: *value, revision, created });
                }
                None => {
                    next.remove(key);
                }
            }
        }
        if next != *self.now() {
            self.snapshots.push(next);
        }
        Ok(self.revision())
    }

    /// What a watch sees: revision, key, what it holds and what it held.
    fn events(&self, prefix: &str, after: Revision) -> Vec<Seen> {
        let mut events = Vec::new();
        for (index, pair) in self.snapshots.windows(2).enumerate() {
            let revision = index as Revision + 2;
            for key in KEYS.into_iter().filter(|key| key.starts_with(prefix)) {
                let (before, now) = (pair[0].get(key).copied(), pair[1].get(key).copied());
                if before != now && revision > after {
                    events.push((revision, key.to_owned(), now, before));
                }
            }
        }
        events
    }
}

type Seen = (Revision, String, Option<Known>, Option<Known>);

fn seen(event: &Event) -> Seen {
    let [now, before] = [&event.entry, &event.previous].map(|entry| entry.as_ref().map(known));
    (event.revision, event.key.to_string(), now, before)
}

struct Opened {
    watch: Watch,
    prefix: Key,
    after: Revision,
}

async fn run(mut held: Held, steps: &[Step]) {
    let mut model = Model::new();
    let mut watches: Vec<Opened> = Vec::new();
    for step in steps {
        // One more than the newest, so that the future is asked for too.
        let revision = |age: u64| (model.revision() + 1).saturating_sub(age).max(1);
        let store = &held.store;
        match step {
            Step::Commit { conditions, changes } => {
                let conditions: Vec<_> = conditions
                    .iter()
                    .map(|&(key, expected)| (key, condition(&model, key, expected)))
                    .collect();
                let changes: BTreeMap<Key, Option<u8>> = changes.iter().copied().collect();
                let result = store.commit(transaction(&conditions, &changes)).await;
                let result = result.map_err(|error| match error {
                    CommitError::Conflict { key, found } => (key, found),
                    error => panic!("{error}"),
                });
                let expected = model.commit(&conditions, &changes);
                assert_eq!(result, expected.map_err(|(key, found)| (key.to_owned(), found)));
            }
            Step::Get { key, age } => {
                let revision = revision(*age);
                let found = get_at(store, key, revision).map(|entry| entry.as_ref().map(known));
                assert_eq!(found, model.at(revision).map(|snapshot| snapshot.get(key).copied()));
            }
            Step::Range { prefix, after, age, limit } => {
                let revision = revision(*age);
                let range =
                    Range { prefix, after: *after, revision: Some(revision), limit: *limit };
                check_range(&held, &model, &range);
                check_range(&held, &model, &Range { revision: None, ..range });
            }
            Step::Watch { prefix, age } => {
                let after = revision(*age);
                match store.watch(prefix, after) {
                    Ok(mut watch) => {
                        // Reads what history has, so that compaction cannot take it away.
                        watch.progress();
                        watches.push(Opened { watch, prefix, after });
                    }
                    Err(error) => assert_eq!(Some(error), model.at(after).err()),
                }
            }
            Step::Compact { age } => {
                let revision = revision(*age);
                match store.compact(revision) {
                    Ok(()) => model.compacted = model.compacted.max(revision),
                    Err(error) => assert_eq!(Some(error), model.at(revision).err()),
                }
                assert_eq!(store.compacted(), model.compacted);
            }
            Step::Reopen => {
                check_watches(&mut watches, &model).await;
                let is_reopened = held.reopen();
                for mut opened in watches.drain(..).filter(|_| is_reopened) {
                    assert_eq!(opened.watch.next().await, Err(WatchError::Closed));
                }
                if is_reopened {
                    model.compacted = model.revision();
                }
            }
        }
        assert_eq!(held.store.revision(), model.revision());
    }
    check_watches(&mut watches, &model).await;
}

fn condition(model: &Model, key: Key, expected: Expected) -> Condition {
    match expected {
        Expected::Absent => Condition::Absent,
        Expected::Present => Condition::Present,
        Expected::At(wrong) => {
            let current = model.now().get(key).map_or(0, |known| known.revision);
            Condition::At(current + wrong)
        }
    }
}

fn transaction(
    conditions: &[(Key, Condition)],
    changes: &BTreeMap<Key, Option<u8>>,
) -> Transaction {
    let required = conditions.iter().fold(Transaction::new(), |transaction, (key, condition)| {
        transaction.require(*key, *condition)
    });
    changes.iter().fold(required, |transaction, (key, value)| match value {
        Some(value) => transaction.put(*key, [*value]),
        None => transaction.delete(*key),
    })
}

fn check_range(held: &Held, model: &Model, range: &Range<'_>) {
    let revision = range.revision.unwrap_or(model.revision());
    let snapshot = match model.at(revision) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            assert_eq!(held.store.range(range).err(), Some(error));
            assert_eq!(held.store.count(range), Err(error));
            return;
        }
    };
    let all: Vec<_> = snapshot
        .iter()
        .filter(|(key, _)| key.starts_with(range.prefix))
        .filter(|(key, _)| range.after.is_none_or(|after| **key > after))
        .map(|(key, known)| (*key, *known))
        .collect();
    let limit = range.limit.unwrap_or(usize::MAX).min(all.len());
    let page = held.store.range(range).expect("reads");
    let found: Vec<_> = page.entries.iter().map(|(key, entry)| (&**key, known(entry))).collect();
    assert_eq!(found, all[..limit]);
    assert_eq!((page.revision, page.more), (revision, limit < all.len()));
    assert_eq!(held.store.count(range), Ok(all.len()));
}

/// Every watch returns all that changed since it began or was checked.
async fn check_watches(watches: &mut [Opened], model: &Model) {
    for Opened { watch, prefix, after } in watches {
        for expected in model.events(prefix, *after) {
            assert_eq!(seen(&watch.next().await.expect("an event")), expected);
        }
        *after = model.revision();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_store_does_what_the_model_does(steps in steps()) {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        for held in both(Options::default()) {
            runtime.block_on(run(held, &steps));
        }
    }
}
