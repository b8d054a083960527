//! A deployment that was scaled, perhaps in the middle of a rollout.

use super::{Rollout, sets::Set};
use crate::object::{self, number, text};

impl Rollout<'_> {
    /// Brings the replica sets to the size of the deployment, each by its share.
    pub(super) fn scale(&mut self) {
        let wished = self.wished();
        let active = self.sets.all().filter(|set| set.replicas() > 0).count();
        if active <= 1 {
            return self.scale_only_one(wished);
        }
        if self.sets.new.as_ref().is_some_and(|set| set.is_saturated(wished)) {
            for place in 0..self.sets.old.len() {
                self.scale_old(place, 0);
            }
            return;
        }
        if self.is_rolling() {
            self.scale_by_share(wished);
        }
    }

    /// The one with pods, or else the newest.
    fn scale_only_one(&mut self, wished: i64) {
        if let Some(place) = self.sets.old.iter().position(|set| set.replicas() > 0) {
            self.scale_old(place, wished);
        } else if self.sets.new.is_some() {
            self.scale_new(wished);
        } else if let Some(newest) = self.sets.old.len().checked_sub(1) {
            self.scale_old(newest, wished);
        }
    }

    fn scale_by_share(&mut self, wished: i64) {
        let (surge, _) = self.limits();
        let most = if wished > 0 { wished + surge } else { 0 };
        let to_add = most - self.sets.wished();
        let before = number(self.deployment, "/status/replicas");
        let mut shares: Vec<(String, i64, i64)> = Vec::new();
        let mut active: Vec<&Set> = self.sets.all().filter(|set| set.replicas() > 0).collect();
        // The largest first; of equals, the newer one gets more and the older one loses more.
        active.sort_by_cached_key(|set| {
            let created = text(&set.object, "/metadata/creationTimestamp").to_owned();
            (set.replicas(), created)
        });
        active.reverse();
        if to_add < 0 {
            active.sort_by_key(|set| std::cmp::Reverse(set.replicas()));
        }
        let mut added = 0;
        for set in active {
            let share = if to_add == 0 {
                0
            } else {
                let fraction = fraction(set, wished, most, before);
                let left = to_add - added;
                if to_add > 0 { fraction.min(left).max(0) } else { fraction.max(left).min(0) }
            };
            added += share;
            shares.push((object::name(&set.object).to_owned(), set.replicas(), share));
        }
        if let Some((_, _, share)) = shares.first_mut() {
            *share += to_add - added;
        }
        for set in self.sets.all_mut() {
            let found = shares.iter().find(|(name, ..)| *name == object::name(&set.object));
            if let Some((_, now, share)) = found {
                set.scale((now + share).max(0), wished, wished + surge);
            }
        }
    }
}

/// By how many pods a replica set grows or shrinks with its deployment.
fn fraction(set: &Set, wished: i64, most: i64, before: i64) -> i64 {
    if wished == 0 {
        return -set.replicas();
    }
    let most_before = set.most_before().filter(|most| *most != 0).unwrap_or(before);
    if most_before == 0 {
        return 0;
    }
    // Rounded to the nearest.
    (2 * set.replicas() * most + most_before) / (2 * most_before) - set.replicas()
}
