//! Waits until objects are healthy, by watching them.
//!
//! Each kind is listed once. If that shows something unfinished, in whichever kind, watches of all of them go on from the
//! revisions of the lists, so that nothing in between is missed: what is waited for is that all are healthy at one time.
//! Where all is well it ends there.

mod follow;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use flumen_diff::ObjectDigest;
use flumen_health::{Health, HealthRules, Status, Verdict, Wait, WaitError, explain};
use flumen_kube::{Cluster, ListOptions, Resource};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, interval_at, sleep_until},
};

use self::follow::{Place, follow};
use crate::{
    Error, Inventory, Owner, Pending, Progress, Report, Sighting, Watched, desired::Desired,
    kinds::tell_served,
};

/// How often it is told what is waited for, and pods are asked why a workload is not ready.
const TELL: Duration = Duration::from_secs(2);
/// Workloads that are explained at the same time; more would not be read.
const EXPLAINED: usize = 5;

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Waited {
    pub id: ObjectId,
    /// `None` while the kind is not served; then there is nothing to see before it is.
    pub resource: Option<Resource>,
    /// A finished Job that removes itself is no failure.
    pub vanishes: bool,
}

impl Waited {
    pub(crate) fn of(object: &Desired) -> Self {
        let ttl = object.body.at(&["spec", "ttlSecondsAfterFinished"]);
        Self {
            id: object.id.clone(),
            resource: object.resource.clone(),
            vanishes: object.id.gvk.kind == "Job" && ttl.is_some_and(|ttl| !ttl.is_null()),
        }
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
    /// Who knows the objects by watching them; what they do not know is followed from here.
    pub watched: Option<Arc<dyn Watched>>,
}

impl WaitOptions {
    /// Waits for objects of an owner, by the usual rules, and no longer than `timeout`.
    pub fn of_owner(owner: &Owner, timeout: Duration) -> Self {
        Self {
            selector: Some(owner.selector()),
            rules: Arc::default(),
            fail_fast: true,
            deadline: Instant::now() + timeout,
            watched: None,
        }
    }
}

/// Waits until everything that an inventory names is healthy.
pub async fn wait<C: Cluster>(
    cluster: &C,
    inventory: &Inventory,
    options: &WaitOptions,
    report: &dyn Report,
) -> Result<(), Error> {
    let mut waited = Vec::with_capacity(inventory.len());
    for entry in inventory.entries() {
        let resource = cluster.resource(&entry.id.gvk).await?;
        // Its manifest is not at hand: a Job that is gone counts as one that removed itself.
        let vanishes = entry.id.gvk.kind == "Job";
        waited.push(Waited { id: entry.id.clone(), resource, vanishes });
    }
    until_healthy(cluster, &waited, options, report).await.map(drop)
}

/// Waits until all objects are healthy, and returns digests of how they were then.
pub async fn until_healthy<C: Cluster>(
    cluster: &C,
    waited: &[Waited],
    options: &WaitOptions,
    report: &dyn Report,
) -> Result<Vec<(ObjectId, ObjectDigest)>, Error> {
    let (sender, sightings) = mpsc::channel(64);
    let (known_sender, known) = mpsc::unbounded_channel();
    let (served_sender, served) = mpsc::unbounded_channel();
    let heard = Heard { sightings, known, served };
    let ids = waited.iter().map(|one| one.id.clone());
    let vanishing = waited.iter().filter(|one| one.vanishes).map(|one| one.id.clone());
    let mut waiting = Waiting {
        cluster,
        options,
        report,
        wait: Wait::new(ids, vanishing, options.fail_fast),
        seen: waited.iter().map(|one| (one.id.inventory_id(), Known::of(&one.id))).collect(),
        followers: JoinSet::new(),
        sender,
        known_sender,
        goes_on: watch::Sender::new(false),
        unserved: BTreeMap::new(),
        told: Vec::new(),
    };
    let mut objects = Vec::with_capacity(waited.len());
    for one in waited {
        match &one.resource {
            Some(resource) => objects.push((one.id.clone(), resource.clone())),
            None => waiting.miss_kind(&one.id),
        }
    }
    waiting.follow(objects)?;
    let kinds: BTreeSet<Gvk> = waiting.unserved.keys().cloned().collect();
    if !kinds.is_empty() {
        let watched = options.watched.clone();
        waiting.followers.spawn(tell_served(cluster.clone(), kinds, watched, served_sender));
    }
    waiting.run(heard).await
}

/// One place for each kind and namespace; a single object is asked for by name.
fn places(objects: Vec<(ObjectId, Resource)>, options: &WaitOptions) -> Vec<Place> {
    let mut places: BTreeMap<(Gvk, Text), Place> = BTreeMap::new();
    for (id, resource) in objects {
        let place = places
            .entry((id.gvk.clone(), id.namespace.clone()))
            .or_insert_with(|| Place::new(resource, id.namespace.clone()));
        place.objects.insert(id.inventory_id());
        place.name = (place.objects.len() == 1).then_some(id.name);
    }
    let mut places: Vec<Place> = places.into_values().collect();
    for place in &mut places {
        place.selector.clone_from(&options.selector);
    }
    places
}

/// What is known of one object beside its health.
struct Known {
    id: ObjectId,
    digest: Option<ObjectDigest>,
    /// The object itself while it is not ready: it and its pods may say why.
    unready: Option<Node>,
}

impl Known {
    fn of(id: &ObjectId) -> Self {
        Self { id: id.clone(), digest: None, unready: None }
    }
}

/// Where news of a wait arrive.
struct Heard {
    /// From our own followers.
    sightings: mpsc::Receiver<Sighting>,
    /// From those who watch the objects anyway.
    known: mpsc::UnboundedReceiver<Sighting>,
    /// Kinds that were not served at first, and how they are now.
    served: mpsc::UnboundedReceiver<(Gvk, Resource)>,
}

impl Heard {
    /// What was seen and is not taken note of yet.
    fn arrived(&mut self) -> Option<Sighting> {
        self.sightings.try_recv().or_else(|_| self.known.try_recv()).ok()
    }
}

struct Waiting<'a, C> {
    cluster: &'a C,
    options: &'a WaitOptions,
    report: &'a dyn Report,
    wait: Wait,
    seen: BTreeMap<String, Known>,
    /// Dropped at the end, which ends what is still followed.
    followers: JoinSet<()>,
    sender: mpsc::Sender<Sighting>,
    known_sender: mpsc::UnboundedSender<Sighting>,
    /// Whether the wait is not over at first sight, so that everything is watched.
    goes_on: watch::Sender<bool>,
    /// Objects whose kind is not served yet.
    unserved: BTreeMap<Gvk, Vec<ObjectId>>,
    told: Vec<Pending>,
}

