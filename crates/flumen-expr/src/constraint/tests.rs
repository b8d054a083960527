use super::*;

#[track_caller]
fn refused(text: &str) -> String {
    Constraint::parse(text).expect_err("no constraint").to_string()
}

#[test]
fn errors_name_the_alternative() {
    assert_eq!(refused("1.x || banana"), "improper constraint: \" banana\"");
    assert_eq!(refused("1 - 2 3.y"), "improper constraint: \">= 1, <= 2 3.y\"");
    assert_eq!(refused(""), "improper constraint: \"\"");
    assert_eq!(refused(&"1 ".repeat(257)), "the version constraint is longer than 512 bytes");
    assert_eq!(
        refused(&["1"; 33].join("||")),
        "the version constraint has more than 32 alternatives"
    );
}

#[test]
fn an_unreadable_range_gets_a_hint() {
    let hint = Constraint::parse("latest").expect_err("no constraint").hint();
    let example = hint.as_deref().and_then(|hint| hint.split('`').nth(1)).expect("an example");
    assert!(Constraint::parse(example).is_ok());
}
