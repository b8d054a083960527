//! Objects that a cluster needs before the controller takes over: CRDs, namespaces, and the first sources and Kustomizations.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use flumen_apply::{Error, InventoryStore, Options, Prune, Recorded, Silent, apply};
use flumen_controller::{KUSTOMIZATION, Key};
use flumen_inspect::{Overview, REQUESTED_AT, request_patch};
use flumen_kube::{ApplyOptions, Client, Cluster as _, ObjectName, PatchType, Write};
use flumen_object::{Object, ObjectId, ObjectSet};
use flumen_source::Storage;
use serde_json::json;

use super::{LocalSource, NAMESPACE};
use crate::{DeliveryError, Home};

/// Field manager of objects that are in no repository.
const MANAGER: &str = "flumen";

/// What the controller starts from.
#[derive(Debug, Default)]
pub struct Bootstrap {
    /// Objects of the repository that the controller depends on. It applies them, too.
    pub(super) objects: Vec<Object>,
    /// Sources that are in no repository.
    pub(super) mirrors: Vec<Object>,
    /// Components of Flux, which are not installed.
    pub skipped: Vec<ObjectId>,
    /// Sources that are served from a directory.
    pub(super) sources: BTreeMap<Key, PathBuf>,
    /// The Kustomization of the entry point.
    pub(super) owner: Option<Key>,
}

impl Bootstrap {
    /// Adds a local source, and the object for it if the repository has none.
    pub fn add(&mut self, source: &LocalSource) -> Result<(), DeliveryError> {
        source.add_to(&mut self.sources)?;
        self.mirrors.extend(source.mirror()?);
        Ok(())
    }

    /// Whether a source is served from a directory.
    pub fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Installs everything and requests reconciliations, unless another process reconciles on the cluster.
    pub async fn prepare(
        &self,
        home: &Home,
        client: &Client,
        timeout: Duration,
    ) -> Result<(), DeliveryError> {
        // A controller follows its own directories and no others.
        drop(Storage::open(&home.artifacts())?);
        self.install(client, timeout).await?;
        self.request_reconciliations(client).await
    }

    /// Applies all objects. CRDs and namespaces that exist stay as they are.
    async fn install(&self, client: &Client, timeout: Duration) -> Result<(), DeliveryError> {
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
            // Objects of the repository come first, so they win.
            if seen.insert(id.clone()) && !(is_kept(&id) && exists(client, &id).await?) {
                missing.push(object);
            }
        }
        // As the controller itself applies them, so that it finds nothing to change.
        let owner = self.owner.clone();
        let owner = owner.unwrap_or_else(|| Key::new(&KUSTOMIZATION, NAMESPACE, NAMESPACE));
        let options = Options {
            timeout,
            prune: Prune::Forget,
            ..Options::new(flumen_controller::owner(&owner))
        };
        let objects: ObjectSet = missing.into_iter().collect();
        apply(client, objects.in_apply_order(), &NoInventory, &options, &Silent).await?;
        // Their kinds have just been installed.
        client.forget_resources();
        for object in &self.mirrors {
            mirror(client, object).await?;
        }
        Ok(())
    }

    /// Requests reconciliations of sources that exist already: their status is from an earlier run.
    pub async fn request_reconciliations(&self, client: &Client) -> Result<(), DeliveryError> {
        let patch = request_patch(&[REQUESTED_AT]);
        for key in self.sources.keys() {
            let Some(resource) = client.resource(&key.kind.gvk()).await? else { continue };
            let (namespace, name) = (&key.namespace, &key.name);
            let name = ObjectName { resource: &resource, namespace, name };
            match client.patch(name, PatchType::Merge, &patch, MANAGER).await {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an overview has the Kustomization of the entry point and the local sources.
    pub fn is_in(&self, overview: &Overview) -> bool {
        let mirrors = self.mirrors.iter().map(|object| object.id().to_string());
        let owner = self.owner.iter().map(ToString::to_string);
        owner.chain(mirrors).all(|name| overview.has(&name))
    }
}

/// Whether an object is never replaced: it may be newer than ours, and others may rely on it.
fn is_kept(id: &ObjectId) -> bool {
    matches!(&*id.gvk.kind, "CustomResourceDefinition" | "Namespace")
}

async fn exists(client: &Client, id: &ObjectId) -> Result<bool, DeliveryError> {
    let Some(resource) = client.resource(&id.gvk).await? else { return Ok(false) };
    let name = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    Ok(client.get(name).await?.is_some())
}

async fn mirror(client: &Client, object: &Object) -> Result<(), DeliveryError> {
    let id = object.id();
    let Some(resource) = client.resource(&id.gvk).await? else {
        return Err(DeliveryError::KindNotInstalled { kind: id.gvk.kind.to_string() });
    };
    let name = ObjectName { resource: &resource, namespace: &id.namespace, name: &id.name };
    let options = ApplyOptions { manager: MANAGER, force: false, write: Write::Real };
    client.apply(name, &object.node, options).await?;
    Ok(())
}

/// No inventory: the controller keeps its own.
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

/// Parses objects that are written as JSON.
pub(super) fn objects_of_json(text: &str) -> Result<ObjectSet, DeliveryError> {
    Ok(flumen_build::objects_of(text.as_bytes(), Path::new("<made here>"))?)
}
