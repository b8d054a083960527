//! A list and the watch that continues it, for as long as the controller runs.

use std::{sync::Arc, time::Duration};

use flumen_kube::{Client, Cluster as _, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::Node;
use futures_util::StreamExt as _;
use tokio::time::sleep;

use crate::{Name, crds::Crds};

/// Delay before a failed list or watch is retried; it grows while nothing can be listed.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Receives the watch events of one kind.
pub trait Observer: Send + Sync {
    /// Receives all objects; those that are missing have been deleted.
    fn listed(&self, items: Vec<Node>, resource_version: &str);
    fn applied(&self, object: &Node);
    fn deleted(&self, object: &Node);
    /// The kind is not installed, so there are no objects.
    fn not_installed(&self) {}
}

/// Selects the objects that are followed.
#[derive(Clone, Debug)]
pub struct Scope {
    pub gvk: Gvk,
    /// One namespace, or all.
    pub namespace: Option<String>,
    /// Label selector, or all.
    pub selector: Option<String>,
}

impl Scope {
    fn list(&self) -> ListOptions<'_> {
        ListOptions {
            namespace: self.namespace.as_deref(),
            label_selector: self.selector.as_deref(),
            field_selector: None,
        }
    }
}

/// The cluster that is watched, with its CRDs.
#[derive(Clone, Debug)]
pub struct Watcher {
    pub client: Client,
    pub crds: Arc<Crds>,
}

/// Passes what happens on to `observer` and never returns. A kind that is not installed costs nothing until its CRD is
/// established.
pub async fn follow(cluster: Watcher, scope: Scope, observer: impl Observer) {
    let Watcher { client, crds } = cluster;
    let mut wait = crds.wait_for([&scope.gvk]);
    let mut pause = PAUSE;
    loop {
        match client.resource(&scope.gvk).await {
            Ok(Some(resource)) => {
                let has_started = list_and_watch(&client, &resource, &scope, &observer).await;
                // A permission that is missing now will be missing in a second, too.
                pause = if has_started { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
                sleep(pause).await;
            }
            Ok(None) => {
                observer.not_installed();
                wait.until_next_look().await;
            }
            Err(error) => {
                tracing::warn!(kind = %scope.gvk.kind, %error, "cannot discover a kind");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Returns when the watch cannot continue, because its revision is too old or the CRD was deleted, and whether it had
/// started.
async fn list_and_watch(
    client: &Client,
    resource: &Resource,
    scope: &Scope,
    observer: &impl Observer,
) -> bool {
    let mut from = match client.list(resource, scope.list()).await {
        Ok(listed) => {
            observer.listed(listed.items, &listed.resource_version);
            listed.resource_version
        }
        Err(error) => {
            if error.is_not_found() {
                client.forget_resources();
            }
            tracing::warn!(kind = %scope.gvk.kind, %error, "cannot list");
            return false;
        }
    };
    loop {
        let options = WatchOptions { list: scope.list(), resource_version: &from };
        let mut events = match client.watch(resource, options).await {
            Ok(events) => events,
            Err(error) if error.is_expired() => return true,
            Err(error) => {
                if error.is_not_found() {
                    observer.listed(Vec::new(), &from);
                    client.forget_resources();
                }
                tracing::warn!(kind = %scope.gvk.kind, %error, "cannot watch");
                return false;
            }
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Applied(object)) => {
                    observer.applied(&object);
                    set_version(&mut from, &object);
                }
                Ok(Event::Deleted(object)) => {
                    observer.deleted(&object);
                    set_version(&mut from, &object);
                }
                Ok(Event::Bookmark { resource_version }) => from = resource_version,
                Err(error) if error.is_expired() => return true,
                // The connection broke; the next watch continues from here.
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

pub(crate) fn set_version(from: &mut String, object: &Node) {
    if let Some(version) = object.at(&["metadata", "resourceVersion"]).and_then(Node::as_str) {
        version.clone_into(from);
    }
}

/// Returns the position of a state among the states of one object. Without a numeric revision every state is the latest.
pub fn version(object: &Node) -> u64 {
    let text = object.at(&["metadata", "resourceVersion"]).and_then(Node::as_str);
    text.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
}

/// Returns namespace and name of an object.
pub(crate) fn name(object: &Node) -> Name {
    let text =
        |key| object.at(&["metadata", key]).and_then(Node::as_str).unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}
