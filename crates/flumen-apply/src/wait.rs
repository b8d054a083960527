//! Waits until objects are healthy, by watching them.
//!
//! Each kind is listed once. Where that shows something unfinished, a watch goes on from the revision of the list, so
//! that nothing between the two is missed; where all is well it ends there.

mod follow;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use flumen_health::{Health, HealthRules, Status, explain};
use flumen_kube::{Cluster, ListOptions, Resource};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, interval, sleep_until},
};

use self::follow::{Place, Seen, follow};
use crate::{Error, Pending, Progress, Report, desired::Desired};

/// How often it is told what is waited for, and pods are asked why a workload is not ready.
const TELL: Duration = Duration::from_secs(2);
/// Workloads that are explained at the same time; more would not be read.
const EXPLAINED: usize = 5;

/// What is waited for.
#[derive(Clone, Debug)]
pub(crate) struct Waited {
    pub(crate) id: ObjectId,
    pub(crate) resource: Resource,
    /// A finished Job that removes itself is no failure.
    pub(crate) vanishes: bool,
}

impl Waited {
    /// `None` while the kind is not served.
    pub(crate) fn of(object: &Desired) -> Option<Self> {
        let ttl = object.body.at(&["spec", "ttlSecondsAfterFinished"]);
        Some(Self {
            id: object.id.clone(),
            resource: object.resource.clone()?,
            vanishes: object.id.gvk.kind == "Job" && ttl.is_some_and(|ttl| !ttl.is_null()),
        })
    }
}

/// How a caller waits.
#[derive(Clone, Debug)]
pub struct WaitOptions {
    /// The labels that all the objects bear, when there are such.
    pub selector: Option<String>,
    pub rules: Arc<HealthRules>,
    /// Give up as soon as one object has failed.
    pub fail_fast: bool,
    pub deadline: Instant,
}

/// Waits until all objects are healthy, and returns digests of how they were then.
pub(crate) async fn until_healthy<C: Cluster>(
    cluster: &C,
    waited: &[Waited],
    options: &WaitOptions,
    report: &dyn Report,
) -> Result<Vec<(ObjectId, ObjectDigest)>, Error> {
    let (sender, receiver) = mpsc::channel(64);
    // Dropped at the end, which ends what is still followed.
    let mut followers = JoinSet::new();
    for place in places(waited, options) {
        followers.spawn(follow(cluster.clone(), place, options.rules.clone(), sender.clone()));
    }
    drop(sender);
    let states = waited.iter().map(|one| (one.id.inventory_id(), State::of(one))).collect();
    Waiting { cluster, options, report, states, reported: Vec::new() }.run(receiver).await
}

/// One place for each kind and namespace; a single object is asked for by name.
fn places(waited: &[Waited], options: &WaitOptions) -> Vec<Place> {
    let mut places: BTreeMap<(Gvk, Text), Place> = BTreeMap::new();
    for one in waited {
        let place = places
            .entry((one.id.gvk.clone(), one.id.namespace.clone()))
            .or_insert_with(|| Place::new(one.resource.clone(), one.id.namespace.clone()));
        place.objects.insert(one.id.inventory_id());
        place.name = (place.objects.len() == 1).then(|| one.id.name.clone());
    }
    let mut places: Vec<Place> = places.into_values().collect();
    for place in &mut places {
        place.selector.clone_from(&options.selector);
    }
    places
}

/// What is known of one object.
struct State {
    id: ObjectId,
    vanishes: bool,
    health: Option<Health>,
    digest: Option<ObjectDigest>,
    /// The object, while it is a workload that is not ready: its pods may say why.
    workload: Option<Node>,
}

impl State {
    fn of(waited: &Waited) -> Self {
        Self {
            id: waited.id.clone(),
            vanishes: waited.vanishes,
            health: None,
            digest: None,
            workload: None,
        }
    }
}

impl State {
    fn status(&self) -> Status {
        match self.health.as_ref().map(|health| health.status) {
            Some(Status::NotFound) if self.vanishes => Status::Current,
            Some(status) => status,
            None => Status::Unknown,
        }
    }
}

struct Waiting<'a, C> {
    cluster: &'a C,
    options: &'a WaitOptions,
    report: &'a dyn Report,
    states: BTreeMap<String, State>,
    /// How many are not current, and how many of those have failed.
    open: usize,
    failed: usize,
    told: Vec<Pending>,
}

impl<C: Cluster> Waiting<'_, C> {
    async fn run(
        mut self,
        mut seen: mpsc::Receiver<Seen>,
    ) -> Result<Vec<(ObjectId, ObjectDigest)>, Error> {
        let mut tell = interval_at(Instant::now() + TELL, TELL);
        while self.open > 0 {
            tokio::select! {
                one = seen.recv() => match one {
                    Some(one) => self.saw(one),
                    None => break,
                },
                _ = tell.tick() => self.tell().await,
                () = sleep_until(self.options.deadline) => return Err(self.timed_out()),
            }
            let stalled = self.options.fail_fast && self.failed > 0;
            if stalled || self.failed > 0 && self.failed == self.open {
                return Err(self.stalled());
            }
        }
        let digests = self.states.into_values().filter_map(|one| Some((one.id, one.digest?)));
        Ok(digests.collect())
    }

    fn saw(&mut self, seen: Seen) {
        let Some(state) = self.states.get_mut(&seen.id) else { return };
        let before = state.status();
        state.digest = seen.digest;
        state.workload = seen.object.filter(|_| is_workload(&state.id));
        state.health = Some(seen.health);
        let after = state.status();
        let count = |status: Status, which: Status| usize::from(status == which);
        self.open = self.open + count(before, Status::Current) - count(after, Status::Current);
        self.failed = self.failed + count(after, Status::Failed) - count(before, Status::Failed);
    }

    /// Says what is waited for and why, when that has changed.
    async fn tell(&mut self) {
        let mut pending = Vec::new();
        for state in self.states.values().filter(|state| state.status() != Status::Current) {
            let mut why = state.health.as_ref().map_or_else(String::new, |it| it.message.clone());
            if let Some(workload) = &state.workload
                && pending.len() < EXPLAINED
            {
                let pods = pods_of(self.cluster, workload).await;
                why = explain(workload, &pods).unwrap_or(why);
            }
            pending.push(Pending { id: state.id.clone(), why });
        }
        if pending != self.told {
            self.report.report(&Progress::Waiting(&pending));
            self.told = pending;
        }
    }
