//! Properties of the parser over texts that are made of pieces of YAML.

use proptest::{
    collection::vec,
    prelude::any,
    sample::select,
    strategy::{Strategy, ValueTree},
    test_runner::{Config, TestRunner},
};

use super::*;
use crate::{decode, events, read, read_lenient, read_resource};

const PIECES: &[&str] = &[
    "a",
    "key",
    "1",
    "- ",
    "-",
    ": ",
    ":",
    "? ",
    "\n",
    "\n  ",
    "\n    ",
    " ",
    "\t",
    "[",
    "]",
    "{",
    "}",
    ",",
    "# c\n",
    "#",
    "&x ",
    "*x",
    "*x ",
    "!",
    "!!str ",
    "!own ",
    "|\n",
    ">-\n",
    "|2\n",
    "\"",
    "'",
    "\"q\"",
    "'s'",
    "%",
    "%YAML 1.1\n",
    "%TAG ! t:\n",
    "---\n",
    "--- ",
    "...\n",
    "@",
    "\\",
    "\\n",
    "é",
    "\u{2028}",
    "\u{85}",
    "\r\n",
    "\r",
    "<<: ",
    "null",
    "a: b\n",
    "- a\n",
    "  c: d\n",
    "a:\n",
    "[]: ",
    "a: |\n  t\n   u\n\n",
    "- - ",
    "- a: b\n  c: d\n",
    "a:\n- b\n- c\n",
    " # z\n",
    "\t# d\n",
    "\u{FEFF}",
    "https://x:80/#a",
    "'it''s'",
    "\"\\\n",
    "a: one\n  two\n",
    "  b: 'c'\n    d: e\n",
    "😀",
];

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, ..Config::default() })
}

/// Runs `check` on many texts.
fn for_texts(cases: u32, check: impl Fn(&str)) {
    let mut runner = runner(cases);
    let pieces = vec(select(PIECES), 0..24);
    for _ in 0..cases {
        let tree = pieces.new_tree(&mut runner).expect("pieces");
        check(&tree.current().concat());
    }
}

struct Kinds(Vec<EventKind>);

impl Sink for Kinds {
    type Stop = Fault;

    fn event(&mut self, event: Event) -> Result<(), Fault> {
        self.0.push(event.kind);
        Ok(())
    }
}

/// All events of a text, or the first error.
fn kinds(text: &Text, pace: Pace) -> Result<Vec<EventKind>, Error> {
    let budget = Budget::default();
    let traits = Traits::of(text)?;
    let mut parser = Parser::new(text, 1, traits, pace, &budget);
    let mut kinds = Kinds(Vec::new());
    while kinds.0.last() != Some(&EventKind::StreamEnd) {
        parser.advance(&mut kinds).map_err(|fault| parser.error(&fault))?;
    }
    Ok(kinds.0)
}

#[test]
fn shortcuts_change_nothing() {
    for_texts(20_000, |text| {
        let text = Text::from(text);
        let quick = kinds(&text, Pace::Quick);
        let reference = kinds(&text, Pace::Reference);
        match (quick, reference) {
            (Ok(quick), Ok(reference)) => assert_eq!(quick, reference, "{text:?}"),
            (Err(_), Err(_)) => {}
            (quick, reference) => panic!("{text:?}: {quick:?}\ninstead of {reference:?}"),
        }
    });
}

#[test]
fn every_text_is_read_or_refused() {
    let budget = Budget::default();
    for_texts(5_000, |text| {
        let text = Text::from(text);
        let is_yaml =
            events(&text, &budget).is_ok_and(|mut events| events.all(|event| event.is_ok()));
        let tree = read(&text, 1, &budget);
        assert!(is_yaml || tree.is_err(), "{text:?} is no YAML, but has a tree");
        // An error names a place in the text.
        let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() + 1;
        for error in [tree.err(), read_resource(&text, 1, &budget).err()].into_iter().flatten() {
            let line = error.pos().line as usize;
            assert!((1..=lines).contains(&line), "{text:?}: {error:?}");
        }
        let _ = read_lenient(&text, 1, &budget);
    });
}

#[test]
fn every_file_is_read_or_refused() {
    let budget = Budget::default();
    let result = runner(2_000).run(&vec(any::<u8>(), 0..64), |bytes| {
        if let Ok(text) = decode(&bytes) {
            let _ = read(&text, 1, &budget);
        }
        Ok(())
    });
    assert_eq!(result, Ok(()));
}
