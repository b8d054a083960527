//! Leader election: of several processes, the one that holds a Lease acts.
//!
//! The rules are those of Kubernetes' own clients, so that they and we exclude each other. The holder renews the Lease.
//! Who waits for it measures by his own clock how long it has not changed, and takes it over when that is longer than
//! the holder promised: clocks of different machines are never compared. The holder gives up before that time is over.

use std::{sync::Arc, time::Duration};

use flumen_object::Gvk;
use flumen_yaml::{Entry, Node, Pos, Tag, Value};
use jiff::Timestamp;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use crate::{Cluster, Error, ObjectName, Resource, retry::may_pass_later};

const API_VERSION: &str = "coordination.k8s.io/v1";
const KIND: &str = "Lease";
const MANAGER: &str = "flumen";
/// What a released Lease promises: nothing, but the field must be positive.
const RELEASED: Duration = Duration::from_secs(1);

/// Which Lease is wanted, by whom, and how patient everybody is.
#[derive(Clone, Debug)]
pub struct LeaseOptions {
    pub namespace: String,
    pub name: String,
    /// Who we are; no other process may say the same.
    pub identity: String,
    /// How long others leave a Lease alone that is not renewed. At least a second, and longer than `renew`.
    pub lease: Duration,
    /// How long the holder tries to renew before it gives up. Longer than `retry`.
    pub renew: Duration,
    /// The pause between two tries.
    pub retry: Duration,
}

impl LeaseOptions {
    /// With the times that Flux's controllers use.
    pub fn new(namespace: String, name: String, identity: String) -> Self {
        let [lease, renew, retry] = [35, 30, 5].map(Duration::from_secs);
        Self { namespace, name, identity, lease, renew, retry }
    }

    fn title(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// Why a Lease is no longer held.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    #[error("the lease {lease} was taken by {holder}")]
    Taken { lease: String, holder: String },
    #[error("the lease {lease} could not be renewed within {} s", .after.as_secs_f32())]
    NotRenewed { lease: String, after: Duration, source: Option<Error> },
}

/// A Lease that is held, until [`Lease::keep`] says otherwise.
#[derive(Debug)]
pub struct Lease<C> {
    candidate: Candidate<C>,
    /// Before the last renewal was sent; others may count from then.
    renewed: Instant,
}

impl<C: Cluster> Lease<C> {
    /// Waits until the Lease is ours. `waiting` is told who holds it whenever that is somebody new.
    ///
    /// # Errors
    /// When the server refuses for a reason that time does not cure.
    pub async fn acquire(
        cluster: C,
        options: LeaseOptions,
        mut waiting: impl FnMut(&str),
    ) -> Result<Self, Error> {
        let mut candidate = Candidate::new(cluster, options);
        let mut known = String::new();
        loop {
            let asked = Instant::now();
            match timeout(candidate.options.renew, candidate.attempt()).await {
                Ok(Ok(Attempt::Held)) => return Ok(Self { candidate, renewed: asked }),
                Ok(Ok(Attempt::HeldBy(holder))) if holder != known => {
                    waiting(&holder);
                    known = holder;
                }
                Ok(Err(error)) if !may_pass_later(&error) => return Err(error),
                _ => {}
            }
            sleep(candidate.options.retry).await;
        }
    }

    /// Renews the Lease for as long as that goes well. What the holder does must end when this does.
    pub async fn keep(&mut self) -> Lost {
        let mut source = None;
        loop {
            let deadline = self.renewed + self.candidate.options.renew;
            sleep_until(deadline.min(Instant::now() + self.candidate.options.retry)).await;
            let asked = Instant::now();
            if asked >= deadline {
                return self.not_renewed(source);
            }
            match timeout_at(deadline, self.candidate.attempt()).await {
                Ok(Ok(Attempt::Held)) => {
                    self.renewed = asked;
                    source = None;
                }
                Ok(Ok(Attempt::HeldBy(holder))) => {
                    return Lost::Taken { lease: self.candidate.options.title(), holder };
                }
                Ok(Ok(Attempt::Overtaken)) => {}
                Ok(Err(error)) => source = Some(error),
                Err(_) => return self.not_renewed(source),
            }
        }
    }

    fn not_renewed(&self, source: Option<Error>) -> Lost {
        let options = &self.candidate.options;
        Lost::NotRenewed { lease: options.title(), after: options.renew, source }
    }

    /// Gives the Lease back, so that nobody has to wait until it expires.
    ///
    /// # Errors
    /// When the server refuses. That somebody else holds the Lease by now is no error.
    pub async fn release(self) -> Result<(), Error> {
        let candidate = self.candidate;
        loop {
            // A renewal that was given up half way may have been done, so what we wrote last does not count.
            let Some(mut object) = candidate.cluster.get(candidate.name()).await? else {
                return Ok(());
            };
            let record = Record::of(&object);
            if record.holder != candidate.options.identity {
                return Ok(());
            }
            Record { holder: String::new(), duration: RELEASED, renewed: now(), ..record }
                .write(&mut object);
            match candidate.replace(&object).await {
                // It may also be done right now.
                Err(error) if error.is_conflict() => {}
                Err(error) if !error.is_not_found() => return Err(error),
                _ => return Ok(()),
            }
        }
    }
}

/// What came of one try to get or to renew a Lease.
enum Attempt {
    Held,
    HeldBy(String),
    /// Somebody changed the Lease at the same moment.
    Overtaken,
}

#[derive(Debug)]
struct Candidate<C> {
    cluster: C,
    options: LeaseOptions,
    resource: Resource,
    /// The Lease as we wrote it; a renewal needs not read it then.
    ours: Option<Node>,
    /// The record of somebody else, and when it was seen first.
    seen: Option<(Record, Instant)>,
}

impl<C: Cluster> Candidate<C> {
    fn new(cluster: C, options: LeaseOptions) -> Self {
        let resource = Resource {
            gvk: Gvk::new(&API_VERSION.into(), KIND.into()),
            plural: "leases".into(),
            namespaced: true,
            verbs: Arc::default(),
        };
        Self { cluster, options, resource, ours: None, seen: None }
    }

