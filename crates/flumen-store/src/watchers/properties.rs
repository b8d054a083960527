//! Which watchers an event reaches.

use proptest::{collection::vec, prelude::*};

use super::{tests::event, *};

proptest! {
    #[test]
    fn an_event_reaches_exactly_those_who_ask_for_its_key(
        prefixes in vec("[aé/]{0,4}", 0..12),
        key in "[aé/]{1,6}",
    ) {
        let mut watchers = Watchers::new(0);
        let mut receivers: Vec<_> =
            prefixes.iter().map(|prefix| watchers.add(prefix).1).collect();
        watchers.dispatch(&[event(&key)]);
        for (prefix, receiver) in prefixes.iter().zip(&mut receivers) {
            let reached = receiver.try_recv().is_ok();
            prop_assert_eq!(reached, key.starts_with(prefix), "{:?}", prefix);
            prop_assert!(receiver.try_recv().is_err(), "only once");
        }
    }
}
