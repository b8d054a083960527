//! Definitions of custom resources while the server runs: their names, what is served for them, and
//! the end of their objects.
//!
//! Whoever writes a definition finds its resource served when the answer comes. There is no loop in
//! the background: every write that can change what is served is followed by a look at it.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use flumen_crd::Served;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::{
    Answer, Api, ApiError, Behaviour, Call, Catalog, Client, Deletion, Payload, Reason, Resource,
    ResourceName, Select, Verb, clock, meta, rules,
};

const DEFINITIONS: ResourceName<'static> =
    ResourceName::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
const MANAGER: &str = "kube-apiserver";
/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// What is known of all definitions.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    known: RwLock<BTreeMap<String, Known>>,
    /// One look at a time.
    turn: Mutex<()>,
}

#[derive(Clone, Debug)]
struct Known {
    definition: Arc<Value>,
    /// Once its names were accepted.
    served: Option<Arc<Served>>,
}

impl Definitions {
    fn get(&self, name: &str) -> Option<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn set(&self, name: &str, known: Option<Known>) {
        let mut all = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some(known) => all.insert(name.to_owned(), known),
            None => all.remove(name),
        };
    }

    fn of_group(&self, group: &str) -> Vec<Arc<Value>> {
        let all = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let definitions = all.values().map(|known| Arc::clone(&known.definition));
        definitions.filter(|definition| definition["spec"]["group"] == group).collect()
    }

    fn catalog(&self) -> Catalog {
        let all = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Catalog::with_custom(all.values().filter_map(|known| known.served.as_deref()))
    }

    /// The name of the definition of a resource, if it is about to go.
    fn ending(&self, resource: &Resource) -> Option<String> {
        let name = format!("{}.{}", resource.plural, resource.group);
        let known = self.get(&name)?;
        meta::is_deleting(&known.definition).then_some(name)
    }
}

/// Serves what was defined before the server started.
pub(crate) async fn load(api: &Api) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), MANAGER);
    for definition in client.list(DEFINITIONS, Select::default()).await?.items {
        let name = meta::name(&definition).to_owned();
        let served = serve(&definition, None);
        let known = Known { definition: Arc::new(definition), served };
        api.definitions().set(&name, Some(known));
    }
    api.set_catalog(api.definitions().catalog());
    let names: Vec<String> = {
        let all = api.definitions().known.read().unwrap_or_else(PoisonError::into_inner);
        all.keys().cloned().collect()
    };
    for name in names {
        settle(api, &name).await?;
    }
    Ok(())
}