    fn name(&self) -> ObjectName<'_> {
        let LeaseOptions { namespace, name, .. } = &self.options;
        ObjectName { resource: &self.resource, namespace, name }
    }

    async fn attempt(&mut self) -> Result<Attempt, Error> {
        if let Some(object) = self.ours.take() {
            return self.take(object).await;
        }
        let Some(object) = self.cluster.get(self.name()).await? else {
            return self.create().await;
        };
        let record = Record::of(&object);
        let since = match &self.seen {
            Some((known, since)) if *known == record => *since,
            _ => Instant::now(),
        };
        let is_free = record.holder.is_empty()
            || record.holder == self.options.identity
            || since.elapsed() > record.duration;
        if is_free {
            return self.take(object).await;
        }
        let holder = record.holder.clone();
        self.seen = Some((record, since));
        Ok(Attempt::HeldBy(holder))
    }

    async fn create(&mut self) -> Result<Attempt, Error> {
        let name = Node::string(self.options.name.as_str());
        let mut object = map([
            ("apiVersion", Node::string(API_VERSION)),
            ("kind", Node::string(KIND)),
            ("metadata", map([("name", name)])),
        ]);
        self.record(None).write(&mut object);
        let created = self.cluster.create(self.name(), &object, MANAGER).await;
        self.outcome(created)
    }

    /// Writes ourselves into a Lease that is ours or free.
    async fn take(&mut self, mut object: Node) -> Result<Attempt, Error> {
        self.record(Some(Record::of(&object))).write(&mut object);
        match self.replace(&object).await {
            // It was deleted; the next try creates it.
            Err(error) if error.is_not_found() => Ok(Attempt::Overtaken),
            replaced => self.outcome(replaced),
        }
    }

    async fn replace(&self, object: &Node) -> Result<Node, Error> {
        self.cluster.replace(self.name(), object, MANAGER).await
    }

    fn outcome(&mut self, written: Result<Node, Error>) -> Result<Attempt, Error> {
        match written {
            Ok(object) => {
                self.ours = Some(object);
                Ok(Attempt::Held)
            }
            Err(error) if error.is_conflict() => Ok(Attempt::Overtaken),
            Err(error) => Err(error),
        }
    }

    /// What the Lease says when it is ours.
    fn record(&self, before: Option<Record>) -> Record {
        let renewed = now();
        let (acquired, transitions) = match before {
            Some(before) if before.holder == self.options.identity => {
                (before.acquired, before.transitions)
            }
            Some(before) => (renewed.clone(), before.transitions.saturating_add(1)),
            None => (renewed.clone(), 0),
        };
        let holder = self.options.identity.clone();
        Record { holder, duration: self.options.lease, acquired, renewed, transitions }
    }
}

/// What a Lease says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    holder: String,
    duration: Duration,
    acquired: String,
    renewed: String,
    transitions: u32,
}

impl Record {
    /// What is missing is empty: such a Lease is free.
    fn of(lease: &Node) -> Self {
        let text = |field: &str| {
            let value = lease.at(&["spec", field]).and_then(Node::as_str);
            value.unwrap_or_default().to_owned()
        };
        let number = |field: &str| {
            let value = lease.at(&["spec", field]).and_then(Node::text);
            value.and_then(|text| text.as_str().parse::<u32>().ok()).unwrap_or_default()
        };
        Self {
            holder: text("holderIdentity"),
            duration: Duration::from_secs(number("leaseDurationSeconds").into()),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: number("leaseTransitions"),
        }
    }

    /// Leaves alone what else the Lease says.
    fn write(self, lease: &mut Node) {
        let Some(fields) = lease.as_map_mut() else { return };
        let number = |value: u64| Node::scalar(value.to_string(), Tag::Int);
        let seconds = self.duration.as_secs() + u64::from(self.duration.subsec_nanos() > 0);
        let mut spec = fields.remove("spec").filter(Node::is_map).unwrap_or_else(Node::map);
        if let Some(spec) = spec.as_map_mut() {
            spec.set("holderIdentity", Node::string(self.holder));
            spec.set("leaseDurationSeconds", number(seconds));
            spec.set("acquireTime", Node::string(self.acquired));
            spec.set("renewTime", Node::string(self.renewed));
            spec.set("leaseTransitions", number(self.transitions.into()));
        }
        fields.set("spec", spec);
    }
}

fn map<const N: usize>(fields: [(&'static str, Node); N]) -> Node {
    let entries: Vec<Entry> =
        fields.into_iter().map(|(key, value)| Entry::new(key, value)).collect();
    Node::new(Pos::default(), Value::Map(entries.into()))
}

fn now() -> String {
    format!("{:.6}", Timestamp::now())
}
