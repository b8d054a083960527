//! Every golden case of the repository, through the built binary.
//!
//! `FLUMEN_TEST_BIN` names another program to judge: with the reference tool there, the test
//! checks the recordings and itself.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use flumen_testkit::{Case, repository_root};

const THREADS: usize = 2;

fn program() -> PathBuf {
    env::var_os("FLUMEN_TEST_BIN").map_or_else(|| crate::binary().to_owned(), PathBuf::from)
}

/// How a case ends, as the text of its failure.
fn verdict(case: &Case, program: &Path) -> Option<String> {
    let outcome = match case.run(program) {
        Ok(outcome) => outcome,
        Err(error) => return Some(format!("cannot be run: {error}")),
    };
    case.judge(&outcome).err()
}

#[test]
fn golden_cases_build_to_their_recorded_output() {
    let cases = Case::load_all(&repository_root().join("corpus/kustomize")).expect("cases load");
    assert!(!cases.is_empty(), "there are no golden cases");
    let program = program();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(failure) = verdict(case, &program) {
                        let indented = failure.replace('\n', "\n    ");
                        let text = format!("FAIL {}\n    {indented}\n", case.name);
                        failures.lock().expect("no judge panics").push(text);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no judge panics");
    failures.sort();
    assert!(
        failures.is_empty(),
        "\n{}\n{} of {} golden cases passed",
        failures.join("\n"),
        cases.len() - failures.len(),
        cases.len()
    );
}
