//! One watch of all CRDs, so that no reconciliation polls for a kind that is not installed.
//!
//! The watch is opened when the first kind is missing. CRDs are large, so they are read one by one, and only the
//! versions that each serves are kept.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use flumen_kube::{Client, Cluster as _, Event, ListOptions, Resource, WatchOptions};
use flumen_object::{GroupKind, Gvk};
use flumen_yaml::{Node, Text};
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep, sleep_until},
};

use crate::follow::set_version;

/// Delay before a failed watch is opened again.
const PAUSE: Duration = Duration::from_secs(1);
/// CRDs that a waiting reconciliation may be behind with; one that misses some looks as if its own were among them.
const BACKLOG: usize = 256;
/// Delay between the first two looks after a CRD is established: the server serves the kind a moment later.
const SOON: Duration = Duration::from_millis(50);
/// Longest delay between two looks. Kinds may also come from API services, which no CRD announces. All waiting
/// reconciliations look in the same rounds, so that one answer serves them all.
const SELDOM: Duration = Duration::from_secs(30);

/// The CRDs of the cluster.
pub struct Crds {
    client: Client,
    /// Served versions by kind.
    served: Mutex<HashMap<GroupKind, Vec<Text>>>,
    established: broadcast::Sender<GroupKind>,
    on_established: Box<dyn Fn(GroupKind) + Send + Sync>,
    is_needed: Notify,
    /// Rounds are counted from here.
    started: Instant,
}

impl fmt::Debug for Crds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crds").finish_non_exhaustive()
    }
}

/// Returns the kind that a CRD defines.
pub fn defined_kind(crd: &Node) -> Option<GroupKind> {
    let text = |path: &[&str]| crd.at(path).and_then(Node::text).cloned();
    Some(GroupKind { group: text(&["spec", "group"])?, kind: text(&["spec", "names", "kind"])? })
}

impl Crds {
    /// Calls `on_established` for each kind of which a version is served for the first time.
    pub(crate) fn new(
        client: Client,
        on_established: impl Fn(GroupKind) + Send + Sync + 'static,
    ) -> Self {
        Self {
            client,
            served: Mutex::default(),
            established: broadcast::channel(BACKLOG).0,
            on_established: Box::new(on_established),
            is_needed: Notify::new(),
            started: Instant::now(),
        }
    }

    /// Starts the watch, because a kind is missing.
    pub fn need(&self) {
        self.is_needed.notify_one();
    }

    /// Watches from the moment when a kind is missing, and never returns.
    pub(crate) async fn follow(&self) {
        self.is_needed.notified().await;
        let gvk = Gvk::new(
            &Text::literal("apiextensions.k8s.io/v1"),
            Text::literal("CustomResourceDefinition"),
        );
        let mut from = String::new();
        loop {
            match self.client.resource(&gvk).await {
                Ok(Some(resource)) => self.watch(&resource, &mut from).await,
                Ok(None) => tracing::warn!("the cluster serves no CRDs"),
                Err(error) => tracing::warn!(%error, "cannot discover CRDs"),
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns when the watch ends. Without a revision it starts with all CRDs.
    async fn watch(&self, resource: &Resource, from: &mut String) {
        let options = WatchOptions { list: ListOptions::default(), resource_version: from };
        let mut events = match self.client.watch(resource, options).await {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(%error, "cannot watch CRDs");
                from.clear();
                return;
            }
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Applied(crd)) => {
                    self.update(&crd);
                    set_version(from, &crd);
                }
                Ok(Event::Deleted(crd)) => {
                    if let Some(kind) = defined_kind(&crd) {
                        self.served.lock().remove(&kind);
                    }
                    set_version(from, &crd);
                }
                Ok(Event::Bookmark { resource_version }) => *from = resource_version,
                Err(_) => {
                    from.clear();
                    return;
                }
            }
        }
    }

    fn update(&self, crd: &Node) {
        let Some(kind) = defined_kind(crd) else { return };
        let now = served(crd);
        let before = self.served.lock().insert(kind.clone(), now.clone()).unwrap_or_default();
        if now.iter().any(|version| !before.contains(version)) {
            // Without a waiting reconciliation there is no receiver.
            let _ = self.established.send(kind.clone());
            (self.on_established)(kind);
        }
    }

