//! Waits until deleted objects are gone.

use flumen_kube::{Cluster, Event, ListOptions, Resource, WatchOptions};
use flumen_object::ObjectId;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::{Duration, Instant, sleep, timeout_at};

use crate::{Error, Progress, Report};

/// Objects are looked at side by side; each holds a watch while it is there.
const SIDE_BY_SIDE: usize = 8;

/// Before a watch that could not be opened is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Waits by watching. What is still there at the deadline is named in the error.
pub(crate) async fn until_gone<C: Cluster>(
    cluster: &C,
    objects: &[(Resource, ObjectId)],
    deadline: Instant,
    report: &dyn Report,
) -> Result<(), Error> {
    let ids: Vec<ObjectId> = objects.iter().map(|(_, id)| id.clone()).collect();
    report.report(&Progress::Terminating(&ids));
    let waits = stream::iter(objects).map(|(resource, id)| async move {
        match timeout_at(deadline, one(cluster, resource, id)).await {
            Ok(gone) => gone.map(|()| None),
            Err(_) => Ok(Some(id.clone())),
        }
    });
    let left: Vec<Option<ObjectId>> = waits.buffered(SIDE_BY_SIDE).try_collect().await?;
    let left: Vec<ObjectId> = left.into_iter().flatten().collect();
    if left.is_empty() { Ok(()) } else { Err(Error::NotDeleted(left)) }
}

async fn one<C: Cluster>(cluster: &C, resource: &Resource, id: &ObjectId) -> Result<(), Error> {
    let field = format!("metadata.name={}", id.name);
    let namespace = resource.namespaced.then_some(id.namespace.as_str());
    let list = ListOptions { namespace, field_selector: Some(&field), ..ListOptions::default() };
    loop {
        let listed = match cluster.list(resource, list).await {
            Ok(listed) if listed.items.is_empty() => return Ok(()),
            Ok(listed) => listed,
            // The definition of the kind is gone, and every object of it.
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let options = WatchOptions { list, resource_version: &listed.resource_version };
        let Ok(mut events) = cluster.watch(resource, options).await else {
            sleep(PAUSE).await;
            continue;
        };
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::Deleted(_)) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.is_expired() => break,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
