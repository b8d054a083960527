//! Whatever is read and printed reads back as one document that prints the same.
#![no_main]

use flumen_yaml::{Budget, decode, emit, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let budget = Budget::default();
    let Ok(text) = decode(bytes) else { return };
    let Ok(documents) = read(&text, 1, &budget) else { return };
    for document in documents {
        let mut printed = Vec::new();
        if emit(&document, &mut printed).is_err() {
            continue;
        }
        let text = decode(&printed).expect("what was printed decodes");
        let again = read(&text, 1, &budget).expect("what was printed reads");
        let mut reprinted = Vec::new();
        for document in &again {
            emit(document, &mut reprinted).expect("what was printed prints again");
        }
        assert_eq!(printed, reprinted, "printing is stable");
    }
});