    /// Returns a wait until one of these kinds is installed.
    pub fn wait_for<'a>(self: &Arc<Self>, kinds: impl IntoIterator<Item = &'a Gvk>) -> CrdWait {
        let kinds: BTreeSet<GroupKind> = kinds.into_iter().map(GroupKind::of).collect();
        let established = self.established.subscribe();
        // No event follows for a CRD that is already established.
        let is_established = {
            let served = self.served.lock();
            kinds.iter().any(|kind| served.get(kind).is_some_and(|versions| !versions.is_empty()))
        };
        CrdWait { crds: self.clone(), kinds, established, soon: is_established.then_some(SOON) }
    }

    /// Returns when all waiting reconciliations look again.
    fn next_round(&self) -> Instant {
        let rounds = self.started.elapsed().as_secs() / SELDOM.as_secs() + 1;
        self.started + SELDOM.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
    }
}

/// Returns the versions that an established CRD serves.
fn served(crd: &Node) -> Vec<Text> {
    let seq = |path: &[&str]| crd.at(path).and_then(Node::as_seq).into_iter().flatten();
    let is =
        |node: &Node, key: &str, value: &str| node.get(key).and_then(Node::as_str) == Some(value);
    let is_established = seq(&["status", "conditions"])
        .any(|one| is(one, "type", "Established") && is(one, "status", "True"));
    let is_served =
        |one: &&Node| one.get("served").and_then(Node::text).is_some_and(|text| *text == "true");
    let versions = seq(&["spec", "versions"]).filter(is_served);
    let names = versions.filter_map(|one| one.get("name").and_then(Node::text).cloned());
    names.filter(|_| is_established).collect()
}

/// A wait until one of some kinds is installed.
#[derive(Debug)]
pub struct CrdWait {
    crds: Arc<Crds>,
    kinds: BTreeSet<GroupKind>,
    established: broadcast::Receiver<GroupKind>,
    /// Delay before the next look, while a CRD is established and its kind not served yet.
    soon: Option<Duration>,
}

impl CrdWait {
    /// Waits until discovery may find one of the kinds: when its CRD is established, a few times soon after that, and
    /// seldom otherwise.
    pub async fn until_next_look(&mut self) {
        self.crds.need();
        let round = self.crds.next_round();
        let next = self.soon.map_or(round, |soon| round.min(Instant::now() + soon));
        let is_established = tokio::select! {
            () = sleep_until(next) => false,
            () = self.until_established() => true,
        };
        if is_established || self.soon.is_some() {
            // Discovery is cached for a second, which is long for a waiting reconciliation.
            self.crds.client.forget_resources();
        }
        self.soon = match self.soon {
            _ if is_established => Some(SOON),
            Some(soon) => Some(soon.saturating_mul(2)).filter(|soon| *soon < SELDOM),
            None => None,
        };
    }

    async fn until_established(&mut self) {
        loop {
            match self.established.recv().await {
                Ok(kind) if !self.kinds.contains(&kind) => {}
                // A missed one may have been ours. The sender lives as long as this wait.
                Ok(_) | Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flumen_yaml::{Budget, read};

    use super::*;

    #[test]
    fn only_an_established_crd_serves_its_versions() {
        let crd = |status: &str| {
            let text = format!(
                "{{spec: {{group: example.com, names: {{kind: Widget}}, versions: [\
                 {{name: v1, served: true}}, {{name: v0, served: false}}]}}, \
                 status: {{conditions: [{{type: Established, status: '{status}'}}]}}}}"
            );
            read(&text.as_str().into(), 1, &Budget::default()).expect("YAML").remove(0)
        };
        assert_eq!(served(&crd("True")), ["v1"]);
        assert!(served(&crd("False")).is_empty());
        let kind = GroupKind { group: "example.com".into(), kind: "Widget".into() };
        assert_eq!(defined_kind(&crd("True")), Some(kind));
    }
}
