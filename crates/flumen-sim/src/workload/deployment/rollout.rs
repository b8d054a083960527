//! The way from old replica sets to the new one.

use super::{
    Rollout, SOURCE,
    sets::{self, Set},
};
use crate::{
    kind::Kind,
    object::{self, is_controlled_by},
};

impl Rollout<'_> {
    /// Some pods of the new template up, some of the old ones down, within the limits.
    pub(super) fn roll(&mut self) {
        if self.sets.new.is_none() && !self.make_new() {
            return;
        }
        if self.scale_up_new() || self.scale_down_old() {
            return;
        }
        if self.is_complete_before() {
            self.clean_up();
        }
    }

    /// All old pods down, then all new ones up.
    pub(super) fn recreate(&mut self) {
        let active: Vec<usize> =
            (0..self.sets.old.len()).filter(|place| self.sets.old[*place].replicas() > 0).collect();
        if !active.is_empty() {
            for place in active {
                self.scale_old(place, 0);
            }
            return;
        }
        if self.has_old_pods() {
            return;
        }
        if self.sets.new.is_none() {
            self.make_new();
            return;
        }
        self.scale_new(self.wished());
        if self.is_complete_before() {
            self.clean_up();
        }
    }

    /// Makes the new replica set with as many pods as are allowed at once; false if its name is taken.
    fn make_new(&mut self) -> bool {
        let name = sets::name_of(self.deployment, self.collisions);
        let namespace = object::namespace(self.deployment);
        if let Some(taken) = self.context.world.find(Kind::ReplicaSet, namespace, &name) {
            let is_own = is_controlled_by(taken, object::uid(self.deployment));
            if !is_own || !object::is_ending(taken) {
                self.collisions = Some(self.collisions.unwrap_or_default() + 1);
            }
            return false;
        }
        self.sets.make(self.deployment, self.collisions);
        if self.deadline().is_some() {
            let message = format!("Created new replica set {name:?}");
            self.set_condition("Progressing", "True", "NewReplicaSetCreated", &message);
        }
        self.scale_new(self.allowed_new());
        true
    }

    /// How many pods the new replica set may have now.
    fn allowed_new(&self) -> i64 {
        let (wished, (surge, _)) = (self.wished(), self.limits());
        if !self.is_rolling() {
            return wished;
        }
        let now = self.sets.new.as_ref().map_or(0, Set::replicas);
        let room = (wished + surge - self.sets.wished()).max(0);
        now + room.min(wished - now).max(0)
    }

    fn scale_up_new(&mut self) -> bool {
        let wished = self.wished();
        match self.sets.new.as_ref().map_or(wished, Set::replicas) {
            now if now == wished => false,
            now if now > wished => self.scale_new(wished),
            _ => self.scale_new(self.allowed_new()),
        }
    }

    fn scale_down_old(&mut self) -> bool {
        let (_, missing) = self.limits();
        let least = self.wished() - missing;
        let new_unavailable =
            self.sets.new.as_ref().map_or(0, |set| set.replicas() - set.available());
        let mut room = self.sets.wished() - least - new_unavailable;
        if room <= 0 || self.sets.old.iter().all(|set| set.replicas() == 0) {
            return false;
        }
        // Pods that are of no use go first: they would only block the rollout.
        let mut moved = false;
        for place in 0..self.sets.old.len() {
            let set = &self.sets.old[place];
            let useless = (set.replicas() - set.available()).clamp(0, room);
            if useless > 0 {
                room -= useless;
                moved |= self.scale_old(place, self.sets.old[place].replicas() - useless);
            }
        }
        let mut room = self.sets.sum("/status/availableReplicas") - least;
        for place in 0..self.sets.old.len() {
            let now = self.sets.old[place].replicas();
            let fewer = now.min(room);
            if fewer > 0 {
                room -= fewer;
                moved |= self.scale_old(place, now - fewer);
            }
        }
        moved
    }

    pub(super) fn scale_new(&mut self, to: i64) -> bool {
        let Some(mut set) = self.sets.new.take() else { return false };
        let is_scaled = self.scale_set(&mut set, to);
        self.sets.new = Some(set);
        is_scaled
    }

    pub(super) fn scale_old(&mut self, place: usize, to: i64) -> bool {
        let mut set = self.sets.old[place].clone();
        let is_scaled = self.scale_set(&mut set, to);
        self.sets.old[place] = set;
        is_scaled
    }

    fn scale_set(&mut self, set: &mut Set, to: i64) -> bool {
        let (from, wished, (surge, _)) = (set.replicas(), self.wished(), self.limits());
        set.scale(to, wished, wished + surge);
        if from == to {
            return false;
        }
        let direction = if from < to { "up" } else { "down" };
        let name = object::name(&set.object);
        let message = format!("Scaled {direction} replica set {name} from {from} to {to}");
        self.plan.tell(self.deployment, SOURCE, "ScalingReplicaSet", message);
        true
    }
}
