//! Watches: kinds of events, order, slow readers and many readers.

use flumen_store::{Event, Options, Store, Transaction, Watch, WatchError};
use tokio::task::JoinSet;

use crate::mode::{both, delete, put};

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Created,
    Modified,
    Deleted,
}

fn kind(event: &Event) -> Kind {
    match (&event.entry, &event.previous) {
        (None, _) => Kind::Deleted,
        (Some(_), None) => Kind::Created,
        (Some(_), Some(_)) => Kind::Modified,
    }
}

async fn next(watch: &mut Watch) -> (Kind, String, u64) {
    let event = watch.next().await.expect("an event");
    (kind(&event), event.key.to_string(), event.revision)
}

fn value(event: &Event) -> &[u8] {
    &event.entry.as_ref().expect("not deleted").value
}

#[tokio::test]
async fn a_watch_tells_what_changed_and_what_was_there_before() {
    for held in both(Options::default()) {
        let store = &held.store;
        let start = store.revision();
        let created = put(store, "/a/1", "1").await;
        put(store, "/b/1", "elsewhere").await;
        let changed = put(store, "/a/1", "2").await;
        let mut watch = store.watch("/a/", start).expect("watches");
        assert_eq!(next(&mut watch).await, (Kind::Created, "/a/1".to_owned(), created));
        let event = watch.next().await.expect("an event");
        assert_eq!((kind(&event), event.revision), (Kind::Modified, changed));
        assert_eq!(value(&event), b"2");
        assert_eq!(event.previous.as_ref().expect("there").value, "1");

        let deleted = delete(store, "/a/1").await;
        let event = watch.next().await.expect("an event");
        assert_eq!((kind(&event), event.revision), (Kind::Deleted, deleted));
        assert_eq!(event.previous.as_ref().expect("there").value, "2");
    }
}

#[tokio::test]
async fn an_idle_watch_tells_how_far_the_store_is() {
    for held in both(Options::default()) {
        let store = &held.store;
        let mut watch = store.watch("/a/", store.revision()).expect("watches");
        assert_eq!(watch.progress(), Some(store.revision()));
        // Answered before watchers are served, so the second commit is what makes sure of the first.
        put(store, "/b/1", "elsewhere").await;
        let revision = put(store, "/a/1", "here").await;
        assert_eq!(next(&mut watch).await.2, revision);
        assert!(watch.progress().is_some_and(|progress| progress >= revision - 1));
    }
}

#[tokio::test]
async fn the_events_of_a_large_transaction_all_arrive() {
    for held in both(Options::default()) {
        let store = &held.store;
        let mut watch = store.watch("/", store.revision()).expect("watches");
        assert!(watch.progress().is_some());
        let change = (0..1000).fold(Transaction::new(), |transaction, number| {
            transaction.put(format!("/{number:04}"), "value")
        });
        let revision = store.commit(change).await.expect("commits");
        for number in 0..1000 {
            let expected = (Kind::Created, format!("/{number:04}"), revision);
            assert_eq!(next(&mut watch).await, expected);
        }
    }
}

#[tokio::test]
async fn a_slow_watch_loses_nothing_that_history_keeps() {
    for held in both(Options::default()) {
        let store = &held.store;
        let mut watch = store.watch("/a", store.revision()).expect("watches");
        assert!(watch.progress().is_some());
        for round in 0..3 {
            for number in 0..500 {
                put(store, "/a", &format!("{round} {number}")).await;
            }
            for number in 0..500 {
                let event = watch.next().await.expect("an event");
                assert_eq!(value(&event), format!("{round} {number}").as_bytes());
            }
        }
    }
}

#[tokio::test]
async fn a_watch_that_is_slower_than_compaction_ends() {
    for held in both(Options { history_events: 100, ..Options::default() }) {
        let store = &held.store;
        let mut watch = store.watch("/a", store.revision()).expect("watches");
        assert!(watch.progress().is_some());
        for number in 0..1000 {
            put(store, "/a", &number.to_string()).await;
        }
        let mut seen = 0;
        let error = loop {
            match watch.next().await {
                Ok(event) => {
                    assert_eq!(value(&event), seen.to_string().as_bytes());
                    seen += 1;
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error, WatchError::Lagged);
        assert!(seen < 1000);
    }
}

#[tokio::test]
async fn a_watch_of_quiet_keys_outlives_compaction() {
    for held in both(Options { history_events: 10, ..Options::default() }) {
        let store = &held.store;
        let mut watch = store.watch("/quiet", store.revision()).expect("watches");
        assert!(watch.progress().is_some());
        for number in 0..500 {
            put(store, "/busy", &number.to_string()).await;
        }
        let revision = put(store, "/quiet", "now").await;
        assert_eq!(next(&mut watch).await.2, revision);
    }
}

#[tokio::test]
async fn watches_end_with_the_store() {
    for held in both(Options::default()) {
        let store = &held.store;
        let mut watch = store.watch("", store.revision()).expect("watches");
        let revision = put(store, "/a", "1").await;
        drop(held);
        assert_eq!(next(&mut watch).await.2, revision);
        assert_eq!(watch.next().await, Err(WatchError::Closed));
        assert_eq!(watch.progress(), None);
    }
}

#[tokio::test]
async fn what_happened_before_the_store_was_closed_arrives() {
    for held in both(Options::default()) {
        let store = &held.store;
        let mut watch = store.watch("/last", store.revision()).expect("watches");
        for number in 0..30 {
            let change = (0..100).fold(Transaction::new(), |transaction, key| {
                transaction.put(format!("/other/{key}"), number.to_string())
            });
            store.commit(change).await.expect("commits");
        }
        let revision = put(store, "/last", "1").await;
        drop(held);
        assert_eq!(next(&mut watch).await.2, revision);
        assert_eq!(watch.next().await, Err(WatchError::Closed));
    }
}

async fn write(store: Store, writer: usize, count: usize) {
    for number in 0..count {
        put(&store, &format!("/all/{writer}"), &number.to_string()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_watches_see_a_thousand_changes_in_order() {
    const WATCHES: usize = 100;
    const WRITERS: usize = 20;
    const CHANGES: usize = 1000;

    for held in both(Options::default()) {
        let store = &held.store;
        let mut readers = JoinSet::new();
        for _ in 0..WATCHES {
            let mut watch = store.watch("/all/", store.revision()).expect("watches");
            readers.spawn(async move {
                let mut counts = [0; WRITERS];
                let mut last = 0;
                for _ in 0..CHANGES {
                    let event = watch.next().await.expect("an event");
                    assert!(event.revision > last, "in order");
                    last = event.revision;
                    let writer: usize = event.key["/all/".len()..].parse().expect("a number");
                    assert_eq!(value(&event), counts[writer].to_string().as_bytes());
                    counts[writer] += 1;
                }
                last
            });
        }
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(store.clone(), writer, CHANGES / WRITERS));
        }
        writers.join_all().await;
        for last in readers.join_all().await {
            assert_eq!(last, store.revision());
        }
    }
}
