//! What definitions of custom resources do to the server: a resource comes, changes and goes with its
//! definition.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use flumen_crd::Served;
use flumen_store::Range;
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};

use crate::{
    Api, ApiError, Behaviour, Client, Converter, Deletion, Reason, Resource, ResourceName, Select,
    boot::api_services::{self, Versions},
    clock, meta, rules, storage,
};

const DEFINITIONS: ResourceName<'static> =
    ResourceName::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
const PREFIX: &str = "apiextensions.k8s.io/customresourcedefinitions/";
/// Holds a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
const MANAGER: &str = "kube-apiserver";

/// The resources of all definitions, by the names of the definitions.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    resources: Mutex<BTreeMap<String, Vec<Arc<Resource>>>>,
    /// Definitions that are being deleted, by name.
    ending: Mutex<BTreeSet<String>>,
}

impl Definitions {
    /// All resources, ordered by group.
    pub(crate) fn resources(&self) -> Vec<Arc<Resource>> {
        let mut all: Vec<Arc<Resource>> = self.served().values().flatten().cloned().collect();
        all.sort_by(|a, b| a.group.cmp(&b.group));
        all
    }

    /// All groups and versions.
    fn versions(&self) -> Versions {
        let version = |resource: &Arc<Resource>| (resource.group.clone(), resource.version.clone());
        self.served().values().flatten().map(version).collect()
    }

