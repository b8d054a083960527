//! Inventories in `ConfigMap`s, in the layout of kustomizer.
//!
//! ```text
//! inv-web        labels: name, component=inventory, created-by; annotations: time, source, revision
//!   resources    [{"id": "apps_web_apps_Deployment", "ver": "v1"}, …]
//!   artifacts    ["registry.example.com/web@sha256:…"]
//!   digests      {"apps_web_apps_Deployment": "DESIRED LIVE", …}     ours
//!   history      [{"number": 3, …}, …]                              ours
//! inv-web-1, …   the rest of `resources` and `digests`, when one object cannot hold them
//! ```
//!
//! The objects of one inventory are read as their union. Growing writes the further parts before the first
//! one, and shrinking does the same, so a run that dies in between leaves an inventory that names
//! too much, never too little.

use std::collections::BTreeMap;

use flumen_kube::{Cluster, DeleteOptions, ListOptions, ObjectName, Resource};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Entry as Field, Map, Node, Pos, Text, Value};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use crate::{Entry, Error, InventoryStore, Owner, Recorded, Seen};

/// A server refuses objects above 1.5 MB and `ConfigMap`s above 1 MiB; keys and metadata need room.
const PART_BYTES: usize = 700_000;

pub(crate) const NAME: &str = "app.kubernetes.io/name";
pub(crate) const COMPONENT: &str = "app.kubernetes.io/component";
pub(crate) const CREATED_BY: &str = "app.kubernetes.io/created-by";

/// Further parts are marked, so that listings of inventories leave them out.
pub(crate) const PART: &str = "flumen.dev/inventory-part";

/// The inventory of one owner in its namespace.
#[derive(Debug)]
pub struct ConfigMapStore<C> {
    cluster: C,
    owner: Owner,
    /// What the server had when we last looked, so that another writer is noticed.
    versions: Mutex<BTreeMap<String, String>>,
    /// The time of the run, RFC 3339.
    now: String,
}

/// One element of `resources`.
#[derive(Serialize, Deserialize)]
struct ResourceRef {
    id: String,
    ver: String,
}

impl<C: Cluster> ConfigMapStore<C> {
    pub fn new(cluster: C, owner: Owner, now: String) -> Self {
        Self { cluster, owner, versions: Mutex::default(), now }
    }

    fn object_name(&self, part: usize) -> String {
        match part {
            0 => format!("inv-{}", self.owner.name),
            part => format!("inv-{}-{part}", self.owner.name),
        }
    }

    fn labels(&self, part: usize) -> Node {
        let mut labels = vec![
            Field::new(NAME, Node::string(self.owner.name.as_str())),
            Field::new(COMPONENT, Node::string("inventory")),
            Field::new(CREATED_BY, Node::string(self.owner.manager.as_str())),
        ];
        if part > 0 {
            labels.push(Field::new(PART, Node::string(part.to_string())));
        }
        map(labels)
    }

    /// The objects that hold `recorded`, the first one first.
    fn parts(&self, recorded: &Recorded) -> Result<Vec<Node>, Error> {
        let entries = recorded.inventory.entries();
        let mut parts: Vec<Part> = vec![Part::default()];
        for entry in entries {
            if parts.last().is_some_and(|part| part.bytes > PART_BYTES) {
                parts.push(Part::default());
            }
            if let Some(part) = parts.last_mut() {
                part.add(entry);
            }
        }
        parts.iter().enumerate().map(|(index, part)| self.object(index, part, recorded)).collect()
    }

    fn object(&self, index: usize, part: &Part, recorded: &Recorded) -> Result<Node, Error> {
        let mut data = vec![
            Field::new("resources", Node::string(json(&part.resources)?)),
            Field::new("digests", Node::string(json(&part.digests)?)),
        ];
        let mut metadata = vec![
            Field::new("name", Node::string(self.object_name(index))),
            Field::new("namespace", Node::string(self.owner.namespace.as_str())),
            Field::new("labels", self.labels(index)),
        ];
        if index == 0 {
            let last = recorded.history.first();
            // kustomizer puts the scheme in front by itself.
            let artifact =
                last.map(|last| last.artifact.strip_prefix("oci://").unwrap_or(&last.artifact));
            let artifacts: Vec<&str> = artifact.into_iter().collect();
            data.push(Field::new("artifacts", Node::string(json(&artifacts)?)));
            data.push(Field::new("history", Node::string(json(&recorded.history)?)));
            let group = &self.owner.group;
            let mut annotations = vec![Field::new(
                format!("{group}/last-applied-time"),
                Node::string(self.now.as_str()),
            )];
            for (key, value) in last
                .iter()
                .flat_map(|last| [("source", &last.source), ("revision", &last.revision)])
                .filter(|(_, value)| !value.is_empty())
            {
                annotations
                    .push(Field::new(format!("{group}/{key}"), Node::string(value.as_str())));
            }
            metadata.push(Field::new("annotations", map(annotations)));
        }
        Ok(map(vec![
            Field::new("apiVersion", Node::string("v1")),
            Field::new("kind", Node::string("ConfigMap")),
            Field::new("metadata", map(metadata)),
            Field::new("data", map(data)),
        ]))
    }

