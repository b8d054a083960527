//! Who depends on whom.

use std::collections::{BTreeMap, BTreeSet};

use flumen_apiserver::Change;
use serde::Deserialize;

/// Where an object is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) group: String,
    pub(super) plural: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Place {
    pub(super) fn of(change: &Change) -> Self {
        Self {
            group: change.group().to_owned(),
            plural: change.plural().to_owned(),
            namespace: change.namespace().to_owned(),
            name: change.name().to_owned(),
        }
    }
}

/// As much of an object as matters here.
#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) metadata: Metadata,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) uid: String,
    #[serde(default)]
    owner_references: Vec<Owner>,
    #[serde(default)]
    finalizers: Vec<String>,
    deletion_timestamp: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Owner {
    #[serde(default)]
    pub(super) uid: String,
    #[serde(default)]
    block_owner_deletion: Option<bool>,
}

impl Node {
    pub(super) fn owners(&self) -> impl Iterator<Item = &Owner> {
        self.metadata.owner_references.iter()
    }

    pub(super) fn is_ending(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    pub(super) fn has(&self, finalizer: &str) -> bool {
        self.metadata.finalizers.iter().any(|given| given == finalizer)
    }
}

/// Objects that have owners, and owners that wait for them.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By the identity of the owner: the dependents, and whether each blocks the end of the owner.
    dependents: BTreeMap<String, BTreeMap<Place, bool>>,
    /// The owners of a dependent, to find it again when it changes.
    owners: BTreeMap<Place, BTreeSet<String>>,
    /// Owners whose deletion has begun, by identity.
    ending: BTreeMap<String, Place>,
}

impl Graph {
    /// Takes in an object; whether it has owners that were not known.
    pub(super) fn put(&mut self, place: &Place, node: &Node) -> bool {
        let known = self.owners.get(place);
        let is_news =
            node.owners().any(|owner| known.is_none_or(|known| !known.contains(&owner.uid)));
        self.forget(place);
        if node.is_ending() {
            self.ending.insert(node.metadata.uid.clone(), place.clone());
        }
        for owner in node.owners() {
            let blocks = owner.block_owner_deletion.unwrap_or_default();
            self.dependents.entry(owner.uid.clone()).or_default().insert(place.clone(), blocks);
            self.owners.entry(place.clone()).or_default().insert(owner.uid.clone());
        }
        is_news
    }

    pub(super) fn remove(&mut self, place: &Place, uid: &str) {
        self.forget(place);
        self.ending.remove(uid);
    }

    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &Place> {
        self.dependents.get(uid).into_iter().flat_map(BTreeMap::keys)
    }

    /// Whether a dependent must go before the owner.
    pub(super) fn is_blocked(&self, uid: &str) -> bool {
        self.dependents.get(uid).is_some_and(|all| all.values().any(|blocks| *blocks))
    }

    /// The owners of a dependent whose deletion has begun.
    pub(super) fn ending_owners(&self, place: &Place) -> impl Iterator<Item = &Place> {
        let owners = self.owners.get(place).into_iter().flatten();
        owners.filter_map(|uid| self.ending.get(uid))
    }

    fn forget(&mut self, place: &Place) {
        for owner in self.owners.remove(place).into_iter().flatten() {
            if let Some(all) = self.dependents.get_mut(&owner) {
                all.remove(place);
                if all.is_empty() {
                    self.dependents.remove(&owner);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(owners: &[(&str, bool)]) -> Node {
        let owners: Vec<_> = owners
            .iter()
            .map(|(uid, blocks)| json!({"uid": uid, "blockOwnerDeletion": blocks}))
            .collect();
        serde_json::from_value(json!({"metadata": {"uid": "me", "ownerReferences": owners}}))
            .expect("a node")
    }

    #[test]
    fn owners_are_news_once() {
        let place = Place {
            group: String::new(),
            plural: "pods".to_owned(),
            namespace: "n".to_owned(),
            name: "a".to_owned(),
        };
        let mut graph = Graph::default();
        assert!(!graph.put(&place, &node(&[])));
        assert!(graph.put(&place, &node(&[("x", true)])));
        assert!(!graph.put(&place, &node(&[("x", true)])));
        assert!(graph.is_blocked("x"));
        assert!(graph.put(&place, &node(&[("x", false), ("y", false)])));
        assert!(!graph.is_blocked("x"));
        assert!(!graph.put(&place, &node(&[("y", false)])));
        assert_eq!(graph.dependents("x").next(), None);
        graph.remove(&place, "me");
        assert_eq!(graph.dependents("y").next(), None);
    }
}
