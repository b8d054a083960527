//! Waits for kinds that something else is about to define.

use std::{collections::BTreeSet, time::Duration};

use flumen_kube::{Cluster, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::{Node, Text};
use futures_util::{Stream, StreamExt as _, future::ready, stream};
use tokio::time::{Instant, sleep, sleep_until};

use crate::Error;

/// Kinds can also come from other servers behind the cluster's, which no definition announces.
const LOOK: Duration = Duration::from_secs(2);
/// A definition is established a moment before its kind is served.
const SOON: Duration = Duration::from_millis(50);

/// Returns as soon as one of the kinds is served; `false` at the deadline.
pub(crate) async fn until_served<C: Cluster>(
    cluster: &C,
    kinds: &BTreeSet<Gvk>,
    deadline: Instant,
) -> Result<bool, Error> {
    let mut definitions = definitions(cluster, kinds).await;
    let mut pause = LOOK;
    loop {
        cluster.forget_resources();
        for kind in kinds {
            if cluster.resource(kind).await?.is_some() {
                return Ok(true);
            }
        }
        tokio::select! {
            () = sleep_until(deadline) => return Ok(false),
            () = sleep(pause) => pause = pause.saturating_mul(2).min(LOOK),
            event = definitions.next() => match event {
                Some(_) => pause = SOON,
                None => definitions = Box::pin(stream::pending()),
            },
        }
    }
}

/// Changes of the definitions of these kinds. Who may not watch them is left with looking again.
async fn definitions<C: Cluster>(
    cluster: &C,
    kinds: &BTreeSet<Gvk>,
) -> std::pin::Pin<Box<dyn Stream<Item = Event> + Send>> {
    let resource = Resource {
        gvk: Gvk::new(
            &Text::literal("apiextensions.k8s.io/v1"),
            Text::literal("CustomResourceDefinition"),
        ),
        plural: "customresourcedefinitions".into(),
        namespaced: false,
        verbs: [].into(),
    };
    // A watch without a revision begins with all definitions that are there. Those of other kinds must not
    // make us ask the server again, or a cluster with hundreds of them would be asked hundreds of times.
    let options = WatchOptions { list: ListOptions::default(), resource_version: "" };
    let kinds: BTreeSet<(Text, Text)> =
        kinds.iter().map(|kind| (kind.group.clone(), kind.kind.clone())).collect();
    match cluster.watch(&resource, options).await {
        Ok(events) => Box::pin(
            events
                .filter_map(move |event| ready(event.ok().filter(|event| defines(event, &kinds)))),
        ),
        Err(_) => Box::pin(stream::pending()),
    }
}

/// Whether an event is about the definition of one of the kinds, given by group and name.
fn defines(event: &Event, kinds: &BTreeSet<(Text, Text)>) -> bool {
    let Event::Applied(definition) = event else { return false };
    let text = |path: &[&str]| definition.at(path).and_then(Node::text).cloned();
    let kind = text(&["spec", "group"]).zip(text(&["spec", "names", "kind"]));
    kind.is_some_and(|kind| kinds.contains(&kind))
}
