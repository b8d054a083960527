//! Carries out what a review decided for one object.

use flumen_diff::live_digest;
use flumen_kube::{ApplyOptions, Cluster, DeleteOptions, PatchType, Write};
use flumen_yaml::Node;
use tokio::time::Instant;

use crate::{
    Action, Error, ObjectError, Options,
    desired::Desired,
    gone::until_gone,
    review::{Verdict, name},
};

/// What a write left on the cluster.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) action: Action,
    pub(crate) live_digest: String,
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
        Verdict::Recreate => {
            action = Action::Created;
            if let Err(error) = cluster.delete(object, DeleteOptions::default()).await {
                return failed("delete", error);
            }
            until_gone(cluster, &[(resource.clone(), desired.id.clone())], deadline).await?;
        }
        Verdict::Configure { clean_up: Some(patch) } => {
            if let Err(error) = cluster.patch(object, PatchType::Json, patch, manager).await {
                return failed("taking over of fields", error);
            }
        }
        _ => {}
    }
    let request = ApplyOptions { manager, force: true, write: Write::Real };
    match cluster.apply(object, &desired.body, request).await {
        Ok(result) => Ok(Ok(Written { action, live_digest: live_digest(&result) })),
        Err(error) => failed("apply", error),
    }
}

/// The identity of a live object, for requests that mean this one and no other.
pub(crate) fn incarnation(live: &Node) -> (Option<&str>, Option<&str>) {
    let text = |key| live.at(&["metadata", key]).and_then(Node::as_str);
    (text("uid"), text("resourceVersion"))
}
