//! Events about the objects that are reconciled.
//!
//! They are posted by a task of their own, in the order in which they come, so that no pass waits for them.

mod similar;

use std::{collections::BTreeMap, num::NonZeroUsize};

use clru::CLruCache;
use flumen_api::Kind;
use flumen_kube::{Client, Cluster as _, ObjectName, PatchType, Resource};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, error::TrySendError};

use self::similar::Similar;
use crate::{json::tree, references::core_resource};

/// Events that are remembered, so that one that comes again is counted and not posted anew.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// Annotations of an object with this prefix are copied to its events.
const COPIED: &str = "event.toolkit.fluxcd.io/";
/// Events that may wait to be posted. More only come when the server is slower than all that is said.
const WAITING: usize = 16 * 1024;
/// The longest message that a server takes.
const LONGEST: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Info,
    Error,
}

impl Severity {
    /// The reason of events about objects that have none.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
        }
    }
}

/// Posts events in the name of one controller.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    sender: mpsc::Sender<Value>,
    component: &'static str,
}

impl Recorder {
    /// A recorder, and the work that must run for its events to be posted. It ends when all recorders are gone.
    pub(crate) fn new(
        client: Client,
        component: &'static str,
    ) -> (Self, impl Future<Output = ()> + Send) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self { sender, component }, post_all(client, receiver, component))
    }

    /// Posts an event about an object. The keys of `metadata` get the group of its kind as prefix.
    pub(crate) fn post<K: Kind>(
        &self,
        object: &K,
        severity: Severity,
        reason: &str,
        message: &str,
        metadata: &[(&str, &str)],
    ) {
        let about = object.metadata();
        let mut annotations: BTreeMap<String, &str> = about
            .annotations
            .iter()
            .filter(|(key, _)| key.starts_with(COPIED))
            .map(|(key, value)| (key.clone(), value.as_str()))
            .collect();
        annotations
            .extend(metadata.iter().map(|(key, value)| (format!("{}/{key}", K::GROUP), *value)));
        let event = json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": about.namespace, "annotations": annotations},
            "involvedObject": {
                "apiVersion": K::api_version(),
                "kind": K::KIND,
                "namespace": about.namespace,
                "name": about.name,
                "uid": about.uid,
                "resourceVersion": about.resource_version,
            },
            "type": match severity { Severity::Info => "Normal", Severity::Error => "Warning" },
            "reason": reason,
            "message": cut(message),
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "reportingInstance": "",
        });
        // Nobody listens any more when the controller ends.
        if let Err(TrySendError::Full(event)) = self.sender.try_send(event) {
            let about = &event["involvedObject"]["name"];
            tracing::warn!(%about, reason, "too many events wait to be posted: one is left out");
        }
    }
}

fn cut(message: &str) -> &str {
    &message[..message.floor_char_boundary(LONGEST)]
}

async fn post_all(client: Client, mut events: mpsc::Receiver<Value>, component: &'static str) {
    let mut posted = CLruCache::new(REMEMBERED);
    let mut similar = Similar::default();
    while let Some(event) = events.recv().await {
        let (event, key) = similar.combine(event, Timestamp::now());
        match post_or_count(&client, event, posted.pop(&key), component).await {
            Ok(now) => drop(posted.put(key, now)),
            Err(error) => tracing::warn!(%error, "cannot post an event"),
        }
    }
}

/// An event that is on the cluster.
struct Posted {
    name: String,
    count: u64,
}

async fn post_or_count(
    client: &Client,
    event: Value,
    known: Option<Posted>,
    manager: &str,
) -> Result<Posted, flumen_kube::Error> {
    if let Some(Posted { name, count }) = known {
        let count = count + 1;
        match count_again(client, &event, &name, count, manager).await {
            Ok(()) => return Ok(Posted { name, count }),
            // Events do not live for ever.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    let name = post(client, event, manager).await?;
    Ok(Posted { name, count: 1 })
}

async fn post(client: &Client, event: Value, manager: &str) -> Result<String, flumen_kube::Error> {
    let now = Timestamp::now();
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
    event: &Value,
    name: &str,
    count: u64,
    manager: &str,
) -> Result<(), flumen_kube::Error> {
    let now = seconds(Timestamp::now());
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
