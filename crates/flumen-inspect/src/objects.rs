//! Objects with their health, and what controllers have created for them.

use std::collections::BTreeMap;

use flumen_health::{Status, assess};
use flumen_kube::{Client, Cluster as _, Error, ListOptions, ObjectName};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use jiff::Timestamp;

/// Kinds that controllers create, in the order in which they are shown.
const CREATED: [(&str, &str); 3] = [("apps/v1", "ReplicaSet"), ("batch/v1", "Job"), ("v1", "Pod")];
/// Kinds of workloads.
const WORKLOADS: [(&str, &str); 6] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "CronJob"),
    ("batch/v1", "Job"),
    ("v1", "Pod"),
];

/// Objects of a cluster and what they own.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    /// By namespace; objects without one are under the empty name.
    pub roots: BTreeMap<String, Vec<LiveObject>>,
    pub owned: Owned,
}

/// Objects by the uid of their owner.
pub type Owned = BTreeMap<String, Vec<LiveObject>>;

/// An object and its health.
#[derive(Clone, Debug)]
pub struct LiveObject {
    /// Empty if the object does not exist.
    pub uid: String,
    /// `Kind/name` or `Kind/namespace/name`.
    pub label: String,
    pub status: Status,
    pub message: String,
}

impl LiveObject {
    /// Reads an object. Items of lists have no kind of their own.
    pub(crate) fn of_kind(kind: &str, object: &Node) -> Self {
        let text = |path: &[&str]| object.at(path).and_then(Node::as_str).unwrap_or_default();
        let (status, message) = match assess(object, Timestamp::now()) {
            Ok(health) => (health.status, health.message),
            Err(error) => (Status::Unknown, error.to_string()),
        };
        let label = format!("{kind}/{}", text(&["metadata", "name"]));
        Self { uid: text(&["metadata", "uid"]).to_owned(), label, status, message }
    }
}

impl Forest {
    /// Reads applied objects and what they own.
    pub async fn of_applied(client: &Client, applied: &[ObjectId]) -> Result<Self, Error> {
        let mut forest = Self::default();
        for id in applied {
            let Some(resource) = client.resource(&id.gvk).await? else { continue };
            // Objects without a namespace were applied to that of the client.
            let namespace = match id.namespace.as_str() {
                _ if !resource.namespaced => "",
                "" => client.namespace(),
                named => named,
            };
            let name = ObjectName { resource: &resource, namespace, name: &id.name };
            if let Some(object) = client.get(name).await? {
                let kind = object.get("kind").and_then(Node::as_str).unwrap_or_default();
                let root = LiveObject::of_kind(kind, &object);
                forest.roots.entry(namespace.to_owned()).or_default().push(root);
            }
        }
        forest.add_owned(client).await?;
        Ok(forest)
    }

    /// Reads all workloads without an owner and what they own.
    pub async fn of_workloads(client: &Client) -> Result<Self, Error> {
        let mut forest = Self::default();
        for (api_version, kind) in WORKLOADS {
            for object in list(client, api_version, kind, None).await? {
                if owner(&object).is_none() {
                    let namespace = object.at(&["metadata", "namespace"]).and_then(Node::as_str);
                    let roots =
                        forest.roots.entry(namespace.unwrap_or_default().to_owned()).or_default();
                    roots.push(LiveObject::of_kind(kind, &object));
                }
            }
        }
        forest.add_owned(client).await?;
        Ok(forest)
    }

    async fn add_owned(&mut self, client: &Client) -> Result<(), Error> {
        for namespace in self.roots.keys().filter(|namespace| !namespace.is_empty()) {
            add_created(client, namespace, &mut self.owned).await?;
        }
        Ok(())
    }
}

/// Adds what controllers have created in a namespace.
pub(crate) async fn add_created(
    client: &Client,
    namespace: &str,
    owned: &mut Owned,
) -> Result<(), Error> {
    for (api_version, kind) in CREATED {
        for object in list(client, api_version, kind, Some(namespace)).await? {
            if let Some(owner) = owner(&object) {
                owned.entry(owner.to_owned()).or_default().push(LiveObject::of_kind(kind, &object));
            }
        }
    }
    Ok(())
}

async fn list(
    client: &Client,
    api_version: &'static str,
    kind: &'static str,
    namespace: Option<&str>,
) -> Result<Vec<Node>, Error> {
    let gvk = Gvk::new(&Text::literal(api_version), Text::literal(kind));
    let Some(resource) = client.resource(&gvk).await? else { return Ok(Vec::new()) };
    let options = ListOptions { namespace, ..ListOptions::default() };
    Ok(client.list(&resource, options).await?.items)
}

fn owner(object: &Node) -> Option<&str> {
    let owners = object.at(&["metadata", "ownerReferences"])?.as_seq()?;
    owners.first()?.get("uid")?.as_str()
}
