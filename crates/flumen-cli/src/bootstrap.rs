//! What a cluster gets before the controller takes over: definitions, namespaces, sources and Kustomizations to begin with.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use flumen_apply::{Error, InventoryStore, Options, Prune, Recorded, Silent, apply};
use flumen_controller::{Key, Kind};
use flumen_inspect::{Overview, REQUESTED_AT};
use flumen_kube::{ApplyOptions, Client, Cluster as _, ObjectName, PatchType, Write};
use flumen_object::{Gvk, Object, ObjectId, ObjectSet};
use flumen_yaml::{Budget, Node, Text, to_json};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::error::{CommandError, Failure};

/// Where Flux lives, unless a repository says otherwise.
pub(crate) const NAMESPACE: &str = "flux-system";
/// The manager of what is made for the user and is in no repository.
const MANAGER: &str = "flumen";

#[derive(Debug, Default)]
pub(crate) struct Bootstrap {
    /// Of the repository. The controller applies them as well; these are the ones that it cannot do without.
    pub(crate) objects: Vec<Object>,
    /// Sources that are in no repository.
    pub(crate) mirrors: Vec<Object>,
    /// Parts of Flux that are not installed.
    pub(crate) skipped: Vec<ObjectId>,
    /// Sources that are answered from a directory.
    pub(crate) sources: BTreeMap<Key, PathBuf>,
    /// The Kustomization that everything hangs from.
    pub(crate) owner: Option<Key>,
}

impl Bootstrap {
    /// Brings it all to the cluster. Definitions and namespaces that are there stay as they are.
    pub(crate) async fn install(
        &self,
        client: &Client,
        timeout: Duration,
    ) -> Result<(), CommandError> {
        let mut objects = self.objects.clone();
        for definition in flumen_api::definitions() {
            objects.extend(objects_of_json(definition)?);
        }
        let namespaces =
            self.objects.iter().chain(&self.mirrors).map(|object| object.id().namespace);
        let namespaces: BTreeSet<_> = namespaces.filter(|name| !name.is_empty()).collect();
        for name in namespaces {
            let namespace = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": &*name},
            });
            objects.extend(objects_of_json(&namespace.to_string())?);
        }
        let mut seen = BTreeSet::new();
        let mut missing = Vec::new();
        for object in objects {
            let id = object.id();
            // The repository's own come first.
            if seen.insert(id.clone()) && !(is_kept(&id) && is_there(client, &id).await?) {
                missing.push(object);
            }
        }
        // As the controller itself would apply them, so that it finds nothing to do.
        let owner = self.owner.clone();
        let owner = owner.unwrap_or_else(|| Key::new(Kind::Kustomization, NAMESPACE, NAMESPACE));
        let options = Options {
            timeout,
            prune: Prune::Forget,
            ..Options::new(flumen_controller::owner(&owner))
        };
        let objects: ObjectSet = missing.into_iter().collect();
        apply(client, objects.in_apply_order(), &NoInventory, &options, &Silent).await?;
        // Their kinds are served since a moment ago.
        client.forget_resources();
        for object in &self.mirrors {
            mirror(client, object).await?;
        }
        Ok(())
    }

    /// Asks for a pass over the sources that are there already: what they say is of an earlier time.
    pub(crate) async fn ask_for_passes(&self, client: &Client) -> Result<(), CommandError> {
        let now = json!({REQUESTED_AT: Timestamp::now().to_string()});
        let patch = json!({"metadata": {"annotations": now}}).to_string();
        let patch = flumen_yaml::read(&patch.as_str().into(), 1, &Budget::default());
        let patch = patch.ok().and_then(|mut documents| documents.pop());
        let Some(patch) = patch else { return Ok(()) };
        for key in self.sources.keys() {
            let api_version = Text::literal("source.toolkit.fluxcd.io/v1");
            let gvk = Gvk::new(&api_version, Text::literal(key.kind.as_str()));
            let Some(resource) = client.resource(&gvk).await? else { continue };
            let (namespace, name) = (&key.namespace, &key.name);
            let name = ObjectName { resource: &resource, namespace, name };
            match client.patch(name, PatchType::Merge, &patch, MANAGER).await {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an overview has what everything hangs from.
    pub(crate) fn is_in(&self, overview: &Overview) -> bool {
        let mirrors = self.mirrors.iter().map(|object| object.id().to_string());
        let owner = self.owner.iter().map(ToString::to_string);
        owner.chain(mirrors).all(|name| overview.has(&name))
    }
}

/// What is never replaced: it may be newer than ours, and others may rely on it.
fn is_kept(id: &ObjectId) -> bool {
    matches!(&*id.gvk.kind, "CustomResourceDefinition" | "Namespace")
}

async fn is_there(client: &Client, id: &ObjectId) -> Result<bool, CommandError> {
    let Some(resource) = client.resource(&id.gvk).await? else { return Ok(false) };
    let name = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    Ok(client.get(name).await?.is_some())
}

async fn mirror(client: &Client, object: &Object) -> Result<(), CommandError> {
    let id = object.id();
    let Some(resource) = client.resource(&id.gvk).await? else {
        return Err(Failure::new(format!("the cluster does not serve {}", id.gvk.kind)).into());
    };
    let name = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    let options = ApplyOptions { manager: MANAGER, force: false, write: Write::Real };
    client.apply(name, &object.node, options).await?;
    Ok(())
}

/// The inventory is the affair of the controller.
struct NoInventory;

impl InventoryStore for NoInventory {
    async fn load(&self) -> Result<Recorded, Error> {
        Ok(Recorded::default())
    }

    async fn commit(&self, _: &Recorded) -> Result<(), Error> {
        Ok(())
    }

    async fn delete(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Objects that are written as JSON.
pub(crate) fn objects_of_json(text: &str) -> Result<ObjectSet, CommandError> {
    Ok(flumen_build::objects_of(text.as_bytes(), Path::new("<made here>"))?)
}

pub(crate) fn as_json(node: &Node) -> Result<Value, CommandError> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("not JSON: {error}"));
    let text = to_json(node).map_err(|error| failed(&error))?;
    Ok(serde_json::from_str(&text).map_err(|error| failed(&error))?)
}
