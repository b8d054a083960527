//! The cases of Flux's version ranges that some checkouts have beside them.
#![allow(clippy::disallowed_methods, reason = "the corpus is a file")]

use flumen_expr::{Constraint, Version};
use serde_json::Value;

#[test]
fn version_ranges_select_what_flux_selects() {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("version ranges of Flux", "no `../shared` beside the checkout");
        return;
    };
    let path = shared.join("corpus/flux/semver.jsonl");
    let cases = std::fs::read_to_string(path).expect("the corpus has the file");
    assert!(cases.lines().count() > 0);
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let answer = match case["input"]["range"].as_str() {
            Some(range) => select(range, &case["input"]["tags"]),
            None => canonical(case["input"]["version"].as_str().expect("a version")),
        };
        match (answer, case["expect"].get("error")) {
            (Err(_), Some(_)) => {}
            (Ok(answer), None) => assert_eq!(answer, expected(&case), "{}", case["id"]),
            (answer, _) => panic!("{}: {answer:?}", case["id"]),
        }
    }
}

/// Which of equal tags comes first is left open, so that tags are compared by what they mean.
fn expected(case: &Value) -> Vec<String> {
    let Some(sorted) = case["expect"]["sorted"].as_array() else {
        return vec![case["expect"]["canonical"].as_str().expect("an answer").to_owned()];
    };
    sorted.iter().map(|tag| precedence(tag.as_str().expect("a tag"))).collect()
}

fn canonical(text: &str) -> Result<Vec<String>, String> {
    Version::parse_strict(text)
        .map(|version| vec![version.to_string()])
        .map_err(|error| error.to_string())
}

fn select(range: &str, tags: &Value) -> Result<Vec<String>, String> {
    let constraint = Constraint::parse(range).map_err(|error| error.to_string())?;
    let tags = tags.as_array().expect("tags").iter().map(|tag| tag.as_str().expect("a tag"));
    let mut versions: Vec<_> = tags
        .filter_map(|tag| Version::parse_strict(tag).ok())
        .filter(|version| constraint.matches(version))
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    Ok(versions.iter().map(|version| precedence(&version.to_string())).collect())
}

fn precedence(tag: &str) -> String {
    let version = Version::parse(tag).expect("a version").to_string();
    version.split_once('+').map_or(version.as_str(), |(version, _)| version).to_owned()
}
