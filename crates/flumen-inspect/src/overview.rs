//! Everything that the controller reconciles: sources, the Kustomizations that are built from them, and what those have
//! applied.

use std::collections::{BTreeMap, BTreeSet};

use flumen_api::{
    Condition, ConditionStatus, Conditions, ExternalArtifact, GitRepository, Kind, Kustomization,
    OciRepository, READY, RECONCILING, STALLED, condition, read,
};
use flumen_health::Status;
use flumen_kube::{Client, Cluster as _, Error, ListOptions};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, to_json};
use serde_json::Value;

use crate::{
    Forest, LiveObject, REQUESTED_AT,
    object::{handled_request, text_at},
    objects::{Owned, add_created},
};

/// Label of every object that a Kustomization has applied.
const OWNED: &str = "kustomize.toolkit.fluxcd.io/name";

/// Reasons of objects that wait for a dependency.
const WAITING: [&str; 2] = ["DependencyNotReady", "ArtifactFailed"];

/// Sources, Kustomizations and what those have applied.
#[derive(Debug)]
pub struct Overview {
    pub units: Vec<Unit>,
    /// Objects in inventories, and what controllers have created for them.
    owned: Owned,
}

/// A source or a Kustomization.
#[derive(Debug)]
pub struct Unit {
    uid: String,
    namespace: String,
    /// `Kustomization/flux-system/apps`
    pub name: String,
    pub state: State,
    pub message: String,
    /// Name of the source that a Kustomization is built from.
    source: Option<String>,
    /// Revision of the artifact of a source.
    revision: Option<String>,
    inventory: Vec<ObjectId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ready,
    Suspended,
    /// The object is reconciled, or waits for a dependency.
    Busy,
    /// The reconciliation is retried.
    Failed,
    /// The reconciliation is not retried.
    Stalled,
}

impl Overview {
    pub async fn read(client: &Client) -> Result<Self, Error> {
        let mut units = Vec::new();
        for object in list::<GitRepository>(client).await? {
            units.push(Unit::of(&object, |source: &GitRepository, unit| {
                unit.revision = source.status.artifact.as_ref().map(|it| it.revision.clone());
                source.spec.suspend
            })?);
        }
        for object in list::<OciRepository>(client).await? {
            units.push(Unit::of(&object, |source: &OciRepository, unit| {
                unit.revision = source.status.artifact.as_ref().map(|it| it.revision.clone());
                source.spec.suspend
            })?);
        }
        for object in list::<ExternalArtifact>(client).await? {
            units.push(Unit::of(&object, |source: &ExternalArtifact, unit| {
                unit.revision = source.status.artifact.as_ref().map(|it| it.revision.clone());
                false
            })?);
        }
        let revisions: BTreeMap<String, Option<String>> =
            units.iter().map(|unit| (unit.name.clone(), unit.revision.clone())).collect();
        for object in list::<Kustomization>(client).await? {
            units.push(Unit::of_kustomization(&object, &revisions)?);
        }
        let owned = owned(client, &units).await?;
        Ok(Self { units, owned })
    }

    /// Whether there are objects, and all of them are ready or suspended.
    pub fn is_ready(&self) -> bool {
        !self.units.is_empty()
            && self.units.iter().all(Unit::is_ready)
            && self.applied().all(|object| object.status == Status::Current)
    }

    /// Objects that Kustomizations have applied, without what controllers have created for them.
    fn applied(&self) -> impl Iterator<Item = &LiveObject> {
        self.units.iter().filter_map(|unit| self.owned.get(&unit.uid)).flatten()
    }

    /// Whether there is a source or Kustomization of this name, such as `Kustomization/flux-system/apps`.
    pub fn has(&self, name: &str) -> bool {
        self.units.iter().any(|unit| unit.name == name)
    }

    /// Whether an object is stalled, so that waiting does not help.
    pub fn is_stuck(&self) -> bool {
        self.units.iter().any(|unit| unit.state == State::Stalled)
    }

