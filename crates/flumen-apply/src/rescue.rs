//! Objects that cannot be applied because of what somebody else has left in them.
//!
//! An element of a list stays for as long as anybody has a part of it. If that part alone is not valid, the server refuses
//! those who give up the rest, and nothing is ever taken over, because that comes after the dry run. For managers that the
//! caller names it comes first.

use flumen_kube::Cluster;
use flumen_yaml::Node;

use crate::{
    Error, ObjectError, Options,
    desired::Desired,
    live::Live,
    review::{Review, Verdict, name, review, review_live},
    write::take_over,
};

/// Reviews one object, and once more after a takeover if that may have been what it lacked.
///
/// An object that the server takes is left as it is: what it has of others is taken over when it is written.
pub(crate) async fn review_or_rescue<C: Cluster>(
    cluster: &C,
    desired: &Desired,
    found: &Live,
    options: &Options,
) -> Result<Review, Error> {
    let first = review(cluster, desired, found, options).await?;
    let (Verdict::Fail { .. }, Some(live), Some(resource)) =
        (&first.verdict, &first.live, &desired.resource)
    else {
        return Ok(first);
    };
    let patch = |live: &Node| options.rescues(&desired.body, live);
    if patch(live).is_none() {
        return Ok(first);
    }
    let object = name(desired, resource);
    match take_over(cluster, object, &options.owner.manager, patch).await {
        Ok(live) => review_live(cluster, desired, resource, live.map(Box::new), options).await,
        Err(error) if error.status().is_none() => Err(error.into()),
        Err(error) => {
            let what = "taking over of fields";
            let body = Some(&desired.body);
            let error = ObjectError::doing(what, &desired.id, &desired.origin, &error, body);
            Ok(Review { verdict: Verdict::Fail { error, missing: false }, ..first })
        }
    }
}
