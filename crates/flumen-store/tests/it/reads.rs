//! Ordered ranges, pages and reads at a revision.

use flumen_store::{Options, Page, Range, ReadError};

use crate::mode::{both, delete, get_at, put};

fn keys(page: &Page) -> Vec<&str> {
    page.entries.iter().map(|(key, _)| &**key).collect()
}

#[tokio::test]
async fn a_range_is_ordered_and_ends_with_its_prefix() {
    for held in both(Options::default()) {
        let store = &held.store;
        for key in ["/a/2", "/b/1", "/a/10", "/a/é", "/a", "/a/1", "/a0"] {
            put(store, key, "value").await;
        }
        let page = store.range(&Range { prefix: "/a/", ..Range::default() }).expect("reads");
        assert_eq!(keys(&page), ["/a/1", "/a/10", "/a/2", "/a/é"]);
        assert_eq!((page.revision, page.more), (store.revision(), false));
        let all = store.range(&Range::default()).expect("reads");
        assert_eq!(keys(&all), ["/a", "/a/1", "/a/10", "/a/2", "/a/é", "/a0", "/b/1"]);
    }
}

#[tokio::test]
async fn pages_of_one_revision_do_not_see_later_changes() {
    for held in both(Options::default()) {
        let store = &held.store;
        for key in ["/a/1", "/a/2", "/a/3"] {
            put(store, key, "old").await;
        }
        let first = Range { prefix: "/a/", limit: Some(1), ..Range::default() };
        let page = store.range(&first).expect("reads");
        assert_eq!((keys(&page), page.more), (vec!["/a/1"], true));

        put(store, "/a/2", "new").await;
        put(store, "/a/25", "new").await;
        delete(store, "/a/3").await;
        let rest =
            Range { after: Some("/a/1"), revision: Some(page.revision), limit: Some(2), ..first };
        assert_eq!(store.count(&rest), Ok(2));
        let page = store.range(&rest).expect("reads");
        assert_eq!((keys(&page), page.more), (vec!["/a/2", "/a/3"], false));
        assert!(page.entries.iter().all(|(_, entry)| entry.value == "old"));

        let now = store.range(&Range { revision: None, ..rest }).expect("reads");
        assert_eq!(keys(&now), ["/a/2", "/a/25"]);
    }
}

#[tokio::test]
async fn revisions_that_are_gone_or_not_there_yet_are_refused() {
    for held in both(Options::default()) {
        let store = &held.store;
        let first = put(store, "/a", "1").await;
        let second = put(store, "/a", "2").await;
        let third = delete(store, "/a").await;
        assert_eq!(get_at(store, "/a", first).expect("reads").expect("there").value, "1");
        store.compact(second).expect("compacts");
        assert_eq!(store.compacted(), second);

        let compacted = ReadError::Compacted { requested: first, compacted: second };
        assert_eq!(get_at(store, "/a", first), Err(compacted));
        assert_eq!(store.watch("/a", first).expect_err("too old"), compacted);
        assert_eq!(get_at(store, "/a", second).expect("reads").expect("there").value, "2");
        assert_eq!(get_at(store, "/a", third), Ok(None));

        let future = ReadError::Future { requested: third + 1, current: third };
        assert_eq!(get_at(store, "/a", third + 1), Err(future));
        assert_eq!(store.compact(third + 1), Err(future));
        let range = Range { revision: Some(third + 1), ..Range::default() };
        assert_eq!(store.count(&range), Err(future));
    }
}

#[tokio::test]
async fn history_is_bounded_by_events_and_by_bytes() {
    let by_events = Options { history_events: 3, ..Options::default() };
    let by_bytes = Options { history_bytes: 30, ..Options::default() };
    for options in [by_events, by_bytes] {
        for held in both(options) {
            let store = &held.store;
            let mut last = 0;
            for _ in 0..8 {
                last = put(store, "/a", "ten bytes.").await;
            }
            // Three replaced values of ten bytes, or three events.
            assert_eq!(store.compacted(), last - 3);
        }
    }
}