    /// Returns names and messages of objects that are not ready.
    pub fn not_ready(&self) -> Vec<String> {
        let units = self.units.iter().filter(|unit| !unit.is_ready());
        let units = units.map(|unit| format!("{}: {}", unit.name, unit.message));
        let objects = self.applied().filter(|object| object.status != Status::Current);
        let objects = objects.map(|object| format!("{}: {}", object.label, object.message));
        units.chain(objects).collect()
    }

    /// Puts Kustomizations below their sources, and what they have applied below them.
    pub fn into_forest(self) -> Forest {
        let mut forest = Forest { roots: BTreeMap::new(), owned: self.owned };
        let ids: BTreeMap<String, String> =
            self.units.iter().map(|unit| (unit.name.clone(), unit.uid.clone())).collect();
        for unit in self.units {
            let (status, source) = (unit.state.status(), unit.source.and_then(|it| ids.get(&it)));
            let Unit { uid, name: label, message, .. } = unit;
            let place = match source {
                Some(source) => forest.owned.entry(source.clone()).or_default(),
                None => forest.roots.entry(unit.namespace).or_default(),
            };
            place.push(LiveObject { uid, label, status, message });
        }
        forest
    }
}

impl State {
    const fn status(self) -> Status {
        match self {
            Self::Ready => Status::Current,
            Self::Suspended => Status::Unknown,
            Self::Busy => Status::InProgress,
            Self::Failed | Self::Stalled => Status::Failed,
        }
    }
}

impl Unit {
    /// Reads an object. `complete` adds what only its kind has, and returns whether it is suspended.
    fn of<K: Conditions>(
        node: &Node,
        complete: impl FnOnce(&K, &mut Self) -> bool,
    ) -> Result<Self, Error> {
        let text = |path: &[&str]| text_at(node, path);
        let namespace = text(&["metadata", "namespace"]).to_owned();
        let mut unit = Self {
            uid: text(&["metadata", "uid"]).to_owned(),
            name: format!("{}/{namespace}/{}", K::KIND, text(&["metadata", "name"])),
            namespace,
            state: State::Failed,
            message: String::new(),
            source: None,
            revision: None,
            inventory: Vec::new(),
        };
        match read::<K>(&as_json(node)?) {
            Ok(object) => {
                (unit.state, unit.message) = judge(&object);
                let requested = object.metadata().annotations.get(REQUESTED_AT);
                if requested.is_some_and(|requested| requested != handled_request(node)) {
                    (unit.state, unit.message) = (State::Busy, "is asked for a pass".to_owned());
                }
                if complete(&object, &mut unit) {
                    (unit.state, unit.message) = (State::Suspended, "suspended".to_owned());
                }
            }
            Err(malformed) => unit.message = malformed.to_string(),
        }
        Ok(unit)
    }

    fn of_kustomization(
        node: &Node,
        revisions: &BTreeMap<String, Option<String>>,
    ) -> Result<Self, Error> {
        Self::of(node, |object: &Kustomization, unit| {
            let source = &object.spec.source_ref;
            let namespace = object.source_namespace();
            let source = format!("{}/{namespace}/{}", source.kind.name(), source.name);
            let offered = revisions.get(&source).cloned().flatten();
            let applied = &object.status.last_applied_revision;
            if let (State::Ready, Some(offered)) = (unit.state, offered)
                && applied.as_ref() != Some(&offered)
            {
                (unit.state, unit.message) = (State::Busy, format!("new revision {offered}"));
            }
            let inventory = object.status.inventory.iter().flat_map(|it| &it.entries);
            let ids = inventory.filter_map(|it| ObjectId::from_inventory(&it.id, &it.v).ok());
            // Sources and Kustomizations have a place of their own in the tree.
            unit.inventory = ids.filter(|id| !is_unit(&id.gvk)).collect();
            unit.source = Some(source);
            object.spec.suspend
        })
    }

    const fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Suspended)
    }
}

