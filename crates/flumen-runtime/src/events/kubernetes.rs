//! Kubernetes events.
//!
//! A task for each controller posts them in their order, so that no reconciliation waits for them.

use std::{collections::BTreeMap, num::NonZeroUsize};

use clru::CLruCache;
use flumen_kube::{Client, Cluster as _, ObjectName, PatchType, Resource};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinSet,
};

use super::{Event, EventSink, Severity, similar::Similar};
use crate::{Clock, json::tree, references::core_resource};

/// Events that are remembered, so that a repeated one is counted and not posted again.
pub(super) const REMEMBERED: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// Events that may wait to be posted. There are more only if the server is slower than the controller.
const WAITING: usize = 16 * 1024;
/// Longest message that a server accepts.
const LONGEST: usize = 1024;

/// Posts events as Kubernetes objects, in the name of the controller of their kind.
#[derive(Debug)]
pub(crate) struct KubernetesEvents {
    /// By the name of the controller.
    senders: BTreeMap<&'static str, mpsc::Sender<Value>>,
}

impl KubernetesEvents {
    /// Returns the sink and the tasks that post for it; they end after the sink is dropped.
    pub(crate) fn new(
        client: &Client,
        clock: &Clock,
        controllers: impl Iterator<Item = &'static str>,
    ) -> (Self, JoinSet<()>) {
        let mut tasks = JoinSet::new();
        let mut senders = BTreeMap::new();
        for controller in controllers {
            senders.entry(controller).or_insert_with(|| {
                let (sender, receiver) = mpsc::channel(WAITING);
                tasks.spawn(post_all(client.clone(), clock.clone(), receiver, controller));
                sender
            });
        }
        (Self { senders }, tasks)
    }
}

impl EventSink for KubernetesEvents {
    fn post(&self, event: &Event) {
        let Some(sender) = self.senders.get(event.info.controller) else { return };
        // The receiver is closed while the controller shuts down.
        if let Err(TrySendError::Full(_)) = sender.try_send(object_of(event)) {
            let (name, reason) = (&event.name, &event.reason);
            tracing::warn!(
                about = name,
                reason,
                "too many events wait to be posted: one is dropped"
            );
        }
    }
}

fn object_of(event: &Event) -> Value {
    let annotations: BTreeMap<&String, &String> =
        event.annotations.iter().map(|(key, value)| (key, value)).collect();
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": event.namespace, "annotations": annotations},
        "involvedObject": {
            "apiVersion": event.info.gvk().api_version(),
            "kind": event.info.kind,
            "namespace": event.namespace,
            "name": event.name,
            "uid": event.uid,
            "resourceVersion": event.resource_version,
        },
        "type": match event.severity { Severity::Info => "Normal", Severity::Error => "Warning" },
        "reason": event.reason,
        "message": cut(&event.message),
        "source": {"component": event.info.controller},
        "reportingComponent": event.info.controller,
        "reportingInstance": "",
    })
}

fn cut(message: &str) -> &str {
    &message[..message.floor_char_boundary(LONGEST)]
}

async fn post_all(
    client: Client,
    clock: Clock,
    mut events: mpsc::Receiver<Value>,
    component: &'static str,
) {
    let mut posted = CLruCache::new(REMEMBERED);
    let mut similar = Similar::default();
    while let Some(event) = events.recv().await {
        let (event, key) = similar.combine(event, clock.now());
        match post_or_count(&client, &clock, event, posted.pop(&key), component).await {
            Ok(now) => drop(posted.put(key, now)),
            Err(error) => tracing::warn!(%error, "cannot post an event"),
        }
    }
}

/// An event that was posted.
struct Posted {
    name: String,
    count: u64,
}

async fn post_or_count(
    client: &Client,
    clock: &Clock,
    event: Value,
    known: Option<Posted>,
    manager: &str,
) -> Result<Posted, flumen_kube::Error> {
    if let Some(Posted { name, count }) = known {
        let count = count + 1;
        match count_again(client, clock.now(), &event, &name, count, manager).await {
            Ok(()) => return Ok(Posted { name, count }),
            // The server deletes events after a while.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    let name = post(client, clock.now(), event, manager).await?;
    Ok(Posted { name, count: 1 })
}

async fn post(
    client: &Client,
    now: Timestamp,
    event: Value,
    manager: &str,
) -> Result<String, flumen_kube::Error> {
    let about = event["involvedObject"]["name"].as_str().unwrap_or_default();
    let name = format!("{about}.{:x}", now.as_nanosecond());
    let mut body = event;
    body["metadata"]["name"] = json!(name);
    body["firstTimestamp"] = json!(seconds(now));
    body["lastTimestamp"] = json!(seconds(now));
    body["count"] = json!(1);
    let resource = resource();
    client.create(object(&resource, &body, &name), &tree(&body), manager).await?;
    Ok(name)
}

async fn count_again(
    client: &Client,
    now: Timestamp,
    event: &Value,
    name: &str,
    count: u64,
    manager: &str,
) -> Result<(), flumen_kube::Error> {
    let now = seconds(now);
    let patch = json!({"count": count, "lastTimestamp": now, "message": event["message"]});
    let resource = resource();
    let object = object(&resource, event, name);
    client.patch(object, PatchType::Merge, &tree(&patch), manager).await.map(drop)
}

fn object<'a>(resource: &'a Resource, event: &'a Value, name: &'a str) -> ObjectName<'a> {
    let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
    ObjectName { resource, namespace, name }
}

fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn resource() -> Resource {
    core_resource("Event", "events")
}
