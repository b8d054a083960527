//! A label selector, as a client may send it: it is refused, or it can be asked.
#![no_main]

use flumen_expr::LabelSelector;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (tools, server) = (LabelSelector::parse(text), LabelSelector::parse_query(text));
    assert_eq!(tools.is_ok(), server.is_ok(), "they differ in words alone");
    let Ok(selector) = server else { return };
    let nothing = selector.match_with(|_| None);
    let same = selector.match_with(|key| (!key.is_empty()).then_some("1"));
    if selector.is_empty() {
        assert!(nothing && same);
    }
});
