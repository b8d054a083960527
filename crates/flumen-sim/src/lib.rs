//! Controllers of the embedded server: the life of namespaces, owners, and simulated workloads.
//!
//! # What is real
//!
//! [`Controllers::Core`] does what every cluster does: namespaces that end are emptied, dependents go
//! with their owners, every namespace has a default service account and the authority of the server,
//! aggregated roles gather their rules.
//!
//! # What is simulated
//!
//! [`Controllers::All`] adds what looks after quotas, disruption budgets and the ends of claims and volumes, and
//! workloads. Controllers of Deployments, `StatefulSets`, Jobs and so on decide
//! as the real ones do, but no container runs: pods are taken by one node called `flumen` and become
//! ready, or succeed, after a short time. Every such pod and node has the annotation
//! `sim.flumen.dev/simulated: "true"`.
//!
//! Annotations on a pod, usually by its template, script trouble:
//!
//! | annotation | value | what happens |
//! |---|---|---|
//! | `sim.flumen.dev/image-pull-error` | `"true"` | the image cannot be pulled |
//! | `sim.flumen.dev/crash-loop` | `"true"` | containers exit with 1 and are started again, ever more slowly |
//! | `sim.flumen.dev/never-ready` | `"true"` | containers run and never become ready |
//! | `sim.flumen.dev/slow-start` | `5s` | containers run and become ready after this time |
//! | `sim.flumen.dev/job-fail` | `"true"` | containers of a pod that is to end exit with 1 |

#![allow(clippy::disallowed_methods, reason = "the clock of controllers is here")]

mod accounts;
mod act;
mod aggregation;
mod balancer;
mod budget;
mod clock;
mod concern;
mod endpoints;
mod engine;
mod expiry;
mod follow;
mod gc;
mod hash;
mod kind;
mod namespaces;
mod node;
mod object;
mod plan;
mod pod;
mod quota;
mod selector;
mod volumes;
mod workload;
mod world;

use std::time::Duration;

use flumen_apiserver::Api;
use tokio::task::JoinSet;

pub use clock::Clock;
use engine::{Engine, Rule};
use follow::follow;
use kind::Kind;

/// Which controllers run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controllers {
    /// Events are forgotten nevertheless, as every server does.
    None,
    /// Those that no cluster can do without.
    Core,
    /// The workload simulation too.
    #[default]
    All,
}

/// What controllers need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The certificate of the authority of the server, in PEM; in every namespace.
    pub root_ca: String,
    pub pace: Pace,
    pub clock: Clock,
}

/// How long simulated things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From a pod on its node to running containers.
    pub start: Duration,
    /// From running containers to the end, in pods that are to end.
    pub run: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { start: Duration::from_millis(300), run: Duration::from_millis(700) }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self { root_ca: String::new(), pace: Pace::default(), clock: Clock::system() }
    }
}

/// Controllers that run. Dropping this stops them.
#[derive(Debug)]
pub struct Running {
    tasks: JoinSet<()>,
}

impl Running {
    /// Stops all controllers and waits until they have.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}

const CORE: &[Rule] = &[
    Rule { kind: Kind::Namespace, decide: accounts::decide },
    Rule { kind: Kind::ClusterRole, decide: aggregation::decide },
];

const WORKLOADS: &[Rule] = &[
    Rule { kind: Kind::PersistentVolumeClaim, decide: volumes::release_claim },
    Rule { kind: Kind::PersistentVolume, decide: volumes::release_volume },
    Rule { kind: Kind::PodDisruptionBudget, decide: budget::decide },
    Rule { kind: Kind::ResourceQuota, decide: quota::decide },
    Rule { kind: Kind::Namespace, decide: node::decide },
    Rule { kind: Kind::Pod, decide: pod::decide },
    Rule { kind: Kind::Deployment, decide: workload::deployment::decide },
    Rule { kind: Kind::ReplicaSet, decide: workload::replicas::replica_set },
    Rule { kind: Kind::ReplicationController, decide: workload::replicas::replication_controller },
    Rule { kind: Kind::StatefulSet, decide: workload::stateful_set::decide },
    Rule { kind: Kind::DaemonSet, decide: workload::daemon_set::decide },
    Rule { kind: Kind::Job, decide: workload::job::decide },
    Rule { kind: Kind::CronJob, decide: workload::cron_job::decide },
    Rule { kind: Kind::Service, decide: endpoints::decide },
    Rule { kind: Kind::Service, decide: balancer::service },
    Rule { kind: Kind::Endpoints, decide: endpoints::clean_up },
    Rule { kind: Kind::Ingress, decide: balancer::ingress },
    Rule { kind: Kind::Namespace, decide: volumes::default_class },
    Rule { kind: Kind::PersistentVolumeClaim, decide: volumes::bind },
    Rule { kind: Kind::PersistentVolume, decide: volumes::volume_phase },
];

/// Starts controllers. Must be called inside a tokio runtime.
pub fn start(api: &Api, controllers: Controllers, settings: &Settings) -> Running {
    let mut tasks = JoinSet::new();
    let clock = &settings.clock;
    // The real server does this by itself.
    let expiry = expiry::Expiry::new(api.clone(), clock.clone());
    tasks.spawn(follow(api.clone(), clock.clone(), expiry));
    if controllers != Controllers::None {
        let collector = gc::Collector::new(api.clone(), clock.clone());
        let namespaces = namespaces::Namespaces::new(api.clone(), clock.clone());
        let mut rules = CORE.to_vec();
        if controllers == Controllers::All {
            rules.extend_from_slice(WORKLOADS);
        }
        let engine = Engine::new(api, settings.clone(), rules);
        tasks.spawn(follow(api.clone(), clock.clone(), collector));
        tasks.spawn(follow(api.clone(), clock.clone(), namespaces));
        tasks.spawn(follow(api.clone(), clock.clone(), engine));
    }
    Running { tasks }
}
