//! What holds for any text.

use proptest::proptest;

use super::*;

proptest! {
    #[test]
    fn any_text_gets_an_answer(text in "[-+.v0-9xX*|=!<>~^, aä]{0,40}") {
        if let Ok(constraint) = Constraint::parse(&text) {
            let zero = Version::parse("0.0.0").expect("a version");
            let _ = constraint.matches(&zero);
        }
        let _ = Version::parse_strict(&text);
    }
}
