//! What is known of objects without asking, to those who watch them anyway.

use std::{collections::BTreeSet, fmt};

use flumen_diff::ObjectDigest;
use flumen_health::{Health, HealthRules};
use flumen_kube::Resource;
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Node;
use futures_util::stream::BoxStream;
use tokio::sync::mpsc::UnboundedSender;

use crate::Marks;

/// Somebody who watches the objects of owners. A run that has one asks the cluster only for what it does not know.
pub trait Watched: fmt::Debug + Send + Sync {
    /// The digest that tells whether an object is still as it was after it was applied.
    fn digest(&self, live: &Node) -> ObjectDigest;

    /// The object as it was last seen; `None` when it was not seen, or is gone.
    fn sight(&self, id: &ObjectId) -> Option<Sight>;

    /// Whether the kind of an object was ever served to this process.
    fn has_seen_kind(&self, id: &ObjectId) -> bool;

    /// Moments at which it is worth asking the cluster again whether one of these kinds is served, for as long as somebody
    /// asks for the next. What the cluster is known to serve is then no older than the reason to ask. `None` when
    /// definitions are not watched, so that a run has to do it.
    fn looks(&self, kinds: &BTreeSet<Gvk>) -> Option<BoxStream<'static, ()>>;

    /// What a write was answered with. It may be newer than what was seen so far.
    fn wrote(&self, resource: &Resource, object: &Node);

    /// Sends the health of an object as it is, and again whenever it changes, until the receiver is gone.
    /// `false` when it cannot be judged from here by these rules.
    fn follow(
        &self,
        resource: &Resource,
        id: &ObjectId,
        rules: &HealthRules,
        sender: &UnboundedSender<Sighting>,
    ) -> bool;
}

/// How an object was last seen.
#[derive(Clone, Debug)]
pub struct Sight {
    pub marks: Marks,
    pub digest: ObjectDigest,
}

/// What was seen of an object that is waited for.
#[derive(Debug)]
pub struct Sighting {
    /// Its inventory id.
    pub id: String,
    pub health: Health,
    pub digest: Option<ObjectDigest>,
    /// The object, while it is not ready and at hand.
    pub unready: Option<Node>,
}
