//! What a file keeps and which files are refused.

use std::{error::Error, fs, path::Path};

use flumen_store::{CommitError, OpenError, Options, Range, Store, Transaction, WatchError};
use redb::{ReadableDatabase as _, TableDefinition};

use crate::mode::{both, delete, put};

fn refused(path: &Path) -> OpenError {
    Store::open(path, Options::default()).expect_err("refused")
}

#[tokio::test]
async fn a_file_keeps_entries_and_revisions() {
    let [mut held, _] = both(Options::default());
    put(&held.store, "/a", "1").await;
    put(&held.store, "/b", "1").await;
    put(&held.store, "/b", "2").await;
    let last = delete(&held.store, "/a").await;
    let entries = held.store.range(&Range::default()).expect("reads").entries;

    assert!(held.reopen());
    let store = &held.store;
    assert_eq!((store.revision(), store.compacted()), (last, last));
    assert_eq!(store.range(&Range::default()).expect("reads").entries, entries);
    assert_eq!(put(store, "/b", "3").await, last + 1);
}

#[tokio::test]
async fn a_file_that_is_in_use_is_refused() {
    let [held, _] = both(Options::default());
    let error = refused(&held.path().expect("a file"));
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().ends_with("store` is in use by another process"), "{error}");
    assert!(error.hint().is_some());
}

#[tokio::test]
async fn a_closed_file_can_be_opened_while_others_have_handles() {
    let [held, _] = both(Options::default());
    put(&held.store, "/a", "1").await;
    let mut watch = held.store.watch("/", held.store.revision()).expect("watches");
    let (one, other) = (held.store.clone(), held.store.clone());
    tokio::join!(one.close(), other.close());
    held.store.close().await;

    let again = Store::open(&held.path().expect("a file"), Options::default()).expect("opens");
    assert!(again.get("/a").is_some());
    assert_eq!(watch.next().await, Err(WatchError::Closed));
    let late = held.store.commit(Transaction::new().put("/b", "1")).await;
    assert!(matches!(late, Err(CommitError::Closed)), "{late:?}");
    assert!(held.store.get("/a").is_some(), "still readable");
}

#[test]
fn files_of_others_are_refused_and_left_alone() -> Result<(), Box<dyn Error>> {
    const TABLE: TableDefinition<'_, u64, u64> = TableDefinition::new("entries");

    let directory = tempfile::tempdir()?;
    let text = directory.path().join("text");
    let notes = "some notes\n".repeat(1000);
    fs::write(&text, &notes)?;
    let error = refused(&text);
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert!(error.to_string().ends_with("text` is not a store of this program"), "{error}");
    assert!(fs::read_to_string(&text)? == notes, "unchanged");

    let database = directory.path().join("database");
    let transaction = redb::Database::create(&database)?.begin_write()?;
    transaction.open_table(TABLE)?.insert(1, 2)?;
    transaction.commit()?;
    let error = refused(&database);
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    let view = redb::Database::open(&database)?.begin_read()?;
    assert_eq!(view.open_table(TABLE)?.get(1)?.map(|row| row.value()), Some(2));
    assert_eq!(view.list_tables()?.count(), 1);
    Ok(())
}

#[tokio::test]
async fn nothing_but_the_file_is_left() {
    let [held, _] = both(Options::default());
    let path = held.path().expect("a file");
    let entries = fs::read_dir(path.parent().expect("a directory")).expect("reads");
    let names: Vec<_> = entries.map(|entry| entry.expect("reads").file_name()).collect();
    assert_eq!(names, ["store"]);
}

#[cfg(unix)]
#[tokio::test]
async fn others_cannot_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let [held, _] = both(Options::default());
    let metadata = fs::metadata(held.path().expect("a file")).expect("there");
    assert_eq!(metadata.permissions().mode() & 0o077, 0);
}
