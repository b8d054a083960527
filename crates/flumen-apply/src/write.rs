//! Carries out what a review decided for one object.

use flumen_kube::{ApplyOptions, Cluster, DeleteOptions, ObjectName, PatchType, Write};
use flumen_yaml::Node;
use tokio::time::Instant;

use crate::{
    Action, Error, Marks, ObjectError, Options, Seen, Silent,
    desired::Desired,
    gone::until_gone,
    review::{Verdict, name, recreates},
};

/// What a write left on the cluster.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) action: Action,
    pub(crate) seen: Seen,
}

/// Applies one object. A refusal of the server is in the inner result.
pub(crate) async fn write<C: Cluster>(
    cluster: &C,
    desired: &Desired,
    verdict: &Verdict,
    options: &Options,
    deadline: Instant,
) -> Result<Result<Written, ObjectError>, Error> {
    let failed = |what: &str, error: flumen_kube::Error| match error.status() {
        Some(_) => Ok(Err(ObjectError::doing(
            what,
            &desired.id,
            &desired.origin,
            &error,
            Some(&desired.body),
        ))),
        None => Err(Error::from(error)),
    };
    let Some(resource) = &desired.resource else {
        return Ok(Err(ObjectError::not_served(&desired.id, &desired.origin)));
    };
    let object = name(desired, resource);
    let manager = &options.owner.manager;
    let mut action = Action::Configured;
    match verdict {
        Verdict::Create => action = Action::Created,
        Verdict::Recreate { marks } => {
            action = Action::Created;
            if let Err(error) = delete(cluster, object, desired, marks, options).await {
                return failed("delete", error);
            }
            let replaced = [(resource.clone(), desired.id.clone())];
            until_gone(cluster, &replaced, deadline, &Silent).await?;
        }
        Verdict::Configure { takes_over: true, .. } => {
            let patch = |live: &Node| options.takes_over(&desired.body, live);
            if let Err(error) = take_over(cluster, object, manager, patch).await {
                return failed("taking over of fields", error);
            }
        }
        _ => {}
    }
    let request = ApplyOptions { manager, force: true, write: Write::Real };
    let body = match verdict {
        Verdict::Configure { settled: Some(settled), .. } => settled,
        _ => &desired.body,
    };
    match cluster.apply(object, body, request).await {
        Ok(result) => {
            if let Some(watched) = &options.watched {
                watched.wrote(resource, &result);
            }
            Ok(Ok(Written {
                action,
                seen: Seen::of(&desired.body, &result, options.watched.as_ref()),
            }))
        }
        Err(error) => failed("apply", error),
    }
}

/// Deletes the object that was reviewed. One that has changed since is looked at again, and one that has taken its
/// place, or that is to be left alone by now, is not deleted: that is the conflict that the server answered with.
async fn delete<C: Cluster>(
    cluster: &C,
    object: ObjectName<'_>,
    desired: &Desired,
    reviewed: &Marks,
    options: &Options,
) -> Result<(), flumen_kube::Error> {
    let mut marks = reviewed.clone();
    for tries_left in (0..TRIES).rev() {
        let request = DeleteOptions {
            uid: Some(&marks.uid),
            resource_version: Some(&marks.resource_version),
            ..DeleteOptions::default()
        };
        let conflict = match cluster.delete(object, request).await {
            Err(error) if error.is_conflict() && tries_left > 0 => error,
            done => return done.map(drop),
        };
        let Some(live) = cluster.get(object).await? else { return Ok(()) };
        marks = Marks::of(&live, &options.owner.group);
        if marks.uid != reviewed.uid || !recreates(options, desired, &live) {
            return Err(conflict);
        }
    }
    Ok(())
}

/// Makes the fields of earlier managers ours, so that what is no longer declared goes away. `patch` says which, for an
/// object as it is. Returns the object; `None` if it is gone.
pub(crate) async fn take_over<C: Cluster>(
    cluster: &C,
    object: ObjectName<'_>,
    manager: &str,
    patch: impl Fn(&Node) -> Option<Node>,
) -> Result<Option<Node>, flumen_kube::Error> {
    let mut tries_left = TRIES;
    loop {
        tries_left -= 1;
        let Some(live) = cluster.get(object).await? else { return Ok(None) };
        let Some(patch) = patch(&live) else { return Ok(Some(live)) };
        match cluster.patch(object, PatchType::Json, &patch, manager).await {
            // Someone wrote in between: the patch has to be made again.
            Err(error) if error.is_conflict() && tries_left > 0 => {}
            done => return done.map(Some),
        }
    }
}

/// How often an object is looked at that changes under our hands.
const TRIES: usize = 5;
