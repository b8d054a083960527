//! Waits for kinds that something else is about to define.

use std::{collections::BTreeSet, future::pending, sync::Arc, time::Duration};

use flumen_kube::{Cluster, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use tokio::{
    sync::mpsc::UnboundedSender,
    time::{Instant, sleep, sleep_until},
};

use crate::{Error, Watched};

/// Between two looks of one who may not watch definitions.
const OFTEN: Duration = Duration::from_secs(2);
/// Between two looks while definitions are watched: kinds can also come from other servers behind the cluster's, which
/// no definition announces.
const SELDOM: Duration = Duration::from_secs(30);
/// A definition is established a moment before its kind is served.
const SOON: Duration = Duration::from_millis(50);
/// Before a watch that ended is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns as soon as one of the kinds is served; `false` at the deadline.
pub(crate) async fn until_served<C: Cluster>(
    cluster: &C,
    kinds: &BTreeSet<Gvk>,
    watched: Option<&Arc<dyn Watched>>,
    deadline: Instant,
) -> Result<bool, Error> {
    let mut looks = looks(cluster, kinds, watched);
    loop {
        for kind in kinds {
            if cluster.resource(kind).await?.is_some() {
                return Ok(true);
            }
        }
        tokio::select! {
            () = sleep_until(deadline) => return Ok(false),
            () = next(&mut looks) => {}
        }
    }
}

/// Sends how each of the kinds is served as soon as it is, in whichever version.
pub(crate) async fn tell_served<C: Cluster>(
    cluster: C,
    mut kinds: BTreeSet<Gvk>,
    watched: Option<Arc<dyn Watched>>,
    sender: UnboundedSender<(Gvk, Resource)>,
) {
    let mut looks = looks(&cluster, &kinds, watched.as_ref());
    loop {
        for kind in kinds.clone() {
            // A server that does not answer is asked again, as one that does not know the kind.
            if let Ok(Some(resource)) = cluster.resource_in_any_version(&kind).await {
                kinds.remove(&kind);
                if sender.send((kind, resource)).is_err() {
                    return;
                }
            }
        }
        if kinds.is_empty() {
            return;
        }
        next(&mut looks).await;
    }
}

/// The moments at which it is worth asking whether the kinds are served: as somebody tells who watches definitions
/// anyway, or by a watch of our own.
fn looks<C: Cluster>(
    cluster: &C,
    kinds: &BTreeSet<Gvk>,
    watched: Option<&Arc<dyn Watched>>,
) -> BoxStream<'static, ()> {
    if let Some(looks) = watched.and_then(|watched| watched.looks(kinds)) {
        return looks;
    }
    // What is remembered may be a second old, which is long for those who wait.
    cluster.forget_resources();
    let vigil = Vigil {
        cluster: cluster.clone(),
        kinds: kinds.iter().map(|kind| (kind.group.clone(), kind.kind.clone())).collect(),
        definitions: Definitions::Unknown,
        pause: SELDOM,
    };
    let look = |mut vigil: Vigil<C>| async move {
        vigil.until_worth_a_look().await;
        Some(((), vigil))
    };
    stream::unfold(vigil, look).boxed()
}

async fn next(looks: &mut BoxStream<'static, ()>) {
    if looks.next().await.is_none() {
        pending::<()>().await;
    }
}

/// Watches the definitions of some kinds for one who waits.
struct Vigil<C> {
    cluster: C,
    /// Group and name of each.
    kinds: BTreeSet<(Text, Text)>,
    definitions: Definitions,
    pause: Duration,
}

/// What is known of definitions.
enum Definitions {
    /// Nobody has asked yet, or the watch has ended.
    Unknown,
    Watched(BoxStream<'static, Result<Event, flumen_kube::Error>>),
    /// They may not be watched: all that is left is to look.
    Hidden,
}

impl<C: Cluster> Vigil<C> {
    async fn until_worth_a_look(&mut self) {
        if matches!(self.definitions, Definitions::Unknown) {
            self.definitions = definitions(&self.cluster).await;
        }
        let longest =
            if matches!(self.definitions, Definitions::Watched(_)) { SELDOM } else { OFTEN };
        self.pause = self.pause.min(longest);
        let is_told = tokio::select! {
            () = sleep(self.pause) => None,
            is_told = self.definitions.tell_of(&self.kinds) => Some(is_told),
        };
        match is_told {
            Some(true) => self.pause = SOON,
            Some(false) => {
                self.definitions = Definitions::Unknown;
                sleep(PAUSE).await;
            }
            None => self.pause = self.pause.saturating_mul(2),
        }
        self.cluster.forget_resources();
    }
}

impl Definitions {
    /// Returns when the definition of one of the kinds changes; `false` when the watch ends.
    async fn tell_of(&mut self, kinds: &BTreeSet<(Text, Text)>) -> bool {
        let Self::Watched(events) = self else { return pending().await };
        while let Some(Ok(event)) = events.next().await {
            if defines(&event, kinds) {
                return true;
            }
        }
        false
    }
}

/// A watch without a revision begins with all definitions that are there. Those of other kinds must not make us ask the
/// server again, or a cluster with hundreds of them would be asked hundreds of times.
async fn definitions<C: Cluster>(cluster: &C) -> Definitions {
    let resource = Resource {
        gvk: Gvk::new(
            &Text::literal("apiextensions.k8s.io/v1"),
            Text::literal("CustomResourceDefinition"),
        ),
        plural: "customresourcedefinitions".into(),
        namespaced: false,
        verbs: [].into(),
    };
    let options = WatchOptions { list: ListOptions::default(), resource_version: "" };
    match cluster.watch(&resource, options).await {
        Ok(events) => Definitions::Watched(events.boxed()),
        Err(error) if error.is_forbidden() => Definitions::Hidden,
        Err(_) => Definitions::Unknown,
    }
}

/// Whether an event is about the definition of one of the kinds, given by group and name.
fn defines(event: &Event, kinds: &BTreeSet<(Text, Text)>) -> bool {
    let Event::Applied(definition) = event else { return false };
    let text = |path: &[&str]| definition.at(path).and_then(Node::text).cloned();
    let kind = text(&["spec", "group"]).zip(text(&["spec", "names", "kind"]));
    kind.is_some_and(|kind| kinds.contains(&kind))
}
