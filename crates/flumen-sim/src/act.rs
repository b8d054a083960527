//! Carrying out what controllers decide.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use flumen_apiserver::{Api, ApiError, Client, Deletion, Reason};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kind::{Id, Kind},
    object,
    plan::{Action, Told, Writer},
};

/// The server, as each of the writers.
#[derive(Clone, Debug)]
pub(crate) struct Clients {
    manager: Client,
    kubelet: Client,
    scheduler: Client,
    aggregation: Client,
    events: Arc<AtomicU64>,
}

/// What came of a plan.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Objects as the server has them now.
    pub(crate) written: Vec<(Kind, Value)>,
    /// Objects whose deletion was asked for.
    pub(crate) ended: Vec<Id>,
    /// Why it was given up halfway.
    pub(crate) error: Option<Failure>,
}

#[derive(Debug)]
pub(crate) struct Failure {
    /// The pod that could not be made is worth telling.
    pub(crate) is_pod: bool,
    pub(crate) error: ApiError,
}

impl Clients {
    pub(crate) fn new(api: &Api) -> Self {
        let client = |name: &str| Client::new(api.clone(), name);
        Self {
            manager: client(Writer::Manager.name()),
            kubelet: client(Writer::Kubelet.name()),
            scheduler: client(Writer::Scheduler.name()),
            aggregation: client("clusterrole-aggregation-controller"),
            events: Arc::default(),
        }
    }

    fn of(&self, writer: Writer) -> &Client {
        match writer {
            Writer::Manager => &self.manager,
            Writer::Kubelet => &self.kubelet,
            Writer::Scheduler => &self.scheduler,
        }
    }

    /// Carries out actions one after the other, until one fails.
    pub(crate) async fn carry_out(&self, actions: Vec<Action>, now: Timestamp) -> Outcome {
        let mut outcome = Outcome::default();
        for action in actions {
            let is_pod = matches!(action, Action::Create { kind: Kind::Pod, .. });
            if let Err(error) = self.act(action, now, &mut outcome).await {
                outcome.error = Some(Failure { is_pod, error });
                break;
            }
        }
        outcome
    }

    async fn act(
        &self,
        action: Action,
        now: Timestamp,
        outcome: &mut Outcome,
    ) -> Result<(), ApiError> {
        let (kind, object) = match action {
            Action::Create { writer, kind, object } => {
                let namespace = object::namespace(&object);
                let made = self.of(writer).create(kind.resource(), namespace, &object).await;
                (kind, made?)
            }
            Action::Replace { writer, kind, object } => {
                (kind, self.of(writer).update(kind.resource(), &object).await?)
            }
            Action::ReplaceStatus { writer, kind, object } => {
                (kind, self.of(writer).update_status(kind.resource(), &object).await?)
            }
            Action::ApplyRules { role, rules } => {
                let kind = Kind::ClusterRole;
                let role = json!({
                    "apiVersion": kind.api_version(),
                    "kind": kind.name(),
                    "metadata": {"name": role},
                    "rules": rules,
                });
                (kind, self.aggregation.apply(kind.resource(), &role).await?)
            }
            Action::Bind { pod, uid, node } => return self.bind(&pod, &uid, &node).await,
            Action::Delete { id, uid, grace, propagation } => {
                let deletion = Deletion { propagation, grace_seconds: grace, uid: Some(uid) };
                let of = id.kind.resource();
                let done = self.manager.delete(of, &id.namespace, &id.name, deletion).await;
                outcome.ended.push(id);
                return ignore_missing(done);
            }
            Action::Tell(told) => {
                self.tell(&told, now).await;
                return Ok(());
            }
        };
        outcome.written.push((kind, object));
        Ok(())
    }

    /// Posts an event. Nothing depends on events; in a namespace that ends they are refused.
    pub(crate) async fn tell(&self, told: &Told, now: Timestamp) {
        let writer = if told.source == "kubelet" { Writer::Kubelet } else { Writer::Manager };
        let event = event(told, now, self.events.fetch_add(1, Ordering::Relaxed));
        let of = Kind::Event.resource();
        let _ = self.of(writer).create(of, object::namespace(&event), &event).await;
    }

    async fn bind(&self, pod: &Id, uid: &str, node: &str) -> Result<(), ApiError> {
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": uid},
            "target": {"kind": "Node", "name": node},
        });
        let place = (&*pod.namespace, &*pod.name);
        self.scheduler.create_part(Kind::Pod.resource(), place, "binding", &binding).await
    }
}

fn ignore_missing(done: Result<(), ApiError>) -> Result<(), ApiError> {
    match done {
        Err(error) if error.reason() == Some(Reason::NotFound) => Ok(()),
        done => done,
    }
}

/// An event as controllers post it. Its name is that of the object with the time and a number, so that
/// it is new.
fn event(told: &Told, now: Timestamp, number: u64) -> Value {
    let name = object::text(&told.about, "/name");
    let namespace = match object::text(&told.about, "/namespace") {
        "" => "default",
        namespace => namespace,
    };
    let time = object::stamp(now);
    let mut event = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{name}.{:x}", now.as_nanosecond() + i128::from(number)), "namespace": namespace},
        "involvedObject": told.about,
        "reason": told.reason,
        "message": told.message,
        "type": if told.warning { "Warning" } else { "Normal" },
        "source": {"component": told.source},
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "reportingComponent": told.source,
        "reportingInstance": "",
    });
    if told.source == "kubelet" {
        event["source"]["host"] = crate::node::NAME.into();
        event["reportingInstance"] = crate::node::NAME.into();
    }
    event
}
