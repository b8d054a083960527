//! Garbage collection: objects go with their owners.
//!
//! Only objects that have owners are remembered, by the identity of each owner. Whether an owner is
//! still there is asked of the server when it matters, so memory is spent on dependents alone.
//!
//! An owner that is deleted in the background is simply gone, and its dependents follow. One that is
//! deleted in the foreground stays, with a finalizer, until the dependents that block it are gone. One
//! that leaves orphans stays until its dependents have forgotten it.

mod graph;
mod verdict;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use flumen_apiserver::{
    Api, ApiError, Change, Client, Deletion, Media, Reason, Resource, ResourceName,
};
use futures_util::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Clock,
    act::Clients,
    clock::later,
    follow::Follower,
    object::{self, has_finalizer, items, text},
    plan::{Told, Writer, reference},
};
use graph::{Graph, Place};
use verdict::{OwnerState, Verdict};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// When to look again after a failure; mostly someone else was faster.
const RETRY: Duration = Duration::from_millis(200);

/// When to look again at an object whose owner is of a kind that is not known.
const UNKNOWN_RETRY: Duration = Duration::from_secs(5);

/// Objects that are looked at at the same time. Writes that arrive together share a flush.
const AT_ONCE: usize = 32;

pub(crate) struct Collector {
    client: Client,
    clients: Clients,
    clock: Clock,
    graph: Graph,
    waiting: BTreeSet<Place>,
    timers: BTreeMap<Place, Timestamp>,
}

impl Follower for Collector {
    fn forget(&mut self) {
        self.graph = Graph::default();
    }

    fn next_time(&self) -> Option<Timestamp> {
        self.timers.values().min().copied()
    }

    fn take_in(&mut self, change: &Change) {
        let Ok(node) = change.read::<graph::Node>() else { return };
        let place = Place::of(change);
        let uid = &node.metadata.uid;
        // An owner in the foreground may have waited for this one.
        self.waiting.extend(self.graph.ending_owners(&place).cloned());
        if change.is_deletion {
            self.waiting.extend(self.graph.dependents(uid).cloned());
            self.graph.remove(&place, uid);
            return;
        }
        if node.is_ending() {
            if node.has(FOREGROUND) {
                self.waiting.extend(self.graph.dependents(uid).cloned());
            }
            if node.has(FOREGROUND) || node.has(ORPHAN) {
                self.waiting.insert(place.clone());
            }
        }
        // Most changes have nothing to do with owners.
        if self.graph.put(&place, &node) {
            self.waiting.insert(place);
        }
    }

    async fn work(&mut self) {
        let now = self.clock.now();
        let due =
            self.timers.iter().filter(|(_, time)| **time <= now).map(|(place, _)| place.clone());
        self.waiting.extend(due.collect::<Vec<_>>());
        let waiting = std::mem::take(&mut self.waiting);
        let this = &*self;
        let looked = stream::iter(waiting)
            .map(|place| async move { (this.look_at(&place).await, place) })
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>();
        for (done, place) in looked.await {
            self.timers.remove(&place);
            match done {
                Ok(true) => {}
                Ok(false) => drop(self.timers.insert(place, later(now, UNKNOWN_RETRY))),
                Err(_) => drop(self.timers.insert(place, later(now, RETRY))),
            }
        }
    }
}

impl Collector {
    pub(crate) fn new(api: Api, clock: Clock) -> Self {
        Self {
            clients: Clients::new(&api),
            client: Client::new(api, Writer::Manager.name()),
            clock,
            graph: Graph::default(),
            waiting: BTreeSet::new(),
            timers: BTreeMap::new(),
        }
    }

    /// Does what is to be done about an object; whether that is all for now.
    async fn look_at(&self, place: &Place) -> Result<bool, ApiError> {
        let Some((resource, object)) = self.read(place).await? else { return Ok(true) };
        let of = ResourceName::new(&resource.group, &resource.version, &resource.plural);
        if object::is_ending(&object) {
            return self.end(of, &object).await;
        }
        let mut owners = Vec::new();
        let mut settled = true;
        for owner in items(&object, "/metadata/ownerReferences") {
            let state = self.state_of(owner, &object).await?;
            settled &= state != OwnerState::Unknown;
            owners.push((owner, state));
        }
        let has_dependents = self.graph.dependents(object::uid(&object)).next().is_some();
        match verdict::on(&object, &owners, has_dependents) {
            Verdict::Keep => {}
            Verdict::Forget(rest) => self.set_owners(of, &object, rest).await?,
            Verdict::Delete(propagation) => {
                let deletion = Deletion {
                    propagation: Some(propagation),
                    uid: Some(object::uid(&object).to_owned()),
                    ..Deletion::default()
                };
                self.client.delete(of, &place.namespace, &place.name, deletion).await?;
            }
        }
        Ok(settled)
    }