    /// Creates or replaces one part, when it is as we last saw it.
    async fn write(&self, index: usize, mut object: Node) -> Result<(), Error> {
        let name = self.object_name(index);
        let known = self.lock().get(&name).cloned();
        let resource = resource();
        let target =
            ObjectName { resource: &resource, namespace: &self.owner.namespace, name: &name };
        let written = match &known {
            None => self.cluster.create(target, &object, &self.owner.manager).await,
            Some(version) => {
                let metadata = object.get_mut("metadata").and_then(Node::as_map_mut);
                if let Some(metadata) = metadata {
                    metadata.set("resourceVersion", Node::string(version.as_str()));
                }
                self.cluster.replace(target, &object, &self.owner.manager).await
            }
        };
        let written = written.map_err(|error| match error.status() {
            Some(status) if status.code == 409 => Error::InventoryChanged { name: name.clone() },
            _ => Error::inventory(&name, &self.owner.namespace, error),
        })?;
        self.lock().insert(name, resource_version(&written));
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), Error> {
        let resource = resource();
        let target = ObjectName { resource: &resource, namespace: &self.owner.namespace, name };
        self.cluster.delete(target, DeleteOptions::default()).await?;
        self.lock().remove(name);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.versions.lock()
    }
}

impl<C: Cluster> InventoryStore for ConfigMapStore<C> {
    async fn load(&self) -> Result<Recorded, Error> {
        let selector = format!("{NAME}={},{COMPONENT}=inventory", self.owner.name);
        let options = ListOptions {
            namespace: Some(&self.owner.namespace),
            label_selector: Some(&selector),
            ..ListOptions::default()
        };
        let first = self.object_name(0);
        let further = format!("{first}-");
        let listed = self.cluster.list(&resource(), options).await?;
        let mut recorded = Recorded::default();
        self.lock().clear();
        for object in &listed.items {
            let name = object.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
            let is_part =
                name.starts_with(&further) && object.at(&["metadata", "labels", PART]).is_some();
            if name != first && !is_part {
                continue;
            }
            self.lock().insert(name.to_owned(), resource_version(object));
            let unreadable = |reason: String| Error::UnreadableInventory {
                name: format!("{}/{name}", self.owner.namespace),
                reason,
            };
            read_part(object, &mut recorded).map_err(unreadable)?;
        }
        Ok(recorded)
    }

    async fn commit(&self, recorded: &Recorded) -> Result<(), Error> {
        let parts = self.parts(recorded)?;
        let count = parts.len();
        for (index, part) in parts.into_iter().enumerate().rev() {
            self.write(index, part).await?;
        }
        let kept: Vec<String> = (0..count).map(|index| self.object_name(index)).collect();
        let surplus: Vec<String> =
            self.lock().keys().filter(|name| !kept.contains(name)).cloned().collect();
        for name in surplus {
            self.remove(&name).await?;
        }
        Ok(())
    }

    async fn delete(&self) -> Result<(), Error> {
        let names: Vec<String> = self.lock().keys().cloned().collect();
        // The first part goes last: while it is there, the inventory is found again.
        for name in names.iter().rev() {
            self.remove(name).await?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Part {
    resources: Vec<ResourceRef>,
    digests: BTreeMap<String, String>,
    bytes: usize,
}

impl Part {
    fn add(&mut self, entry: &Entry) {
        let id = entry.id.inventory_id();
        // Ids, quotes, names of fields, and twice the digest of 16 characters.
        self.bytes += 2 * id.len() + 80;
        if let Some(seen) = &entry.seen {
            self.digests.insert(id.clone(), seen.to_string());
        }
        self.resources.push(ResourceRef { id, ver: entry.id.gvk.version.to_string() });
    }
}

fn read_part(object: &Node, recorded: &mut Recorded) -> Result<(), String> {
    let data = |key: &str| object.at(&["data", key]).and_then(Node::as_str);
    // A machine that writes no digests, such as kustomizer, leaves what it does not know.
    let digests: BTreeMap<String, String> =
        data("digests").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    // Older versions of the layout call the list after the object.
    if let Some(text) = data("resources").or_else(|| data("inventory")) {
        let resources: Vec<ResourceRef> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        for resource in resources {
            let id = ObjectId::from_inventory(&resource.id, &resource.ver)
                .map_err(|error| error.to_string())?;
            let seen = digests.get(&resource.id).and_then(|text| Seen::parse(text));
            recorded.inventory.insert(Entry { id, seen });
        }
    }
    if let Some(text) = data("history") {
        recorded.history = serde_json::from_str(text).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// `ConfigMap`s are the same on every server; asking would cost a request.
pub(crate) fn resource() -> Resource {
    Resource {
        gvk: Gvk::new(&Text::literal("v1"), Text::literal("ConfigMap")),
        plural: "configmaps".into(),
        namespaced: true,
        verbs: [].into(),
    }
}

fn json(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::UnreadableInventory {
        name: String::new(),
        reason: error.to_string(),
    })
}

fn resource_version(object: &Node) -> String {
    let version = object.at(&["metadata", "resourceVersion"]).and_then(Node::as_str);
    version.unwrap_or_default().to_owned()
}

fn map(fields: Vec<Field>) -> Node {
    Node::new(Pos::default(), Value::Map(Map::from(fields)))
}