    fn served(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Arc<Resource>>>> {
        self.resources.lock()
    }

    fn ending(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.ending.lock()
    }

    fn set(&self, name: &str, of: Vec<Arc<Resource>>) {
        if of.is_empty() {
            self.served().remove(name);
            // Last, so that `admit_new` never finds a definition that is neither served nor about to go.
            self.ending().remove(name);
        } else {
            self.served().insert(name.to_owned(), of);
        }
    }
}

pub(crate) fn are_meant(resource: &Resource) -> bool {
    (&*resource.group, &*resource.plural) == (DEFINITIONS.group, DEFINITIONS.plural)
}

/// Refuses a new object of a definition that is being deleted, or was deleted after the request began.
pub(crate) fn admit_new(api: &Api, resource: &Resource, name: &str) -> Result<(), ApiError> {
    if !matches!(resource.behaviour, Behaviour::Custom { .. }) {
        return Ok(());
    }
    let (group, plural) = (&resource.group, &resource.plural);
    let definition = format!("{plural}.{group}");
    if api.definitions().ending().contains(&definition) {
        let why = "create not allowed while custom resource definition is terminating";
        return Err(ApiError::forbidden(group, plural, name, why));
    }
    if !api.definitions().served().contains_key(&definition) {
        return Err(ApiError::not_found(group, plural, name));
    }
    Ok(())
}

/// Serves what the stored definitions define, and goes on with deletions that were begun.
pub(crate) fn load(api: &Api) -> Result<(), ApiError> {
    for definition in stored(api)? {
        api.definitions().set(meta::name(&definition), resources_of(&definition));
        if meta::is_deleting(&definition) {
            clean_up(api, meta::name(&definition));
        }
    }
    api.refresh_catalog();
    Ok(())
}

fn stored(api: &Api) -> Result<Vec<Value>, ApiError> {
    let range = Range { prefix: PREFIX, ..Range::default() };
    let page = api.store().range(&range).map_err(|error| storage::read_error(&error))?;
    page.entries.iter().map(|(_, entry)| storage::decode(entry)).collect()
}

/// The resources of a definition in all versions that are served.
fn resources_of(definition: &Value) -> Vec<Arc<Resource>> {
    let conditions = definition["status"]["conditions"].as_array();
    let is_established = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
    if !is_established {
        return Vec::new();
    }
    let served = Served::new(definition);
    let Some(storage) = served.storage() else { return Vec::new() };
    let versions = served.versions.iter().filter(|version| version.is_served);
    let converter = Converter::of(definition);
    versions
        .map(|version| Arc::new(Resource::custom(&served, version, storage, converter.clone())))
        .collect()
}

/// Brings the status of a definition and what is served in line with it, after it was written.
pub(crate) fn settle<'a>(api: &'a Api, name: &'a str) -> BoxFuture<'a, Result<(), ApiError>> {
    Box::pin(async move {
        let client = Client::new(api.clone(), MANAGER);
        loop {
            let Some(definition) = storage::get(api.store(), &format!("{PREFIX}{name}"))? else {
                return serve(api, name, Vec::new()).await;
            };
            let mut definition = definition.object;
            let all = stored(api)?;
            let others = all.iter().filter(|other| meta::name(other) != name);
            let now = clock::now();
            let status = flumen_crd::accept_names(&definition, others, now)
                .or_else(|| flumen_crd::establish(&definition, now));
            let Some(status) = status else {
                return serve(api, name, resources_of(&definition)).await;
            };
            definition["status"] = status;
            match client.update_status(DEFINITIONS, &definition).await {
                Err(error)
                    if matches!(error.reason(), Some(Reason::Conflict | Reason::NotFound)) => {}
                done => drop(done?),
            }
        }
    })
}

/// Serves the resources of a definition from now on.
async fn serve(api: &Api, name: &str, resources: Vec<Arc<Resource>>) -> Result<(), ApiError> {
    let before = api.definitions().versions();
    api.definitions().set(name, resources);
    api.refresh_catalog();
    api_services::follow(api, &before, &api.definitions().versions()).await
}

/// Marks a definition as deleted; its objects go before it does.
pub(crate) fn mark(definition: &mut Value) {
    let now = clock::text(clock::now());
    meta::set(definition, "deletionTimestamp", now.as_str());
    let mut finalizers: Vec<String> = meta::finalizers(definition).map(str::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.to_owned());
    }
    meta::set_finalizers(definition, finalizers);
    let condition = json!({
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    match &mut definition["status"]["conditions"] {
        Value::Array(conditions) => conditions.push(condition),
        missing => *missing = json!([condition]),
    }
}

/// Deletes the objects of a definition that was deleted, then lets the definition go.
pub(crate) fn clean_up(api: &Api, name: &str) {
    let (api, name) = (api.clone(), name.to_owned());
    api.definitions().ending().insert(name.clone());
    tokio::spawn(async move {
        // Whoever deletes it again begins anew where this stopped.
        let _ = delete_objects(&api, &name).await;
    });
}

async fn delete_objects(api: &Api, name: &str) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), MANAGER);
    let resources = api.definitions().resources();
    let (plural, group) = name.split_once('.').unwrap_or((name, ""));
    let mut versions = resources.iter().filter(|r| r.plural == plural && r.group == group);
    // What is stored needs no conversion, whoever would have to do it.
    let resource = versions.clone().find(|r| rules::stored_version(r).is_none());
    let resource = resource.or_else(|| versions.next());
    if let Some(resource) = resource {
        let of = ResourceName::new(group, &resource.version, plural);
        let prefix = storage::prefix(resource, "");
        let mut watch = api
            .store()
            .watch(&prefix, api.store().revision())
            .map_err(|error| storage::read_error(&error))?;
        loop {
            let left = client.list(of, Select::default()).await?;
            if left.is_empty() {
                break;
            }
            for object in left.iter().filter(|object| !meta::is_deleting(object)) {
                let place = (meta::namespace(object), meta::name(object));
                match client.delete(of, place.0, place.1, Deletion::default()).await {
                    Err(error) if error.reason() == Some(Reason::NotFound) => {}
                    done => done?,
                }
            }
            let is_held = |object: &Value| meta::finalizers(object).next().is_some();
            if left.iter().any(is_held) && watch.next().await.is_err() {
                return Ok(());
            }
        }
    }
    loop {
        let mut definition = client.get(DEFINITIONS, "", name).await?;
        let others = meta::finalizers(&definition).filter(|finalizer| *finalizer != CLEANUP);
        let others: Vec<String> = others.map(str::to_owned).collect();
        meta::set_finalizers(&mut definition, others);
        match client.update(DEFINITIONS, &definition).await {
            Err(error) if error.reason() == Some(Reason::Conflict) => {}
            done => return done.map(drop),
        }
    }
}
