//! What drift checks have found, until a deploy puts it right.

use std::{fs, io, path::PathBuf};

use flumen_oci::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Operation, Outcome, Status, Subject};
use crate::{
    Result, State,
    state::{read_json, unusable, write_json},
};

/// A component that was not as it was deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// When that was found.
    pub at: Timestamp,
    /// What is deployed.
    pub artifact: Digest,
}

impl State {
    /// What the last check of a component found, if it found drift and nothing was deployed since from
    /// this machine.
    pub fn last_drift(&self, install: &str, component: &str) -> Result<Option<Drift>> {
        Ok(read_json(&self.drift_file(install, component)?))
    }

    /// Remembers or forgets drift, as the end of a check or of a deploy has it.
    pub fn note_drift<E>(
        &self,
        subject: &Subject,
        outcome: &Outcome<E>,
        now: Timestamp,
    ) -> Result<()> {
        let path = self.drift_file(&subject.install, &subject.component)?;
        match (subject.operation, outcome.status, &outcome.artifact) {
            (Operation::CheckDrift, Status::Drifted, Some(artifact)) => {
                write_json(&path, &Drift { at: now, artifact: artifact.clone() })
            }
            (_, Status::NoDrift | Status::Active | Status::AutoSkipped | Status::Inactive, _) => {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    result => result.map_err(|source| unusable(&path, source)),
                }
            }
            _ => Ok(()),
        }
    }

    fn drift_file(&self, install: &str, component: &str) -> Result<PathBuf> {
        // A dot is no letter of either name.
        Ok(self.drift()?.join(format!("{install}.{component}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, deploy::Ended};

    #[test]
    fn drift_is_known_until_it_is_put_right() {
        let dir = tempfile::tempdir().expect("scratch directory");
        let state = State::new(dir.path().join("data"), dir.path().join("state"));
        let artifact = Digest::of(b"artifact");
        let note = |operation, status| {
            let subject =
                Subject { install: "prod".to_owned(), component: "web".to_owned(), operation };
            let outcome =
                Outcome::<Error> { status, artifact: Some(artifact.clone()), ended: Ended::Well };
            state.note_drift(&subject, &outcome, Timestamp::UNIX_EPOCH).expect("noted");
            state.last_drift("prod", "web").expect("a directory").is_some()
        };
        for good in [
            (Operation::CheckDrift, Status::NoDrift),
            (Operation::Deploy, Status::Active),
            (Operation::Deploy, Status::AutoSkipped),
            (Operation::Teardown, Status::Inactive),
        ] {
            assert!(note(Operation::CheckDrift, Status::Drifted));
            assert!(note(Operation::Deploy, Status::Error), "a failure puts nothing right");
            assert!(!note(good.0, good.1), "{good:?}");
        }
        assert_eq!(state.last_drift("test", "web").expect("a directory"), None);
    }
}
