//! Rows recorded from the reference libraries; `recorded.txt` says from which versions of them.

use flumen_expr::{Constraint, Version};

const TABLE: &str = include_str!("recorded.txt");

/// The rows `"text" VERB answer` with this verb.
fn rows(verb: &str) -> Vec<(String, &'static str)> {
    let rows: Vec<_> = TABLE
        .lines()
        .filter(|line| line.starts_with('"'))
        .filter_map(|line| {
            let mut texts = serde_json::Deserializer::from_str(line).into_iter::<String>();
            let text = texts.next().expect("a text").expect("quoted as in JSON");
            let (found, answer) = {
                let rest = line[texts.byte_offset()..].trim_start();
                rest.split_once(' ').unwrap_or((rest, ""))
            };
            (found == verb).then_some((text, answer))
        })
        .collect();
    assert!(rows.len() > 30, "the table has rows of `{verb}`");
    rows
}

fn versions() -> Vec<(&'static str, Version)> {
    let line = TABLE.lines().find_map(|line| line.strip_prefix("versions ")).expect("a line");
    line.split(' ').map(|text| (text, Version::parse(text).expect("a version"))).collect()
}

#[test]
fn constraints_match_what_the_reference_matches() {
    let versions = versions();
    for (text, expected) in rows("matches") {
        let constraint = Constraint::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let matching: Vec<_> = versions
            .iter()
            .filter(|(_, version)| constraint.matches(version))
            .map(|(text, _)| *text)
            .collect();
        assert_eq!(matching.join(" "), expected, "{text:?}");
    }
}

#[test]
fn constraints_are_refused_in_the_words_of_the_reference() {
    for (text, expected) in rows("error") {
        let error = Constraint::parse(&text).expect_err(&text).to_string();
        // Where the reference only says that its parser failed, ours names the text.
        if expected != "constraint parser error" {
            assert_eq!(error, expected, "{text:?}");
        }
    }
}

#[test]
fn versions_read_as_in_the_reference() {
    let show = |version: Result<Version, _>| {
        version.map_or_else(|_| "error".to_owned(), |version| version.to_string())
    };
    for (text, expected) in rows("version") {
        let (lenient, strict) = (Version::parse(&text), Version::parse_strict(&text));
        assert_eq!(format!("{} {}", show(lenient), show(strict)), expected, "{text:?}");
    }
}
