//! A list and the watch behind it, for as long as the controller runs.

use std::{sync::Arc, time::Duration};

use flumen_kube::{Client, Cluster as _, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::Node;
use futures_util::StreamExt as _;
use tokio::time::sleep;

use super::Definitions;

/// Before a list or a watch that failed is tried again; the pause grows while nothing can be listed.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Receives what happens to the objects of a kind.
pub(super) trait Observer: Send + Sync {
    /// All objects at this time; others are gone.
    fn listed(&self, items: Vec<Node>, resource_version: &str);
    fn applied(&self, object: &Node);
    fn deleted(&self, object: &Node);
    /// The kind is not served, so there are no objects.
    fn unserved(&self) {}
}

/// Which objects are followed.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) gvk: Gvk,
    pub(super) namespace: Option<String>,
    pub(super) selector: Option<String>,
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

/// The cluster that is followed, and who tells when it begins to serve a kind.
#[derive(Clone)]
pub(crate) struct Followed {
    pub(crate) client: Client,
    pub(crate) definitions: Arc<Definitions>,
}

/// Tells `observer` what happens, for ever. A kind that is not served is waited for.
pub(super) async fn follow(cluster: Followed, scope: Scope, observer: impl Observer) {
    let Followed { client, definitions } = cluster;
    let mut vigil = definitions.vigil([&scope.gvk]);
    let mut pause = PAUSE;
    loop {
        match client.resource(&scope.gvk).await {
            Ok(Some(resource)) => {
                let has_begun = list_and_watch(&client, &resource, &scope, &observer).await;
                // Who may not look now may not look in a second either.
                pause = if has_begun { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
                sleep(pause).await;
            }
            Ok(None) => {
                observer.unserved();
                vigil.until_worth_a_look().await;
            }
            Err(error) => {
                tracing::warn!(kind = %scope.gvk.kind, %error, "cannot ask how a kind is served");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Returns when the watch cannot be gone on with: its revision is too old, or the kind is gone. Says whether it was begun.
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
                // The connection broke; the next watch goes on from here.
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

pub(super) fn set_version(from: &mut String, object: &Node) {
    if let Some(version) = object.at(&["metadata", "resourceVersion"]).and_then(Node::as_str) {
        version.clone_into(from);
    }
}

/// The order of states of one object. Servers count revisions; one that does not has no order, and the last word counts.
pub(super) fn version(object: &Node) -> u64 {
    let text = object.at(&["metadata", "resourceVersion"]).and_then(Node::as_str);
    text.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX)
}
