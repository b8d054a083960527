//! What the controller works on: sources, the Kustomizations that are built from them, and what those have applied.

use std::collections::{BTreeMap, BTreeSet};

use flumen_api::{
    Condition, ConditionStatus, ExternalArtifact, GitRepository, Kind, Kustomization,
    OciRepository, READY, RECONCILING, STALLED, condition, read,
};
use flumen_health::Status;
use flumen_kube::{Client, Cluster as _, ListOptions};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::Node;

use crate::{
    bootstrap::{REQUESTED_AT, as_json},
    error::CommandError,
    tree_view::{Below, Branch, Roots, add_made, render},
    ui::Ui,
};

/// Every object that a Kustomization has applied bears it.
const OWNED: &str = "kustomize.toolkit.fluxcd.io/name";

/// Reasons of those who wait for others; nothing is wrong with them.
const WAITING: [&str; 2] = ["DependencyNotReady", "ArtifactFailed"];

/// Everything that the controller works on, as it is now.
pub(crate) struct Overview {
    units: Vec<Unit>,
    /// What Kustomizations have applied, and what has become of that.
    below: Below,
}

/// A source or a Kustomization.
struct Unit {
    uid: String,
    namespace: String,
    /// `Kustomization/flux-system/apps`
    name: String,
    state: State,
    words: String,
    /// The name of the source that a Kustomization is built from.
    source: Option<String>,
    /// The revision that a source offers.
    revision: Option<String>,
    inventory: Vec<ObjectId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Suspended,
    /// It works, or waits for something that works.
    Busy,
    /// It is tried again.
    Failed,
    /// It is not tried again.
    Stalled,
}

impl Overview {
    pub(crate) async fn read(client: &Client) -> Result<Self, CommandError> {
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
        let below = below(client, &units).await?;
        Ok(Self { units, below })
    }

    /// Whether everything is as it should be, and something is there at all.
    pub(crate) fn is_ready(&self) -> bool {
        let is_fine = |unit: &Unit| matches!(unit.state, State::Ready | State::Suspended);
        !self.units.is_empty()
            && self.units.iter().all(is_fine)
            && self.applied().all(|branch| branch.status == Status::Current)
    }

    /// What Kustomizations have applied, without what others have made of it.
    fn applied(&self) -> impl Iterator<Item = &Branch> {
        self.units.iter().filter_map(|unit| self.below.get(&unit.uid)).flatten()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.units.iter().any(|unit| unit.name == name)
    }

    /// Whether something will not become ready, however long one waits.
    pub(crate) fn is_stuck(&self) -> bool {
        self.units.iter().any(|unit| unit.state == State::Stalled)
    }

    /// What is not ready, and why, a line each.
    pub(crate) fn not_ready(&self) -> Vec<String> {
        let units = self.units.iter();
        let units = units.filter(|unit| !matches!(unit.state, State::Ready | State::Suspended));
        let units = units.map(|unit| format!("{}: {}", unit.name, unit.words));
        let objects = self.applied().filter(|branch| branch.status != Status::Current);
        let objects = objects.map(|branch| format!("{}: {}", branch.label, branch.words));
        units.chain(objects).collect()
    }

