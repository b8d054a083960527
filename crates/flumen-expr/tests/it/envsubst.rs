//! The cases of Flux's substitution that some checkouts have beside them.
#![allow(clippy::disallowed_methods, reason = "the corpus is a file")]

use std::collections::BTreeMap;

use flumen_expr::{Unset, substitute};
use serde_json::Value;

#[test]
fn substitution_gives_what_flux_gives() {
    let Some(shared) = flumen_testkit::shared_dir() else {
        flumen_testkit::skip("substitution of Flux", "no `../shared` beside the checkout");
        return;
    };
    let path = shared.join("corpus/flux/envsubst.jsonl");
    let cases = std::fs::read_to_string(path).expect("the corpus has the file");
    assert!(cases.lines().count() > 0);
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let input = &case["input"];
        let template = input["template"].as_str().expect("a template");
        let variables: BTreeMap<String, String> =
            serde_json::from_value(input["vars"].clone()).expect("variables");
        let unset = if input["strict"] == true { Unset::Refused } else { Unset::Empty };
        let answer = substitute(template, &variables, unset).map_err(|error| error.to_string());
        match (&answer, case["expect"]["error"].as_str()) {
            (Err(_), Some("*")) => {}
            (Err(error), Some(expected)) => assert_eq!(error, expected, "{}", case["id"]),
            (Ok(text), None) => assert_eq!(*text, case["expect"]["output"], "{}", case["id"]),
            _ => panic!("{}: {answer:?}", case["id"]),
        }
    }
}
