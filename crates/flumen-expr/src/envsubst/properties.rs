//! What holds for any template.

use proptest::proptest;

use super::{tests::variables, *};

proptest! {
    #[test]
    fn any_template_gets_an_answer(template in "[${}:=/#%^,\\\\a*?\\[\\]0-9 ü-]{0,40}") {
        let _ = substitute(&template, &variables(), Unset::Empty);
        let _ = substitute(&template, &variables(), Unset::Refused);
    }
}
