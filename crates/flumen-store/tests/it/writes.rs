//! Conditions, atomic changes and limits.

use flumen_store::{CommitError, Condition, Options, Store, Transaction};
use tokio::task::JoinSet;

use crate::mode::{both, delete, put};

async fn refused(store: &Store, transaction: Transaction) -> String {
    store.commit(transaction).await.expect_err("refused").to_string()
}

#[tokio::test]
async fn a_key_keeps_the_revision_of_its_creation() {
    for held in both(Options::default()) {
        let store = &held.store;
        let created = put(store, "/a", "1").await;
        let changed = put(store, "/a", "2").await;
        let entry = store.get("/a").expect("there");
        assert_eq!((entry.created, entry.revision), (created, changed));
        assert_eq!(entry.value, "2");
        delete(store, "/a").await;
        assert_eq!(store.get("/a"), None);
        let again = put(store, "/a", "3").await;
        assert_eq!(store.get("/a").expect("there").created, again);
    }
}

#[tokio::test]
async fn conditions_are_checked_and_say_what_was_found() {
    for held in both(Options::default()) {
        let store = &held.store;
        let revision = put(store, "/a", "1").await;
        let change = || Transaction::new().put("/a", "2").put("/b", "2");
        assert_eq!(
            refused(store, change().require("/a", Condition::Absent)).await,
            format!("`/a` is at revision {revision}")
        );
        assert_eq!(
            refused(store, change().require("/a", Condition::At(revision - 1))).await,
            format!("`/a` is at revision {revision}")
        );
        assert_eq!(
            refused(store, change().require("/b", Condition::Present)).await,
            "`/b` is absent"
        );
        assert_eq!(
            refused(store, change().require("/b", Condition::At(revision))).await,
            "`/b` is absent"
        );
        assert_eq!(store.revision(), revision);
        assert_eq!(store.get("/b"), None);

        let change = change()
            .require("/a", Condition::At(revision))
            .require("/a", Condition::Present)
            .require("/b", Condition::Absent);
        assert_eq!(store.commit(change).await.expect("commits"), revision + 1);
        assert_eq!(store.get("/a").expect("there").revision, revision + 1);
        assert_eq!(store.get("/b").expect("there").revision, revision + 1);
    }
}

#[tokio::test]
async fn one_of_many_that_race_for_a_revision_wins() {
    for held in both(Options::default()) {
        let store = &held.store;
        let revision = put(store, "/a", "0").await;
        let mut attempts = JoinSet::new();
        for number in 0..50 {
            let change = Transaction::new()
                .require("/a", Condition::At(revision))
                .put("/a", number.to_string());
            let store = store.clone();
            attempts.spawn(async move { store.commit(change).await });
        }
        let mut won = 0;
        for result in attempts.join_all().await {
            match result {
                Ok(_) => won += 1,
                Err(CommitError::Conflict { found, .. }) => assert_eq!(found, Some(revision + 1)),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!((won, store.revision()), (1, revision + 1));
    }
}

#[tokio::test]
async fn what_changes_nothing_takes_no_revision() {
    for held in both(Options::default()) {
        let store = &held.store;
        let revision = put(store, "/a", "1").await;
        assert_eq!(delete(store, "/b").await, revision);
        assert_eq!(store.commit(Transaction::new()).await.expect("commits"), revision);
        assert_eq!(store.revision(), revision);
    }
}

#[tokio::test]
async fn the_last_change_of_a_key_in_a_transaction_counts() {
    for held in both(Options::default()) {
        let store = &held.store;
        let change = Transaction::new().put("/a", "1").delete("/a").put("/a", "2").put("/b", "1");
        let revision = store.commit(change.delete("/b")).await.expect("commits");
        assert_eq!(store.get("/a").expect("there").created, revision);
        assert_eq!(store.get("/b"), None);
    }
}

#[tokio::test]
async fn keys_and_values_have_limits() {
    for held in both(Options::default()) {
        let store = &held.store;
        let long = "k".repeat(1024);
        let large = vec![b'v'; 3 << 20];
        let fits = Transaction::new().put(long.as_str(), large.clone());
        store.commit(fits).await.expect("commits");
        let above = format!("{long}k");
        assert_eq!(
            refused(store, Transaction::new().put(above.as_str(), "")).await,
            "a key has 1025 bytes; 1 to 1024 are allowed"
        );
        assert_eq!(
            refused(store, Transaction::new().delete("")).await,
            "a key has 0 bytes; 1 to 1024 are allowed"
        );
        let large = [large, b"v".to_vec()].concat();
        assert_eq!(
            refused(store, Transaction::new().put("/a", large)).await,
            "the value of `/a` has 3145729 bytes; 3145728 are allowed"
        );
    }
}

#[tokio::test]
async fn values_are_not_shown() {
    for held in both(Options::default()) {
        let transaction = Transaction::new().put("/a", "hunter2");
        assert!(!format!("{transaction:?}").contains("hunter2"));
        held.store.commit(transaction).await.expect("commits");
        let entry = held.store.get("/a").expect("there");
        assert!(!format!("{entry:?} {:?}", held.store).contains("hunter2"));
    }
}