    /// The object at a place, if it and its kind are still there.
    async fn read(&self, place: &Place) -> Result<Option<(Arc<Resource>, Value)>, ApiError> {
        let catalog = self.client.api().catalog();
        let found = catalog.resources().iter().find(|resource| {
            resource.location.group == place.group && resource.location.plural == place.plural
        });
        let Some(resource) = found else { return Ok(None) };
        let of = ResourceName::new(&resource.group, &resource.version, &resource.plural);
        match self.client.get(of, &place.namespace, &place.name).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => Ok(None),
            object => Ok(Some((Arc::clone(resource), object?))),
        }
    }

    /// Goes on with the deletion of an owner that waits for its dependents.
    async fn end(&self, of: ResourceName<'_>, object: &Value) -> Result<bool, ApiError> {
        let uid = object::uid(object);
        if has_finalizer(object, ORPHAN) {
            let dependents: Vec<Place> = self.graph.dependents(uid).cloned().collect();
            for place in dependents {
                self.orphan(&place, uid).await?;
            }
            self.remove_finalizer(of, object, ORPHAN).await?;
        } else if has_finalizer(object, FOREGROUND) && !self.graph.is_blocked(uid) {
            self.remove_finalizer(of, object, FOREGROUND).await?;
        }
        Ok(true)
    }

    async fn orphan(&self, place: &Place, owner: &str) -> Result<(), ApiError> {
        let Some((resource, object)) = self.read(place).await? else { return Ok(()) };
        let of = ResourceName::new(&resource.group, &resource.version, &resource.plural);
        let owners = items(&object, "/metadata/ownerReferences");
        let rest: Vec<Value> =
            owners.iter().filter(|given| text(given, "/uid") != owner).cloned().collect();
        if rest.len() == owners.len() {
            return Ok(());
        }
        self.set_owners(of, &object, rest).await
    }

    async fn set_owners(
        &self,
        of: ResourceName<'_>,
        object: &Value,
        owners: Vec<Value>,
    ) -> Result<(), ApiError> {
        let owners = if owners.is_empty() { Value::Null } else { owners.into() };
        self.change(of, object, json!({"ownerReferences": owners})).await
    }

    async fn remove_finalizer(
        &self,
        of: ResourceName<'_>,
        object: &Value,
        finalizer: &str,
    ) -> Result<(), ApiError> {
        let given = items(object, "/metadata/finalizers").iter();
        let rest: Vec<&Value> = given.filter(|given| *given != finalizer).collect();
        let rest = if rest.is_empty() { Value::Null } else { json!(rest) };
        self.change(of, object, json!({"finalizers": rest})).await
    }

    /// Changes the metadata of an object, if it is still the same.
    async fn change(
        &self,
        of: ResourceName<'_>,
        object: &Value,
        mut metadata: Value,
    ) -> Result<(), ApiError> {
        metadata["resourceVersion"] = text(object, "/metadata/resourceVersion").into();
        metadata["uid"] = object::uid(object).into();
        let place = (object::namespace(object), object::name(object));
        let patch = json!({"metadata": metadata});
        let done = self.client.patch(of, place, "", (Media::MergePatch, &patch)).await;
        match done {
            Err(error) if error.reason() == Some(Reason::NotFound) => Ok(()),
            done => done.map(drop),
        }
    }

    async fn state_of(&self, owner: &Value, object: &Value) -> Result<OwnerState, ApiError> {
        let (group, version) = match text(owner, "/apiVersion").split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", text(owner, "/apiVersion")),
        };
        let catalog = self.client.api().catalog();
        let Some(resource) = catalog.find_kind(group, version, text(owner, "/kind")) else {
            return Ok(OwnerState::Unknown);
        };
        let namespace = object::namespace(object);
        if resource.is_namespaced() && namespace.is_empty() {
            self.tell_misplaced(owner, object).await;
            return Ok(OwnerState::Solid);
        }
        let namespace = if resource.is_namespaced() { namespace } else { "" };
        let of = ResourceName::new(&resource.group, &resource.version, &resource.plural);
        match self.client.get(of, namespace, text(owner, "/name")).await {
            Err(error) if error.reason() == Some(Reason::NotFound) => Ok(OwnerState::Absent),
            Err(error) => Err(error),
            Ok(found) if object::uid(&found) != text(owner, "/uid") => Ok(OwnerState::Absent),
            Ok(found) if object::is_ending(&found) && has_finalizer(&found, FOREGROUND) => {
                Ok(OwnerState::Ending)
            }
            Ok(_) => Ok(OwnerState::Solid),
        }
    }

    /// Says that an object of the cluster cannot be owned by one in a namespace.
    async fn tell_misplaced(&self, owner: &Value, object: &Value) {
        let [version, kind, name, uid] =
            ["/apiVersion", "/kind", "/name", "/uid"].map(|pointer| text(owner, pointer));
        let message = format!(
            "ownerRef [{version}/{kind}, namespace: , name: {name}, uid: {uid}] does not exist in \
             namespace \"\""
        );
        let told = Told {
            about: reference(object),
            warning: true,
            reason: "OwnerRefInvalidNamespace",
            message,
            source: "garbage-collector-controller",
        };
        self.clients.tell(&told, self.clock.now()).await;
    }
}
