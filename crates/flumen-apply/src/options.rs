//! What a caller decides about a run.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use flumen_diff::{IgnoreRules, Takeover};
use flumen_health::HealthRules;
use flumen_object::GroupKind;
use flumen_yaml::Node;

use crate::{Deployment, Owner, Watched};

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct Options {
    pub owner: Owner,
    /// The namespace of namespaced objects that name none.
    pub default_namespace: Option<String>,
    /// Bounds the whole run, waiting included.
    pub timeout: Duration,
    /// Requests that are under way at the same time.
    pub concurrency: usize,
    /// Delete and recreate an object when an immutable field changes.
    pub force: bool,
    pub prune: Prune,
    /// Wait until everything is healthy.
    pub wait: bool,
    /// Fail for kinds that are not served yet, instead of waiting for them.
    pub strict_kinds: bool,
    /// Kinds that are applied before the rest, after definitions and classes.
    pub custom_stage: BTreeSet<GroupKind>,
    /// Apply the objects that pass, although others of the same stage do not.
    pub keep_going: bool,
    /// Leave the replicas of a workload to the autoscaler of the same set that scales it, as kustomizer does. Flux
    /// applies them like any other field.
    pub leave_scaled_replicas: bool,
    /// What is taken from those who managed an object before.
    pub takeover: Takeover,
    /// What is taken even from an object that the server refuses, before it is asked once more. This is written although
    /// nothing else of the stage may be.
    pub rescue: Takeover,
    /// Differences that do not count.
    pub ignore: IgnoreRules,
    /// What counts as healthy.
    pub health: Arc<HealthRules>,
    /// What is written into the history. `None` keeps no history.
    pub deployment: Option<Deployment>,
    /// Who knows the objects by watching them. Without one they are listed.
    pub watched: Option<Arc<dyn Watched>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// Objects that are gone from the source stay, also in the inventory: a later run may delete them.
    #[default]
    Off,
    /// They stay and are forgotten, as the reference does it.
    Forget,
    /// Deletes them, unless that would be most of the inventory.
    Guarded,
    /// Deletes them, however many they are.
    Unguarded,
}

impl Options {
    pub fn new(owner: Owner) -> Self {
        Self {
            owner,
            default_namespace: None,
            timeout: Duration::from_mins(1),
            concurrency: 16,
            force: false,
            prune: Prune::Off,
            wait: false,
            strict_kinds: false,
            custom_stage: BTreeSet::new(),
            keep_going: false,
            leave_scaled_replicas: true,
            takeover: Takeover::default(),
            rescue: Takeover::from_managers(&[]),
            ignore: IgnoreRules::default(),
            health: Arc::default(),
            deployment: None,
            watched: None,
        }
    }

    /// The patch that takes fields over from earlier managers of `live`, if there are any.
    pub(crate) fn takes_over(&self, desired: &Node, live: &Node) -> Option<Node> {
        self.taking(&self.takeover, desired, live)
    }

    /// The same for those that keep an object from being applied.
    pub(crate) fn rescues(&self, desired: &Node, live: &Node) -> Option<Node> {
        self.taking(&self.rescue, desired, live)
    }

    fn taking(&self, takeover: &Takeover, desired: &Node, live: &Node) -> Option<Node> {
        if self.owner.merges(desired) || self.owner.merges(live) {
            return None;
        }
        takeover.patch(live, &self.owner.manager)
    }
}
