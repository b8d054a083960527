//! When waiting for objects is over, and how it ended.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use flumen_object::ObjectId;

use crate::{Health, Status};

/// Objects that are waited for, with the latest that is known of each.
///
/// Nothing here reads or sleeps: whoever watches the cluster hands in what it sees and asks for the
/// verdict. While the wait lasts, both cost next to nothing however many objects there are.
#[derive(Clone, Debug, Default)]
pub struct Wait {
    /// In the order in which messages name them.
    items: Vec<(ObjectId, Option<Health>)>,
    places: BTreeMap<ObjectId, usize>,
    /// Jobs that are deleted some time after their end, so that it may go unseen.
    vanishing: BTreeSet<ObjectId>,
    fail_fast: bool,
    current: usize,
    failed: usize,
}

/// How a wait stands.
#[derive(Debug)]
pub enum Verdict {
    Waiting,
    Healthy,
    /// More waiting would not help.
    Failed(WaitError),
}

/// Why a wait ended badly.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    #[error("failed early due to stalled resources: [{}]", .0.join(", "))]
    Stalled(Vec<String>),
    #[error("timeout waiting for: [{}]", .0.join(", "))]
    Timeout(Vec<String>),
    #[error("resource {} {} is namespace scoped, but namespace is not set", group_kind(&.0.gvk.group, &.0.gvk.kind), .0.name)]
    NoNamespace(ObjectId),
}

impl Wait {
    /// With `fail_fast` the first failed object ends the wait; otherwise every object must have come to
    /// an end. `vanishing` are the Jobs with `ttlSecondsAfterFinished`.
    pub fn new(
        ids: impl IntoIterator<Item = ObjectId>,
        vanishing: impl IntoIterator<Item = ObjectId>,
        fail_fast: bool,
    ) -> Self {
        let vanishing = vanishing.into_iter().collect();
        let mut wait = Self { vanishing, fail_fast, ..Self::default() };
        for id in ids {
            if let Entry::Vacant(place) = wait.places.entry(id.clone()) {
                place.insert(wait.items.len());
                wait.items.push((id, None));
            }
        }
        wait
    }

    /// Takes note of what is known of an object now. Objects that nobody waits for are passed over.
    pub fn observe(&mut self, id: &ObjectId, health: Health) {
        let Some(&place) = self.places.get(id) else { return };
        let before = self.effective(place);
        self.items[place].1 = Some(health);
        let after = self.effective(place);
        for (status, count) in
            [(Status::Current, &mut self.current), (Status::Failed, &mut self.failed)]
        {
            *count += usize::from(after == Some(status));
            *count -= usize::from(before == Some(status));
        }
    }

    /// How the wait stands while there is time left.
    pub fn verdict(&self) -> Verdict {
        if self.current == self.items.len() {
            Verdict::Healthy
        } else if self.failed > 0
            && (self.fail_fast || self.current + self.failed == self.items.len())
        {
            Verdict::Failed(WaitError::Stalled(
                self.complaints(|status| status == Some(Status::Failed)),
            ))
        } else {
            Verdict::Waiting
        }
    }

    /// How the wait ended when its time is up.
    pub fn at_deadline(&self) -> Result<(), WaitError> {
        let items = self.complaints(|status| status != Some(Status::Current));
        if items.is_empty() { Ok(()) } else { Err(WaitError::Timeout(items)) }
    }

    /// What is still waited for, with the latest that is known of it.
    pub fn pending(&self) -> impl Iterator<Item = (&ObjectId, Option<&Health>)> {
        let unfinished = self.items.iter().enumerate().filter(|(place, _)| {
            !matches!(self.effective(*place), Some(Status::Current | Status::Failed))
        });
        unfinished.map(|(_, (id, health))| (id, health.as_ref()))
    }

    /// The status of an object as far as the end of the wait is concerned.
    fn effective(&self, place: usize) -> Option<Status> {
        let (id, health) = &self.items[place];
        match health.as_ref()?.status {
            Status::NotFound if self.vanishing.contains(id) => Some(Status::Current),
            status => Some(status),
        }
    }

    fn complaints(&self, about: impl Fn(Option<Status>) -> bool) -> Vec<String> {
        let places = (0..self.items.len()).filter(|&place| about(self.effective(place)));
        places.map(|place| complaint(&self.items[place])).collect()
    }
}

fn complaint((id, health): &(ObjectId, Option<Health>)) -> String {
    match health {
        None => format!("can't determine status for {id}"),
        Some(Health { status: Status::Unknown, message, .. }) if !message.is_empty() => {
            format!("{id} status: 'Unknown': {message}")
        }
        Some(health) => format!("{id} status: '{}'", health.status),
    }
}

/// `Widget.example.com`, or the kind alone in the core group.
pub(crate) fn group_kind(group: &str, kind: &str) -> String {
    if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") }
}

