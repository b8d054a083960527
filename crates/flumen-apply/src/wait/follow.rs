//! Follows the objects of one kind in one place: lists them, then watches as long as something is waited for.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use flumen_diff::ObjectDigest;
use flumen_health::{Health, HealthRules, Status};
use flumen_kube::{Cluster, Event, List, ListOptions, Resource, WatchOptions};
use flumen_object::ObjectId;
use flumen_yaml::{Node, Text};
use futures_util::StreamExt as _;
use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch},
    time::sleep,
};

use super::pods_of;
use crate::Sighting;

/// Before a list that failed, or a watch that ended, is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Objects of one kind in one namespace.
#[derive(Debug)]
pub(super) struct Place {
    resource: Resource,
    namespace: Text,
    /// Inventory ids of those that matter.
    pub(super) objects: BTreeSet<String>,
    /// The name, when there is only one.
    pub(super) name: Option<Text>,
    pub(super) selector: Option<String>,
}

impl Place {
    pub(super) fn new(resource: Resource, namespace: Text) -> Self {
        Self { resource, namespace, objects: BTreeSet::new(), name: None, selector: None }
    }

    fn list_options<'a>(&'a self, field: Option<&'a str>) -> ListOptions<'a> {
        ListOptions {
            namespace: self.resource.namespaced.then_some(self.namespace.as_str()),
            label_selector: if field.is_some() { None } else { self.selector.as_deref() },
            field_selector: field,
        }
    }
}

/// Sends what is seen until nobody listens any more. Where all is well at first sight, the watch is opened only when
/// `goes_on` says that something else is waited for: what was well may not be so any more by then.
pub(super) async fn follow<C: Cluster>(
    cluster: C,
    place: Place,
    rules: Arc<HealthRules>,
    sender: mpsc::Sender<Sighting>,
    goes_on: watch::Receiver<bool>,
) {
    let follower = Follower { cluster, place, rules, sender, goes_on };
    while follower.once().await.is_ok() {
        sleep(PAUSE).await;
    }
}

/// Nobody listens any more.
struct Deaf;

struct Follower<C> {
    cluster: C,
    place: Place,
    rules: Arc<HealthRules>,
    sender: mpsc::Sender<Sighting>,
    goes_on: watch::Receiver<bool>,
}

impl<C: Cluster> Follower<C> {
    /// One list and the watch behind it.
    async fn once(&self) -> Result<(), Deaf> {
        let field = self.place.name.as_ref().map(|name| format!("metadata.name={name}"));
        let list = self.place.list_options(field.as_deref());
        let List { items, resource_version } =
            match self.cluster.list(&self.place.resource, list).await {
                Ok(listed) => listed,
                Err(error) => {
                    for id in &self.place.objects {
                        self.send(id.clone(), Health::unknown(&error), None).await?;
                    }
                    return Ok(());
                }
            };
        let mut missing = self.place.objects.clone();
        for item in items {
            missing.remove(&id_of(&item));
            self.saw(item).await?;
        }
        for id in missing {
            self.send(id, Health::not_found(), None).await?;
        }
        // Whoever sees something unhealthy, here or elsewhere, lets all go on.
        self.goes_on.clone().wait_for(|goes_on| *goes_on).await.map_err(|_| Deaf)?;
        let options = WatchOptions { list, resource_version: &resource_version };
        let Ok(mut events) = self.cluster.watch(&self.place.resource, options).await else {
            return Ok(());
        };
        while let Some(Ok(event)) = events.next().await {
            match event {
                Event::Applied(object) => self.saw(object).await?,
                Event::Deleted(object) => {
                    let id = id_of(&object);
                    if self.place.objects.contains(&id) {
                        self.send(id, Health::not_found(), None).await?;
                    }
                }
                Event::Bookmark { .. } => {}
            }
        }
        Ok(())
    }

    async fn saw(&self, object: Node) -> Result<(), Deaf> {
        let id = id_of(&object);
        if !self.place.objects.contains(&id) {
            return Ok(());
        }
        let pods = if self.rules.depends_on_pods(&object) {
            pods_of(&self.cluster, &object).await
        } else {
            Vec::new()
        };
        let pods: Vec<&Node> = pods.iter().collect();
        let health = self.rules.assess(&object, &pods, Timestamp::now());
        self.send(id, health, Some(object)).await
    }

    async fn send(&self, id: String, health: Health, object: Option<Node>) -> Result<(), Deaf> {
        let digest = object.as_ref().map(ObjectDigest::of_live);
        // Of thousands of objects only those are kept that someone may ask about.
        let unready = object.filter(|_| health.status == Status::InProgress);
        let sighting = Sighting { id, health, digest, unready };
        self.sender.send(sighting).await.map_err(|_| Deaf)
    }
}

fn id_of(node: &Node) -> String {
    ObjectId::of(node).inventory_id()
}
