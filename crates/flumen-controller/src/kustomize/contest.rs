//! Objects that somebody else changes back again and again.
//!
//! Drift is corrected when it is seen. Where another manager insists on its own, that would go on for ever at the cost of
//! both and of the cluster. So an object that was set back three times within a minute is left alone until the interval
//! of its Kustomization brings the next pass, and the other manager is named.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    time::Duration,
};

use flumen_object::ObjectId;
use flumen_runtime::Key;
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

/// So many times within so long.
const TIMES: usize = 3;
const WITHIN: Duration = Duration::from_mins(1);
/// Objects of one Kustomization that are counted at a time. Who fights for more fights for these as well.
const COUNTED: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Contests(Mutex<HashMap<Key, BTreeMap<ObjectId, Contest>>>);

#[derive(Debug)]
struct Contest {
    /// When somebody touched the object last, we or the other.
    touched: Instant,
    /// When it was set back; the last few times.
    reverts: VecDeque<Instant>,
    /// The manager who changed it last; `None` if it was deleted.
    by: Option<String>,
    is_given_up: bool,
}

/// An object that is left alone until the next interval.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Contested {
    pub(super) id: ObjectId,
    pub(super) by: Option<String>,
}

impl Contests {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, BTreeMap<ObjectId, Contest>>> {
        self.0.lock()
    }

    /// Notes that somebody has changed an object. Returns whether it is to be corrected now.
    pub(super) fn changed(&self, key: &Key, id: &ObjectId, by: Option<String>) -> bool {
        let mut all = self.lock();
        let contests = all.entry(key.clone()).or_default();
        let Some(contest) = contest(contests, id) else { return true };
        contest.by = by;
        !contest.is_given_up
    }

    /// Notes which objects a pass has set back, and returns those that it is no use to set back at once.
    pub(super) fn reverted(&self, key: &Key, written: &BTreeSet<ObjectId>) -> Vec<Contested> {
        let mut all = self.lock();
        let contests = all.entry(key.clone()).or_default();
        for id in written {
            if let Some(contest) = contest(contests, id) {
                contest.revert();
            }
        }
        for (id, contest) in contests.iter_mut() {
            // What was as it should be is not fought for.
            contest.is_given_up &= written.contains(id);
        }
        contests.retain(|_, contest| contest.is_going_on());
        let given_up = contests.iter().filter(|(_, contest)| contest.is_given_up);
        let mut contested: Vec<Contested> = given_up
            .map(|(id, contest)| Contested { id: id.clone(), by: contest.by.clone() })
            .collect();
        contested.sort();
        if contests.is_empty() {
            all.remove(key);
        }
        contested
    }

    /// Forgets the past of a Kustomization: what it applies has changed, or it is gone.
    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }
}

/// The contest for an object, unless too many are going on.
fn contest<'c>(
    contests: &'c mut BTreeMap<ObjectId, Contest>,
    id: &ObjectId,
) -> Option<&'c mut Contest> {
    if contests.len() >= COUNTED && !contests.contains_key(id) {
        contests.retain(|_, contest| contest.is_going_on());
        if contests.len() >= COUNTED {
            return None;
        }
    }
    let contest = contests.entry(id.clone()).or_insert_with(|| Contest {
        touched: Instant::now(),
        reverts: VecDeque::new(),
        by: None,
        is_given_up: false,
    });
    contest.touched = Instant::now();
    Some(contest)
}

impl Contest {
    fn revert(&mut self) {
        self.reverts.push_back(self.touched);
        if self.reverts.len() > TIMES {
            self.reverts.pop_front();
        }
        let since = self.reverts.front().map(|first| self.touched.duration_since(*first));
        let is_fast = since.is_some_and(|since| since < WITHIN);
        self.is_given_up |= self.reverts.len() == TIMES && is_fast;
    }

    fn is_going_on(&self) -> bool {
        self.is_given_up || self.touched.elapsed() < WITHIN
    }
}

#[cfg(test)]
mod tests {
    use flumen_object::Gvk;
    use tokio::time::advance;

    use super::*;
    use crate::KUSTOMIZATION;

    fn key() -> Key {
        Key::new(&KUSTOMIZATION, "apps", "web")
    }

    fn id(name: &str) -> ObjectId {
        let gvk = Gvk::new(&"v1".into(), "ConfigMap".into());
        ObjectId { gvk, namespace: "apps".into(), name: name.into() }
    }

    /// Somebody changes an object, and it is set back.
    fn round(contests: &Contests, name: &str) -> (bool, Vec<Contested>) {
        let is_corrected = contests.changed(&key(), &id(name), Some("somebody".to_owned()));
        (is_corrected, contests.reverted(&key(), &[id(name)].into()))
    }

    #[tokio::test(start_paused = true)]
    async fn the_third_time_within_a_minute_is_the_last() {
        let contests = Contests::default();
        assert_eq!(round(&contests, "a"), (true, Vec::new()));
        assert_eq!(round(&contests, "a"), (true, Vec::new()));
        let contested = vec![Contested { id: id("a"), by: Some("somebody".to_owned()) }];
        assert_eq!(round(&contests, "a"), (true, contested.clone()));
        assert!(!contests.changed(&key(), &id("a"), Some("somebody".to_owned())));
        // The interval has passed, and the other one has still not given in.
        advance(Duration::from_mins(10)).await;
        assert_eq!(contests.reverted(&key(), &[id("a")].into()), contested);
        // Now it has.
        assert_eq!(contests.reverted(&key(), &BTreeSet::new()), []);
        assert!(contests.changed(&key(), &id("a"), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_of_rest_is_no_peace() {
        let contests = Contests::default();
        for _ in 0..2 {
            assert_eq!(round(&contests, "a"), (true, Vec::new()));
            assert_eq!(contests.reverted(&key(), &BTreeSet::new()), []);
        }
        assert_eq!(round(&contests, "a").1.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_change_is_corrected_each_time() {
        let contests = Contests::default();
        for _ in 0..10 {
            assert_eq!(round(&contests, "a"), (true, Vec::new()));
            advance(Duration::from_secs(31)).await;
        }
        advance(WITHIN).await;
        contests.reverted(&key(), &BTreeSet::new());
        assert!(contests.lock().is_empty(), "what is over is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_are_counted() {
        let contests = Contests::default();
        for number in 0..2 * COUNTED {
            contests.changed(&key(), &id(&number.to_string()), None);
        }
        assert!(contests.lock().values().all(|contests| contests.len() <= COUNTED));
    }
}