impl<C: Cluster> Waiting<'_, C> {
    /// Notes that there is nothing to see of an object until its kind is served.
    fn miss_kind(&mut self, id: &ObjectId) {
        let Gvk { group, kind, .. } = &id.gvk;
        let why = format!("no matches for kind \"{kind}\" in group \"{group}\"");
        self.wait.observe(id, Health::unknown(&why));
        self.unserved.entry(id.gvk.clone()).or_default().push(id.clone());
        self.goes_on.send_replace(true);
    }

    /// Begins to follow objects whose kind is served.
    fn follow(&mut self, objects: Vec<(ObjectId, Resource)>) -> Result<(), Error> {
        let WaitOptions { watched, rules, .. } = self.options;
        let mut unknown = Vec::new();
        for (id, resource) in objects {
            if resource.namespaced && id.namespace.is_empty() {
                return Err(Error::NotHealthy(WaitError::NoNamespace(id)));
            }
            let is_known = watched
                .as_ref()
                .is_some_and(|watched| watched.follow(&resource, &id, rules, &self.known_sender));
            if !is_known {
                unknown.push((id, resource));
            }
        }
        for place in places(unknown, self.options) {
            let (cluster, rules, sender) =
                (self.cluster.clone(), rules.clone(), self.sender.clone());
            self.followers.spawn(follow(cluster, place, rules, sender, self.goes_on.subscribe()));
        }
        Ok(())
    }

    async fn run(mut self, mut heard: Heard) -> Result<Vec<(ObjectId, ObjectDigest)>, Error> {
        let mut tell = interval_at(Instant::now() + TELL, TELL);
        loop {
            // What has arrived already counts before anything is said.
            while let Some(sighting) = heard.arrived() {
                self.saw(sighting);
            }
            match self.wait.verdict() {
                Verdict::Healthy => break,
                Verdict::Failed(error) => return Err(Error::NotHealthy(error)),
                Verdict::Waiting => {}
            }
            tokio::select! {
                Some(sighting) = heard.sightings.recv() => self.saw(sighting),
                Some(sighting) = heard.known.recv() => self.saw(sighting),
                Some((kind, resource)) = heard.served.recv() => {
                    let ids = self.unserved.remove(&kind).into_iter().flatten();
                    self.follow(ids.map(|id| (id, resource.clone())).collect())?;
                }
                _ = tell.tick() => {
                    // Somebody has not answered yet.
                    self.goes_on.send_replace(true);
                    self.tell().await;
                }
                () = sleep_until(self.options.deadline) => {
                    self.wait.at_deadline().map_err(Error::NotHealthy)?;
                    break;
                }
            }
        }
        let digests = self.seen.into_values().filter_map(|one| Some((one.id, one.digest?)));
        Ok(digests.collect())
    }

    fn saw(&mut self, sighting: Sighting) {
        let Some(known) = self.seen.get_mut(&sighting.id) else { return };
        known.digest = sighting.digest;
        known.unready = sighting.unready;
        if sighting.health.status != Status::Current {
            self.goes_on.send_replace(true);
        }
        self.wait.observe(&known.id, sighting.health);
    }

    /// Says what is waited for and why, when that has changed.
    async fn tell(&mut self) {
        let mut pending = Vec::new();
        for (id, health) in self.wait.pending() {
            let mut why = health.map_or_else(String::new, |health| health.message.clone());
            let known = self.seen.get(&id.inventory_id());
            if let Some(object) = known.and_then(|known| known.unready.as_ref())
                && pending.len() < EXPLAINED
            {
                let pods = pods_of(self.cluster, object).await;
                why = explain(object, &pods.iter().collect::<Vec<_>>()).unwrap_or(why);
            }
            pending.push(Pending { id: id.clone(), why });
        }
        if pending != self.told {
            self.report.report(&Progress::Waiting(&pending));
            self.told = pending;
        }
    }
}

/// The pods that an object selects; none when it selects none, or they cannot be read.
async fn pods_of<C: Cluster>(cluster: &C, object: &Node) -> Vec<Node> {
    let Some(labels) = object.at(&["spec", "selector", "matchLabels"]).and_then(Node::as_map)
    else {
        return Vec::new();
    };
    let pairs =
        labels.iter().filter_map(|entry| Some(format!("{}={}", entry.key, entry.value.as_str()?)));
    let selector = pairs.collect::<Vec<_>>().join(",");
    let pods = Resource {
        gvk: Gvk::new(&Text::literal("v1"), Text::literal("Pod")),
        plural: "pods".into(),
        namespaced: true,
        verbs: [].into(),
    };
    let options = ListOptions {
        namespace: object.at(&["metadata", "namespace"]).and_then(Node::as_str),
        label_selector: Some(&selector),
        ..ListOptions::default()
    };
    cluster.list(&pods, options).await.map(|listed| listed.items).unwrap_or_default()
}
