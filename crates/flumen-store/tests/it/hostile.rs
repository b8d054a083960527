//! Files that were damaged: refused with a message, or opened with all that was written.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use flumen_store::{Entry, OpenError, Options, Range, Revision, Store};

use crate::{
    mode::{both, put},
    random::Random,
};

const PAGE: usize = 4096;

type Entries = Vec<(Arc<str>, Entry)>;

fn damage(image: &[u8], round: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = image.to_vec();
    let offset = random.below(bytes.len());
    let bit = 1 << random.below(8);
    match round % 5 {
        0 => bytes[offset] ^= bit,
        // What is in the first page decides about all others.
        1 => bytes[offset % PAGE] ^= bit,
        2 => bytes.truncate(offset),
        3 => {
            let page = offset / PAGE * PAGE;
            bytes[page..(page + PAGE).min(image.len())].fill(0);
        }
        _ => {
            let end = (offset + 64).min(bytes.len());
            bytes[offset..end].fill_with(|| random.next().to_le_bytes()[0]);
        }
    }
    bytes
}

/// Opens a damaged file and returns the revision that it has, if it is not refused.
fn open(path: &Path, written: &BTreeMap<Revision, Entries>) -> Option<Revision> {
    match Store::open(path, Options::default()) {
        Ok(store) => {
            let revision = store.revision();
            let entries = store.range(&Range::default()).expect("reads").entries;
            assert!(written.get(&revision) == Some(&entries), "not what was written");
            Some(revision)
        }
        Err(error) => {
            let is_named = error.to_string().contains(&*path.to_string_lossy());
            assert!(is_named && error.hint().is_some(), "{error}");
            assert!(
                matches!(error, OpenError::Damaged { .. } | OpenError::Foreign { .. }),
                "{error}"
            );
            None
        }
    }
}

#[tokio::test]
async fn damaged_files_are_refused_or_harmless() {
    let [held, _] = both(Options::default());
    let path = held.path().expect("a file");
    let mut random = Random::new(1);
    for number in 0..100 {
        let value = "x".repeat(random.below(3000));
        put(&held.store, &format!("/key/{:02}", number % 60), &value).await;
    }
    let last = held.store.revision();
    let at = |revision| Range { revision: Some(revision), ..Range::default() };
    let written: BTreeMap<Revision, Entries> = (held.store.compacted()..=last)
        .map(|revision| (revision, held.store.range(&at(revision)).expect("reads").entries))
        .collect();
    // As a process that was killed leaves it.
    let killed = fs::read(&path).expect("reads");
    let damaged = path.with_extension("damaged");
    let directory = held.close();
    let closed = fs::read(&path).expect("reads");

    let mut refused = 0;
    for (image, was_closed) in [(&closed, true), (&killed, false)] {
        for round in 0..60 {
            fs::write(&damaged, damage(image, round, &mut random)).expect("writes");
            let found = open(&damaged, &written);
            // The last commit of a process that was killed may look as if it was cut short.
            let expected = if was_closed { last..=last } else { last - 1..=last };
            assert!(found.is_none_or(|found| expected.contains(&found)), "{found:?}");
            refused += usize::from(found.is_none());
        }
    }
    assert!(refused > 0, "some of it was noticed");
    drop(directory);
}
