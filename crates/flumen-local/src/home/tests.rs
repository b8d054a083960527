use super::{Home, Record, State};
use crate::Error;

fn record() -> Record {
    Record {
        pid: 1,
        server: "https://127.0.0.1:1".to_owned(),
        registry: "127.0.0.1:2".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        version: "0".to_owned(),
    }
}

#[test]
fn a_directory_goes_through_its_states() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let home = Home::new(scratch.path().join("new"));
    assert!(matches!(home.state(), Ok(State::Absent)));
    let claim = home.claim().expect("nobody has it");
    assert!(matches!(home.state(), Ok(State::Changing)));
    home.record(&record()).expect("written");
    assert!(matches!(home.state(), Ok(State::Running(found)) if found.pid == 1));
    assert!(matches!(home.claim(), Err(Error::Running { .. })));
    assert!(matches!(home.reset(), Err(Error::Running { .. })));
    drop(claim);
    // The record of a process that died is not believed.
    assert!(matches!(home.state(), Ok(State::Stopped)));
    assert!(home.reset().expect("nobody has it"));
    assert!(!home.path().exists());
    assert!(!home.reset().expect("nothing is there"));
}

#[test]
fn reset_leaves_what_is_not_its_own() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let home = Home::new(scratch.path());
    std::fs::write(scratch.path().join("mine"), "").expect("written");
    assert!(!home.reset().expect("no instance was here"));
    drop(home.claim().expect("nobody has it"));
    assert!(home.reset().expect("reset"));
    assert!(scratch.path().join("mine").exists());
}