    pub(crate) fn tree(mut self) -> String {
        let mut roots = Roots::new();
        let ids: BTreeMap<String, String> =
            self.units.iter().map(|unit| (unit.name.clone(), unit.uid.clone())).collect();
        for unit in self.units {
            let (status, source) = (unit.state.status(), unit.source.and_then(|it| ids.get(&it)));
            let branch = Branch { uid: unit.uid, label: unit.name, status, words: unit.words };
            let place = match source {
                Some(source) => self.below.entry(source.clone()).or_default(),
                None => roots.entry(unit.namespace).or_default(),
            };
            place.push(branch);
        }
        render(&roots, &self.below)
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
    /// Reads an object. `complete` adds what only its kind has, and says whether it is suspended.
    fn of<K: Kind>(
        node: &Node,
        complete: impl FnOnce(&K, &mut Self) -> bool,
    ) -> Result<Self, CommandError> {
        let text = |path: &[&str]| node.at(path).and_then(Node::as_str).unwrap_or_default();
        let namespace = text(&["metadata", "namespace"]).to_owned();
        let mut unit = Self {
            uid: text(&["metadata", "uid"]).to_owned(),
            name: format!("{}/{namespace}/{}", K::KIND, text(&["metadata", "name"])),
            namespace,
            state: State::Failed,
            words: String::new(),
            source: None,
            revision: None,
            inventory: Vec::new(),
        };
        match read::<K>(&as_json(node)?) {
            Ok(object) => {
                (unit.state, unit.words) = judge(&object);
                let asked = object.metadata().annotations.get(REQUESTED_AT);
                let handled = text(&["status", "lastHandledReconcileAt"]);
                if asked.is_some_and(|asked| asked != handled) {
                    (unit.state, unit.words) = (State::Busy, "is asked for a pass".to_owned());
                }
                if complete(&object, &mut unit) {
                    (unit.state, unit.words) = (State::Suspended, "suspended".to_owned());
                }
            }
            Err(malformed) => unit.words = malformed.to_string(),
        }
        Ok(unit)
    }

    fn of_kustomization(
        node: &Node,
        revisions: &BTreeMap<String, Option<String>>,
    ) -> Result<Self, CommandError> {
        Self::of(node, |object: &Kustomization, unit| {
            let source = &object.spec.source_ref;
            let namespace = object.source_namespace();
            let source = format!("{}/{namespace}/{}", source.kind.name(), source.name);
            let offered = revisions.get(&source).cloned().flatten();
            let applied = &object.status.last_applied_revision;
            if let (State::Ready, Some(offered)) = (unit.state, offered)
                && applied.as_ref() != Some(&offered)
            {
                (unit.state, unit.words) = (State::Busy, format!("new revision {offered}"));
            }
            let inventory = object.status.inventory.iter().flat_map(|it| &it.entries);
            let ids = inventory.filter_map(|it| ObjectId::from_inventory(&it.id, &it.v).ok());
            // Sources and Kustomizations have a place of their own in the tree.
            unit.inventory = ids.filter(|id| !is_unit(&id.gvk)).collect();
            unit.source = Some(source);
            object.spec.suspend
        })
    }
}

fn is_unit(gvk: &Gvk) -> bool {
    let is = |group: &str, kind: &str| *gvk.group == *group && *gvk.kind == *kind;
    is(Kustomization::GROUP, Kustomization::KIND)
        || [GitRepository::KIND, OciRepository::KIND, ExternalArtifact::KIND]
            .iter()
            .any(|kind| is(GitRepository::GROUP, kind))
}

/// What an object says of itself.
fn judge(object: &impl Kind) -> (State, String) {
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

async fn list<K: Kind>(client: &Client) -> Result<Vec<Node>, CommandError> {
    let gvk = Gvk::new(&K::api_version().into(), K::KIND.into());
    list_kind(client, &gvk, None).await
}

async fn list_kind(
    client: &Client,
    gvk: &Gvk,
    label_selector: Option<&str>,
) -> Result<Vec<Node>, CommandError> {
    let mut resource = client.resource(gvk).await?;
    if resource.is_none() {
        // It may be served since a moment ago, and nothing else would make us look again.
        client.forget_resources();
        resource = client.resource(gvk).await?;
    }
    let Some(resource) = resource else { return Ok(Vec::new()) };
    let options = ListOptions { label_selector, ..ListOptions::default() };
    Ok(client.list(&resource, options).await?.items)
}

/// What inventories name, with one list for each kind, and what controllers have made of it.
async fn below(client: &Client, units: &[Unit]) -> Result<Below, CommandError> {
    let named = || units.iter().flat_map(|unit| &unit.inventory);
    let kinds: BTreeSet<&Gvk> = named().map(|id| &id.gvk).collect();
    let mut found: BTreeMap<String, Branch> = BTreeMap::new();
    for gvk in kinds {
        for object in list_kind(client, gvk, Some(OWNED)).await? {
            let id = ObjectId { gvk: gvk.clone(), ..ObjectId::of(&object) };
            let branch = Branch::of_kind(&gvk.kind, &object);
            found.insert(id.inventory_id(), Branch { label: id.to_string(), ..branch });
        }
    }
    let mut below = Below::new();
    for unit in units.iter().filter(|unit| !unit.inventory.is_empty()) {
        let branches = unit.inventory.iter().map(|id| {
            found.get(&id.inventory_id()).cloned().unwrap_or_else(|| Branch {
                uid: String::new(),
                label: id.to_string(),
                status: Status::NotFound,
                words: "not there yet".to_owned(),
            })
        });
        below.insert(unit.uid.clone(), branches.collect());
    }
    let namespaces: BTreeSet<&str> = named().map(|id| &*id.namespace).collect();
    for namespace in namespaces.into_iter().filter(|namespace| !namespace.is_empty()) {
        add_made(client, namespace, &mut below).await?;
    }
    Ok(below)
}

/// Says what changes, for those who have no screen to see it on.
#[derive(Default)]
pub(crate) struct Narrator {
    said: BTreeMap<String, String>,
}

impl Narrator {
    pub(crate) fn tell(&mut self, overview: &Overview, ui: &Ui) {
        for unit in &overview.units {
            if self.said.get(&unit.name) == Some(&unit.words) {
                continue;
            }
            self.said.insert(unit.name.clone(), unit.words.clone());
            let line = format!("{}: {}", unit.name, unit.words);
            if unit.state == State::Ready { ui.success(&line) } else { ui.step(&line) }
        }
    }
}