/// The definitions that a call may have changed, or may have ended an object of.
pub(crate) fn touched(api: &Api, call: &Call, resource: &Resource, answer: &Answer) -> Vec<String> {
    let reads = matches!(call.target.verb, Verb::Get | Verb::List | Verb::Watch);
    if reads || call.user.name == MANAGER || call.query.get("dryRun").is_some() {
        return Vec::new();
    }
    if !rules::is_definition(resource) {
        return match resource.behaviour {
            Behaviour::Custom { .. } => api.definitions().ending(resource).into_iter().collect(),
            Behaviour::Builtin { .. } => Vec::new(),
        };
    }
    match &answer.payload {
        _ if !call.target.name.is_empty() => vec![call.target.name.clone()],
        Payload::Object { object, .. } => vec![meta::name(object).to_owned()],
        Payload::List { items, .. } => {
            items.iter().map(|item| meta::name(item).to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// Looks at definitions that may have changed.
pub(crate) async fn follow(api: &Api, names: Vec<String>) -> Result<(), ApiError> {
    for name in names {
        settle(api, &name).await?;
    }
    Ok(())
}

/// Brings what is known and served in line with a definition as it is stored.
async fn settle(api: &Api, name: &str) -> Result<(), ApiError> {
    let _turn = api.definitions().turn.lock().await;
    let before = api.definitions().get(name);
    settle_one(api, name).await?;
    let after = api.definitions().get(name);
    // Names that were given up may be what others wait for.
    let accepted = |known: &Option<Known>| {
        known.as_ref().map(|known| known.definition["status"]["acceptedNames"].clone())
    };
    if accepted(&before) != accepted(&after) {
        let group = before
            .as_ref()
            .or(after.as_ref())
            .map(|known| known.definition["spec"]["group"].as_str().unwrap_or_default().to_owned());
        for other in api.definitions().of_group(&group.unwrap_or_default()) {
            let other = meta::name(&other);
            if other != name {
                settle_one(api, other).await?;
            }
        }
    }
    Ok(())
}

async fn settle_one(api: &Api, name: &str) -> Result<(), ApiError> {
    let client = Client::new(api.clone(), MANAGER);
    let mut definition = match client.get(DEFINITIONS, "", name).await {
        Ok(definition) => definition,
        Err(error) if error.reason() == Some(Reason::NotFound) => {
            api.definitions().set(name, None);
            api.set_catalog(api.definitions().catalog());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if meta::is_deleting(&definition) {
        return end(api, &client, definition).await;
    }
    let group = definition["spec"]["group"].as_str().unwrap_or_default().to_owned();
    let others = api.definitions().of_group(&group);
    let others = others.iter().map(Arc::as_ref);
    if let Some(status) = flumen_crd::accept_names(&definition, others, clock::now()) {
        definition["status"] = status;
        definition = client.update_status(DEFINITIONS, &definition).await?;
    }
    remember(api, name, &definition);
    if let Some(status) = flumen_crd::establish(&definition, clock::now()) {
        definition["status"] = status;
        definition = client.update_status(DEFINITIONS, &definition).await?;
        remember(api, name, &definition);
    }
    Ok(())
}

fn remember(api: &Api, name: &str, definition: &Value) {
    let before = api.definitions().get(name);
    let served = serve(definition, before.as_ref());
    let is_same = match (&served, before.as_ref().and_then(|known| known.served.as_ref())) {
        (Some(new), Some(old)) => Arc::ptr_eq(new, old),
        (None, None) => true,
        _ => false,
    };
    let known = Known { definition: Arc::new(definition.clone()), served };
    api.definitions().set(name, Some(known));
    if !is_same {
        api.set_catalog(api.definitions().catalog());
    }
}

/// What is served for a definition; the same as before if nothing about it changed.
fn serve(definition: &Value, before: Option<&Known>) -> Option<Arc<Served>> {
    let conditions = definition["status"]["conditions"].as_array();
    let is_accepted = conditions
        .into_iter()
        .flatten()
        .any(|it| it["type"] == "NamesAccepted" && it["status"] == "True");
    if !is_accepted {
        return before.and_then(|known| known.served.clone());
    }
    if let Some(before) = before
        && before.definition["spec"] == definition["spec"]
        && before.definition["status"]["acceptedNames"] == definition["status"]["acceptedNames"]
        && let Some(served) = &before.served
    {
        return Some(Arc::clone(served));
    }
    Some(Arc::new(Served::new(definition)))
}

/// Ends the objects of a definition, and the definition once none is left.
async fn end(api: &Api, client: &Client, mut definition: Value) -> Result<(), ApiError> {
    let name = meta::name(&definition).to_owned();
    let known = api.definitions().get(&name);
    let served = known.as_ref().and_then(|known| known.served.clone());
    if let Some(known) = known {
        let definition = Arc::new(definition.clone());
        api.definitions().set(&name, Some(Known { definition, ..known }));
    }
    let mut left = 0;
    if let Some(served) = served
        && let Some(version) = served.versions.iter().find(|version| version.is_served)
    {
        let of = ResourceName::new(&served.group, &version.name, &served.plural);
        for object in client.list(of, Select::default()).await?.items {
            let (namespace, name) = (meta::namespace(&object), meta::name(&object));
            if !meta::is_deleting(&object) {
                let gone = client.delete(of, namespace, name, Deletion::default()).await;
                ignore_missing(gone)?;
            }
        }
        left = client.list(of, Select::default()).await?.items.len();
    }
    if left > 0 {
        return Ok(());
    }
    let finalizers: Vec<String> = meta::finalizers(&definition)
        .filter(|finalizer| *finalizer != CLEANUP)
        .map(str::to_owned)
        .collect();
    meta::set_finalizers(&mut definition, finalizers);
    ignore_missing(client.update(DEFINITIONS, &definition).await.map(drop))?;
    let is_gone = match client.get(DEFINITIONS, "", &name).await {
        Err(error) if error.reason() == Some(Reason::NotFound) => true,
        other => other.map(|_| false)?,
    };
    if is_gone {
        api.definitions().set(&name, None);
        api.set_catalog(api.definitions().catalog());
    }
    Ok(())
}

fn ignore_missing(outcome: Result<(), ApiError>) -> Result<(), ApiError> {
    match outcome {
        Err(error) if error.reason() == Some(Reason::NotFound) => Ok(()),
        other => other,
    }
}

/// Marks a definition as one that goes. Its objects go first.
pub(crate) fn mark_deleted(definition: &mut Value) {
    meta::set(definition, "deletionTimestamp", clock::text(clock::now()));
    let mut finalizers: Vec<String> = meta::finalizers(definition).map(str::to_owned).collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.to_owned());
    }
    meta::set_finalizers(definition, finalizers);
}