#[cfg(test)]
mod tests {
    use flumen_object::{Gvk, ObjectId};

    use super::{Verdict, Wait, WaitError};
    use crate::{Health, Status};

    fn id(kind: &str, name: &str) -> ObjectId {
        let gvk = Gvk::new(&"apps/v1".into(), kind.into());
        ObjectId { gvk, namespace: "shop".into(), name: name.into() }
    }

    fn health(status: Status) -> Health {
        Health::bare(status, "words")
    }

    /// Waits for `a`, `b`, `c`, … and sees one status of each, in reverse order.
    fn wait(fail_fast: bool, vanishing: &[&str], statuses: &[Option<Status>]) -> Wait {
        let ids: Vec<_> =
            ('a'..).take(statuses.len()).map(|name| id("Deployment", &name.to_string())).collect();
        let vanishing = vanishing.iter().map(|name| id("Deployment", name));
        let mut wait = Wait::new(ids.clone(), vanishing, fail_fast);
        for (id, status) in ids.iter().zip(statuses).rev() {
            if let Some(status) = status {
                wait.observe(id, health(*status));
            }
        }
        wait
    }

    #[track_caller]
    fn check(wait: &Wait, early: &str, at_deadline: &str) {
        let verdict = match wait.verdict() {
            Verdict::Waiting => "waiting".to_owned(),
            Verdict::Healthy => "healthy".to_owned(),
            Verdict::Failed(error) => error.to_string(),
        };
        assert_eq!(verdict, early);
        let end = wait.at_deadline().map_or_else(|error| error.to_string(), |()| String::new());
        assert_eq!(end, at_deadline);
    }

    const CURRENT: Option<Status> = Some(Status::Current);
    const FAILED: Option<Status> = Some(Status::Failed);
    const BUSY: Option<Status> = Some(Status::InProgress);
    const GONE: Option<Status> = Some(Status::NotFound);

    #[test]
    fn all_current_is_the_end() {
        check(&wait(true, &[], &[]), "healthy", "");
        check(&wait(true, &[], &[CURRENT, CURRENT]), "healthy", "");
    }

    #[test]
    fn failures_end_the_wait_at_once_or_when_the_rest_is_done() {
        let stalled = "failed early due to stalled resources: [Deployment/shop/a status: 'Failed']";
        let late = "timeout waiting for: [Deployment/shop/a status: 'Failed', \
                    Deployment/shop/b status: 'InProgress']";
        check(&wait(true, &[], &[FAILED, BUSY, CURRENT]), stalled, late);
        check(&wait(false, &[], &[FAILED, BUSY, CURRENT]), "waiting", late);
        let late = "timeout waiting for: [Deployment/shop/a status: 'Failed']";
        check(&wait(false, &[], &[FAILED, CURRENT]), stalled, late);
    }

    #[test]
    fn the_deadline_names_whatever_is_not_current() {
        let late = "timeout waiting for: [can't determine status for Deployment/shop/a, \
                    Deployment/shop/b status: 'NotFound', Deployment/shop/c status: 'Unknown': words]";
        check(&wait(true, &[], &[None, GONE, Some(Status::Unknown)]), "waiting", late);
    }

    #[test]
    fn jobs_that_clean_up_after_themselves_may_be_gone() {
        check(&wait(true, &["a"], &[GONE, CURRENT]), "healthy", "");
        let late = "timeout waiting for: [Deployment/shop/b status: 'NotFound']";
        check(&wait(true, &["a"], &[GONE, GONE]), "waiting", late);
    }

    #[test]
    fn the_latest_observation_counts() {
        let mut wait = wait(true, &[], &[FAILED, BUSY]);
        wait.observe(&id("Deployment", "a"), health(Status::Current));
        wait.observe(&id("Deployment", "unrelated"), health(Status::Failed));
        let late = "timeout waiting for: [Deployment/shop/b status: 'InProgress']";
        check(&wait, "waiting", late);
        let pending: Vec<_> = wait.pending().map(|(id, _)| id.to_string()).collect();
        assert_eq!(pending, ["Deployment/shop/b"]);
        wait.observe(&id("Deployment", "b"), health(Status::Current));
        check(&wait, "healthy", "");
    }

    #[test]
    fn an_object_named_twice_is_waited_for_once() {
        let twice = [id("Job", "a"), id("Job", "a")];
        let mut wait = Wait::new(twice, [], true);
        wait.observe(&id("Job", "a"), health(Status::Current));
        check(&wait, "healthy", "");
    }

    #[test]
    fn a_missing_namespace_is_said_with_the_group() {
        let error = WaitError::NoNamespace(id("Deployment", "web"));
        let text = "resource Deployment.apps web is namespace scoped, but namespace is not set";
        assert_eq!(error.to_string(), text);
    }
}