fn as_json(node: &Node) -> Result<Value, Error> {
    // What the library prints is JSON.
    Ok(serde_json::from_str(&to_json(node)?).unwrap_or_default())
}

fn is_unit(gvk: &Gvk) -> bool {
    let is = |group: &str, kind: &str| *gvk.group == *group && *gvk.kind == *kind;
    is(Kustomization::GROUP, Kustomization::KIND)
        || [GitRepository::KIND, OciRepository::KIND, ExternalArtifact::KIND]
            .iter()
            .any(|kind| is(GitRepository::GROUP, kind))
}

/// Returns state and message of an object from its conditions.
fn judge(object: &impl Conditions) -> (State, String) {
    let is_current = |found: &&Condition| found.observed_generation == object.metadata().generation;
    let holds = |r#type: &str| {
        condition(object, r#type).filter(|found| found.status == ConditionStatus::True)
    };
    if let Some(stalled) = holds(STALLED).filter(is_current) {
        return (State::Stalled, stalled.message.clone());
    }
    let ready = condition(object, READY).filter(is_current);
    let step = holds(RECONCILING).map(|step| step.message.clone());
    match (ready.map(|ready| (ready.status, ready)), step) {
        (Some((ConditionStatus::True, ready)), None) => (State::Ready, ready.message.clone()),
        (Some((ConditionStatus::False, ready)), _) => {
            let waits = WAITING.contains(&ready.reason.as_str());
            (if waits { State::Busy } else { State::Failed }, ready.message.clone())
        }
        (_, Some(step)) => (State::Busy, step),
        _ => (State::Busy, "not looked at yet".to_owned()),
    }
}

async fn list<K: Kind>(client: &Client) -> Result<Vec<Node>, Error> {
    let gvk = Gvk::new(&K::api_version().into(), K::KIND.into());
    list_kind(client, &gvk, None).await
}

async fn list_kind(
    client: &Client,
    gvk: &Gvk,
    label_selector: Option<&str>,
) -> Result<Vec<Node>, Error> {
    let mut resource = client.resource(gvk).await?;
    if resource.is_none() {
        // The kind may have been installed a moment ago, and no event would make us ask again.
        client.forget_resources();
        resource = client.resource(gvk).await?;
    }
    let Some(resource) = resource else { return Ok(Vec::new()) };
    let options = ListOptions { label_selector, ..ListOptions::default() };
    Ok(client.list(&resource, options).await?.items)
}

/// Reads the objects in inventories, with one list for each kind, and what controllers have created for them.
async fn owned(client: &Client, units: &[Unit]) -> Result<Owned, Error> {
    let named = || units.iter().flat_map(|unit| &unit.inventory);
    let kinds: BTreeSet<&Gvk> = named().map(|id| &id.gvk).collect();
    let mut found: BTreeMap<String, LiveObject> = BTreeMap::new();
    for gvk in kinds {
        for object in list_kind(client, gvk, Some(OWNED)).await? {
            let id = ObjectId { gvk: gvk.clone(), ..ObjectId::of(&object) };
            let live = LiveObject::of_kind(&gvk.kind, &object);
            found.insert(id.inventory_id(), LiveObject { label: id.to_string(), ..live });
        }
    }
    let mut owned = Owned::new();
    for unit in units.iter().filter(|unit| !unit.inventory.is_empty()) {
        let objects = unit.inventory.iter().map(|id| {
            found.get(&id.inventory_id()).cloned().unwrap_or_else(|| LiveObject {
                uid: String::new(),
                label: id.to_string(),
                status: Status::NotFound,
                message: "not there yet".to_owned(),
            })
        });
        owned.insert(unit.uid.clone(), objects.collect());
    }
    let namespaces: BTreeSet<&str> = named().map(|id| &*id.namespace).collect();
    for namespace in namespaces.into_iter().filter(|namespace| !namespace.is_empty()) {
        add_created(client, namespace, &mut owned).await?;
    }
    Ok(owned)
}
