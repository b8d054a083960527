//! Objects with one mistake each, and what the real server said of them.
//!
//! The mistakes were made by chance in valid objects of many kinds; one case was kept of each kind of
//! answer.

use flumen_fields::FieldError;
use flumen_kinds::validate_create;
use serde_json::Value;

use crate::validation::created;

#[test]
fn mistakes_are_named_as_the_real_server_names_them() {
    let (mut count, mut failed) = (0, Vec::new());
    for line in include_str!("refusals.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let (kind, object) = created(&case).expect("a case of a built-in kind that can be read");
        let found = FieldError::summary(&validate_create(kind, &object));
        count += 1;
        if found != case["message"].as_str().unwrap_or_default() {
            failed
                .push(format!("{}\n  wanted {}\n  found  {found}", case["body"], case["message"]));
        }
    }
    assert!(count > 300, "only {count} cases were found");
    assert!(failed.is_empty(), "{} of {count} differ:\n{}", failed.len(), failed.join("\n"));
}
