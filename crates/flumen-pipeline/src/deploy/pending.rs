//! Plans that wait for somebody's decision: files in the state directory.
//!
//! Whoever approves a name approves what they have seen: when the cluster or the artifact changes, the next
//! run makes another plan, with another name. A decision is taken out with its plan, at most once; one lock
//! around all files sees to that.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use flumen_oci::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Operation, Plan};
use crate::{
    Error, Result,
    state::{State, files, read_json, unusable, write_json},
};

/// Which deploy a plan belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    pub install: String,
    pub component: String,
    pub operation: Operation,
}

/// A plan that waits, or whose decision has not been carried out yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PendingPlan {
    #[serde(flatten)]
    pub subject: Subject,
    pub created: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    pub plan: Plan,
}

/// What somebody decided about a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub verdict: Verdict,
    pub by: String,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Approve,
    /// Stop here, with all that would follow.
    Deny,
    /// Leave this component out and go on with the others.
    DenyAndContinue,
    /// Plan again and ask again.
    Retry,
}

/// The plans of this machine that wait.
#[derive(Clone, Debug)]
pub struct PendingPlans {
    dir: PathBuf,
}

impl PendingPlans {
    pub fn new(state: &State) -> Result<Self> {
        Ok(Self { dir: state.plans()? })
    }

    /// Keeps a plan until somebody decides, and returns its name. Other plans of the same deploy are
    /// outdated by it; the same plan keeps its name.
    pub fn keep(&self, subject: &Subject, plan: &Plan, now: Timestamp) -> Result<String> {
        let _lock = self.lock()?;
        for (name, pending) in self.all()? {
            if pending.subject != *subject {
                continue;
            }
            if pending.plan.artifact == plan.artifact && pending.plan.changes == plan.changes {
                return Ok(name);
            }
            self.remove(&name)?;
        }
        let pending = PendingPlan {
            subject: subject.clone(),
            created: now,
            decision: None,
            plan: plan.clone(),
        };
        let name = name(&pending);
        write_json(&self.path(&name)?, &pending)?;
        Ok(name)
    }

    /// All plans by name, in the order of their names.
    pub fn all(&self) -> Result<Vec<(String, PendingPlan)>> {
        let named = files(&self.dir)?.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?.strip_suffix(".json")?.to_owned();
            Some((name, read_json(&path)?))
        });
        Ok(named.collect())
    }

    pub fn get(&self, name: &str) -> Result<PendingPlan> {
        let found = read_json(&self.path(name)?);
        found.ok_or_else(|| Error::NoSuchPlan { name: name.to_owned() })
    }

    /// Writes a decision down. It replaces one that was not carried out yet.
    pub fn decide(&self, name: &str, decision: Decision) -> Result<PendingPlan> {
        let _lock = self.lock()?;
        let decided = PendingPlan { decision: Some(decision), ..self.get(name)? };
        write_json(&self.path(name)?, &decided)?;
        Ok(decided)
    }

    /// Takes the decision about a deploy out of the files, if there is one. Nobody gets it again.
    pub fn take(&self, subject: &Subject) -> Result<Option<(Verdict, Plan)>> {
        let _lock = self.lock()?;
        for (name, pending) in self.all()? {
            if let (true, Some(decision)) = (pending.subject == *subject, pending.decision) {
                self.remove(&name)?;
                return Ok(Some((decision.verdict, pending.plan)));
            }
        }
        Ok(None)
    }

    fn path(&self, name: &str) -> Result<PathBuf> {
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if name.is_empty() || !is_name {
            return Err(Error::NoSuchPlan { name: name.to_owned() });
        }
        Ok(self.dir.join(format!("{name}.json")))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.map_err(|source| unusable(&path, source)),
        }
    }

    /// Held for as long as a few small files take.
    fn lock(&self) -> Result<File> {
        let path = self.dir.join(".lock");
        lock_file(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|source| unusable(&path, source))
    }
}

pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

/// A name that no other plan has. It is shown around, so nothing of it comes from what objects hold.
fn name(pending: &PendingPlan) -> String {
    let PendingPlan { subject, created, plan, .. } = pending;
    let content = serde_json::to_vec(&(subject, created, &plan.artifact)).unwrap_or_default();
    format!("{}-{}-{}", subject.install, subject.component, Digest::of(&content).short())
}

#[cfg(test)]
mod tests {
    use flumen_diff::PlanDocument;

    use super::*;

    fn plans() -> (tempfile::TempDir, PendingPlans) {
        let dir = tempfile::tempdir().expect("scratch directory");
        let state = State::new(dir.path().join("data"), dir.path().join("state"));
        let plans = PendingPlans::new(&state).expect("a directory");
        (dir, plans)
    }

    fn subject(component: &str) -> Subject {
        Subject {
            install: "prod".to_owned(),
            component: component.to_owned(),
            operation: Operation::Deploy,
        }
    }

    fn plan(artifact: &str) -> Plan {
        Plan {
            artifact: Digest::of(artifact.as_bytes()),
            changes: Vec::new(),
            text: String::new(),
            document: PlanDocument::default(),
        }
    }

    fn approval() -> Decision {
        Decision { verdict: Verdict::Approve, by: "me".to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[test]
    fn a_decision_is_taken_once() {
        let (_dir, plans) = plans();
        let name = plans.keep(&subject("web"), &plan("a"), NOW).expect("kept");
        assert_eq!(plans.take(&subject("web")).expect("nothing decided"), None);
        plans.decide(&name, approval()).expect("decided");
        assert_eq!(plans.take(&subject("api")).expect("another"), None);
        let taken = plans.take(&subject("web")).expect("decided");
        assert_eq!(taken, Some((Verdict::Approve, plan("a"))));
        assert_eq!(plans.take(&subject("web")).expect("taken"), None);
        let error = plans.decide(&name, approval()).expect_err("it is gone");
        assert!(matches!(error, Error::NoSuchPlan { .. }), "{error:?}");
    }

    #[test]
    fn two_takers_share_one_decision() {
        let (_dir, plans) = plans();
        let name = plans.keep(&subject("web"), &plan("a"), NOW).expect("kept");
        plans.decide(&name, approval()).expect("decided");
        let takers: Vec<_> = (0..8)
            .map(|_| {
                let plans = plans.clone();
                std::thread::spawn(move || plans.take(&subject("web")).expect("a directory"))
            })
            .collect();
        let taken = takers.into_iter().filter_map(|taker| taker.join().expect("no panic"));
        assert_eq!(taken.count(), 1);
    }

    #[test]
    fn a_new_plan_outdates_the_old_one_and_its_decision() {
        let (_dir, plans) = plans();
        let first = plans.keep(&subject("web"), &plan("a"), NOW).expect("kept");
        plans.decide(&first, approval()).expect("decided");
        let same = plans.keep(&subject("web"), &plan("a"), NOW).expect("kept");
        assert_eq!(first, same);
        assert!(plans.get(&same).expect("it is there").decision.is_some());

        let other = plans.keep(&subject("api"), &plan("a"), NOW).expect("kept");
        let second = plans.keep(&subject("web"), &plan("b"), NOW).expect("kept");
        assert_ne!(first, second);
        let names: Vec<String> =
            plans.all().expect("a directory").into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [other, second]);
    }

    #[test]
    fn names_are_no_paths() {
        let (_dir, plans) = plans();
        for name in ["", "../x", "a/b", "a.json"] {
            assert!(matches!(plans.get(name), Err(Error::NoSuchPlan { .. })), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn plans_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let (_dir, plans) = plans();
        let name = plans.keep(&subject("web"), &plan("a"), NOW).expect("kept");
        let path = plans.path(&name).expect("a path");
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&plans.dir), 0o700);
    }
}
