//! Definitions of custom kinds, seen through one watch, so that nobody asks again and again whether a kind is served.
//!
//! The watch is opened when the first kind is missed. Definitions are large, so they are read one by one as the watch
//! tells them, and of each only the versions that it serves are kept.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use flumen_kube::{Client, Cluster as _, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};
use futures_util::StreamExt as _;
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep, sleep_until},
};

use super::follow::set_version;

/// Before a watch that failed is opened again.
const PAUSE: Duration = Duration::from_secs(1);
/// News that somebody may be behind with; who misses some takes that as news of its kind.
const BACKLOG: usize = 256;
/// Between the first two looks at the server after a definition is established: it serves the kind a moment later.
const SOON: Duration = Duration::from_millis(50);
/// The longest time between two looks. Kinds may also come from servers that no definition announces. All who wait look
/// in the same rounds, so that one answer serves them all.
const SELDOM: Duration = Duration::from_secs(30);

/// A kind in all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct GroupKind {
    pub(crate) group: Text,
    pub(crate) kind: Text,
}

impl GroupKind {
    pub(crate) fn of(gvk: &Gvk) -> Self {
        Self { group: gvk.group.clone(), kind: gvk.kind.clone() }
    }

    /// The kind that a `CustomResourceDefinition` defines.
    pub(crate) fn defined_by(definition: &Node) -> Option<Self> {
        let text = |path: &[&str]| definition.at(path).and_then(Node::text).cloned();
        Some(Self { group: text(&["spec", "group"])?, kind: text(&["spec", "names", "kind"])? })
    }
}

pub(crate) struct Definitions {
    client: Client,
    /// By kind, the versions that are served.
    known: Mutex<HashMap<GroupKind, Vec<Text>>>,
    news: broadcast::Sender<GroupKind>,
    established: Box<dyn Fn(GroupKind) + Send + Sync>,
    is_missed: Notify,
    /// Rounds are counted from here.
    began: Instant,
}

impl Definitions {
    /// `established` is told of each kind that begins to be served, in whichever version.
    pub(crate) fn new(
        client: Client,
        established: impl Fn(GroupKind) + Send + Sync + 'static,
    ) -> Self {
        Self {
            client,
            known: Mutex::default(),
            news: broadcast::channel(BACKLOG).0,
            established: Box::new(established),
            is_missed: Notify::new(),
            began: Instant::now(),
        }
    }

    /// Says that a kind is missed, so that definitions are watched from now on.
    pub(crate) fn miss(&self) {
        self.is_missed.notify_one();
    }

    /// Follows the cluster for ever, from the moment when a kind is missed.
    pub(crate) async fn follow(&self) {
        self.is_missed.notified().await;
        let gvk = Gvk::new(
            &Text::literal("apiextensions.k8s.io/v1"),
            Text::literal("CustomResourceDefinition"),
        );
        let mut from = String::new();
        loop {
            match self.client.resource(&gvk).await {
                Ok(Some(resource)) => self.watch(&resource, &mut from).await,
                Ok(None) => tracing::warn!("definitions of kinds are not served"),
                Err(error) => tracing::warn!(%error, "cannot ask how definitions are served"),
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns when the watch ends. Without a revision it begins with all definitions that are there.
    async fn watch(&self, resource: &Resource, from: &mut String) {
        let options = WatchOptions { list: ListOptions::default(), resource_version: from };
        let mut events = match self.client.watch(resource, options).await {
            Ok(events) => events,
            Err(error) => {
                tracing::warn!(%error, "cannot watch definitions");
                from.clear();
                return;
            }
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Applied(definition)) => {
                    self.saw(&definition);
                    set_version(from, &definition);
                }
                Ok(Event::Deleted(definition)) => {
                    if let Some(kind) = GroupKind::defined_by(&definition) {
                        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&kind);
                    }
                    set_version(from, &definition);
                }
                Ok(Event::Bookmark { resource_version }) => *from = resource_version,
                Err(_) => {
                    from.clear();
                    return;
                }
            }
        }
    }

    fn saw(&self, definition: &Node) {
        let Some(kind) = GroupKind::defined_by(definition) else { return };
        let now = served(definition);
        let before = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(kind.clone(), now.clone()).unwrap_or_default()
        };
        if now.iter().any(|version| !before.contains(version)) {
            // Nobody may be waiting.
            let _ = self.news.send(kind.clone());
            (self.established)(kind);
        }
    }

    /// Who waits until one of these kinds is served.
    pub(super) fn vigil<'a>(self: &Arc<Self>, kinds: impl IntoIterator<Item = &'a Gvk>) -> Vigil {
        let kinds: BTreeSet<GroupKind> = kinds.into_iter().map(GroupKind::of).collect();
        let news = self.news.subscribe();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Of one that is established already nobody will tell.
        let is_defined =
            kinds.iter().any(|kind| known.get(kind).is_some_and(|versions| !versions.is_empty()));
        drop(known);
        Vigil { definitions: self.clone(), kinds, news, soon: is_defined.then_some(SOON) }
    }

    /// When all who wait look again.
    fn next_round(&self) -> Instant {
        let rounds = self.began.elapsed().as_secs() / SELDOM.as_secs() + 1;
        self.began + SELDOM.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
    }
}

/// The versions that an established definition serves.
fn served(definition: &Node) -> Vec<Text> {
    let seq = |path: &[&str]| definition.at(path).and_then(Node::as_seq).into_iter().flatten();
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

/// The wait for one of some kinds.
pub(super) struct Vigil {
    definitions: Arc<Definitions>,
    kinds: BTreeSet<GroupKind>,
    news: broadcast::Receiver<GroupKind>,
    /// Before the next look, while the definition of a kind is younger than the kind itself.
    soon: Option<Duration>,
}

impl Vigil {
    /// Waits until it is worth asking the server for the kinds again: when a definition is established, a few times
    /// soon after that, and seldom otherwise.
    pub(super) async fn until_worth_a_look(&mut self) {
        self.definitions.miss();
        let round = self.definitions.next_round();
        let next = self.soon.map_or(round, |soon| round.min(Instant::now() + soon));
        let is_told = tokio::select! {
            () = sleep_until(next) => false,
            () = self.told() => true,
        };
        if is_told || self.soon.is_some() {
            // What is remembered of kinds may be a second old, which is long for those who wait.
            self.definitions.client.forget_resources();
        }
        self.soon = match self.soon {
            _ if is_told => Some(SOON),
            Some(soon) => Some(soon.saturating_mul(2)).filter(|soon| *soon < SELDOM),
            None => None,
        };
    }

    async fn told(&mut self) {
        loop {
            match self.news.recv().await {
                Ok(kind) if !self.kinds.contains(&kind) => {}
                // Missed news may have been ours. The sender lives as long as we do.
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
    fn only_an_established_definition_serves_its_versions() {
        let definition = |status: &str| {
            let text = format!(
                "{{spec: {{group: example.com, names: {{kind: Widget}}, versions: [\
                 {{name: v1, served: true}}, {{name: v0, served: false}}]}}, \
                 status: {{conditions: [{{type: Established, status: '{status}'}}]}}}}"
            );
            read(&text.as_str().into(), 1, &Budget::default()).expect("YAML").remove(0)
        };
        assert_eq!(served(&definition("True")), ["v1"]);
        assert!(served(&definition("False")).is_empty());
        let kind = GroupKind { group: "example.com".into(), kind: "Widget".into() };
        assert_eq!(GroupKind::defined_by(&definition("True")), Some(kind));
    }
}
