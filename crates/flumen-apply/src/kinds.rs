//! Waits for kinds that something else is about to define.

use std::{collections::BTreeSet, time::Duration};

use flumen_kube::{Cluster, Event, ListOptions, Resource, WatchOptions};
use flumen_object::Gvk;
use flumen_yaml::Text;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::time::{Instant, sleep, sleep_until};

use crate::Error;

/// Kinds can also come from other servers behind the cluster's, which no definition announces.
const LOOK: Duration = Duration::from_secs(2);

/// Returns as soon as one of the kinds is served; `false` at the deadline.
pub(crate) async fn until_served<C: Cluster>(
    cluster: &C,
    kinds: &BTreeSet<Gvk>,
    deadline: Instant,
) -> Result<bool, Error> {
    let mut definitions = definitions(cluster).await;
    loop {
        cluster.forget_resources();
        for kind in kinds {
            if cluster.resource(kind).await?.is_some() {
                return Ok(true);
            }
        }
        tokio::select! {
            () = sleep_until(deadline) => return Ok(false),
            () = sleep(LOOK) => {}
            event = definitions.next() => if event.is_none() {
                definitions = Box::pin(stream::pending());
            },
        }
    }
}

/// Changes of definitions. Who may not watch them is left with looking again.
async fn definitions<C: Cluster>(
    cluster: &C,
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
    // Only what comes from now on matters; what is there has been asked for already.
    let options = WatchOptions { list: ListOptions::default(), resource_version: "" };
    match cluster.watch(&resource, options).await {
        Ok(events) => Box::pin(events.filter_map(async |event| event.ok())),
        Err(_) => Box::pin(stream::pending()),
    }
}
