//! What the cluster has of the objects of a run, learned with few requests.
//!
//! Who watches the objects needs no request at all. Else one list for each kind, restricted to the owner's labels,
//! answers for all objects that an earlier run has applied.
//! Objects that it does not name are new, or belong to someone else; the dry run tells which.

use std::collections::BTreeMap;

use flumen_diff::ObjectDigest;
use flumen_kube::{Cluster, ListOptions, Resource};
use flumen_object::{Gvk, ObjectId};
use flumen_yaml::{Node, Text};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::{Error, Inventory, Options, Seen, Watched, desired::Desired};

/// Live objects of the owner, by inventory id.
#[derive(Debug, Default)]
pub(crate) struct Live {
    found: BTreeMap<String, Found>,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// As it was after we applied what we would apply again. The object itself is not kept: of thousands that
    /// are all unchanged, none needs to stay in memory.
    AsApplied,
    Otherwise(Box<Node>),
}

impl Live {
    /// Lists what an earlier run has left. Without one there is nothing to list.
    pub(crate) async fn read<C: Cluster>(
        cluster: &C,
        desired: &[Desired],
        known: &Inventory,
        options: &Options,
    ) -> Result<Self, Error> {
        let mut live = Self::default();
        if known.is_empty() {
            return Ok(live);
        }
        if let Some(watched) = &options.watched {
            live.found = as_watched(watched.as_ref(), desired, known);
            return Ok(live);
        }
        let wanted: BTreeMap<String, &Desired> =
            desired.iter().map(|object| (object.id.inventory_id(), object)).collect();
        let mut scopes: BTreeMap<Gvk, Scope<'_>> = BTreeMap::new();
        for object in desired.iter().filter(|object| known.contains(&object.id)) {
            let Some(resource) = &object.resource else { continue };
            let scope = scopes
                .entry(object.id.gvk.clone())
                .or_insert_with(|| Scope { resource, namespaces: Vec::new() });
            if scope.namespaces.last() != Some(&&object.id.namespace) {
                scope.namespaces.push(&object.id.namespace);
            }
        }
        let selector = options.owner.selector();
        let lists = stream::iter(scopes.into_values())
            .map(|scope| scope.list(cluster, &selector, &wanted, known))
            .buffer_unordered(options.concurrency);
        live.found = lists.try_concat().await?;
        Ok(live)
    }

    pub(crate) fn get(&self, inventory_id: &str) -> Option<&Found> {
        self.found.get(inventory_id)
    }
}

/// What needs no look because it is seen to be as it was applied.
fn as_watched(
    watched: &dyn Watched,
    desired: &[Desired],
    known: &Inventory,
) -> BTreeMap<String, Found> {
    let mut found = BTreeMap::new();
    for object in desired {
        let Some(seen) = known.get(&object.id).and_then(|entry| entry.seen.as_ref()) else {
            continue;
        };
        let Some(sight) = watched.sight(&object.id) else { continue };
        if seen.live == sight.digest
            && seen.desired == ObjectDigest::of_desired(&object.body, &sight.marks.uid)
        {
            found.insert(object.id.inventory_id(), Found::AsApplied);
        }
    }
    found
}

/// A kind and where its objects are.
struct Scope<'a> {
    resource: &'a Resource,
    /// Sorted, each once.
    namespaces: Vec<&'a Text>,
}

impl Scope<'_> {
    async fn list<C: Cluster>(
        self,
        cluster: &C,
        selector: &str,
        wanted: &BTreeMap<String, &Desired>,
        known: &Inventory,
    ) -> Result<BTreeMap<String, Found>, Error> {
        let everywhere = match self.namespaces.as_slice() {
            [one] if self.resource.namespaced => Some(one.as_str()),
            _ => None,
        };
        let mut found = BTreeMap::new();
        let mut places = vec![everywhere];
        while let Some(namespace) = places.pop() {
            let options =
                ListOptions { namespace, label_selector: Some(selector), ..Default::default() };
            let page = |items: Vec<Node>| sort_in(&mut found, items, wanted, known);
            match cluster.list_pages(self.resource, options, page).await {
                Ok(_) => {}
                // Someone with rights in a few namespaces may ask in each of them. Who may not list at all is
                // answered object by object.
                Err(error) if error.is_forbidden() && namespace.is_none() => {
                    places.extend(self.namespaces.iter().map(|name| Some(name.as_str())));
                    places.retain(|name| name.is_some_and(|name| !name.is_empty()));
                }
                Err(error) if error.is_forbidden() || error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }
}

fn sort_in(
    found: &mut BTreeMap<String, Found>,
    items: Vec<Node>,
    wanted: &BTreeMap<String, &Desired>,
    known: &Inventory,
) {
    for node in items {
        let id = ObjectId::of(&node).inventory_id();
        let Some(desired) = wanted.get(&id) else { continue };
        let seen = known.get(&desired.id).and_then(|entry| entry.seen.as_ref());
        let same = seen.is_some_and(|seen| *seen == Seen::of(&desired.body, &node, None));
        let facts = if same { Found::AsApplied } else { Found::Otherwise(Box::new(node)) };
        found.insert(id, facts);
    }
}
