//! What has been applied: the ids of objects, and how they looked when they were.
//!
//! An inventory may name objects that are not there (a run died before it created them), but never
//! misses one that is: it grows before the first write of a run and shrinks after the last.

use std::{collections::BTreeMap, fmt, sync::Arc};

use flumen_diff::ObjectDigest;
use flumen_object::ObjectId;
use flumen_yaml::Node;

use crate::Watched;

/// The objects of one owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// In the order of applying. Keyed by the inventory's own notation, which leaves the version out: an
    /// object stays the same when it moves to another version of its kind.
    entries: BTreeMap<String, Entry>,
}

/// One object of an inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: ObjectId,
    /// What was sent and what came of it, when that is known.
    pub seen: Option<Seen>,
}

/// Digests of an object as it was sent and as it was on the cluster afterwards.
///
/// When both are the same again, applying the object again would change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub desired: ObjectDigest,
    pub live: ObjectDigest,
}

impl Seen {
    /// `watched` has a digest of its own for live objects.
    pub(crate) fn of(desired: &Node, live: &Node, watched: Option<&Arc<dyn Watched>>) -> Self {
        let uid = live.at(&["metadata", "uid"]).and_then(Node::as_str).unwrap_or_default();
        let digest =
            watched.map_or_else(|| ObjectDigest::of_live(live), |watched| watched.digest(live));
        Self { desired: ObjectDigest::of_desired(desired, uid), live: digest }
    }
}

/// Two digests with a space between them.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.desired, self.live)
    }
}

impl Seen {
    /// What [`Display`](fmt::Display) writes. Anything else is as good as nothing: the object is reviewed again.
    pub fn parse(text: &str) -> Option<Self> {
        let (desired, live) = text.split_once(' ')?;
        Some(Self { desired: desired.parse().ok()?, live: live.parse().ok()? })
    }
}

impl Inventory {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries in the order of applying.
    pub fn entries(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.entries.values().collect();
        entries.sort_by(|a, b| a.id.cmp_for_apply(&b.id));
        entries
    }

    pub fn get(&self, id: &ObjectId) -> Option<&Entry> {
        self.entries.get(&id.inventory_id())
    }

    pub fn contains(&self, id: &ObjectId) -> bool {
        self.entries.contains_key(&id.inventory_id())
    }

    pub fn insert(&mut self, entry: Entry) {
        self.entries.insert(entry.id.inventory_id(), entry);
    }

    /// Entries that `newer` does not have, in the order of deleting.
    pub fn stale<'a>(&'a self, newer: &Self) -> Vec<&'a Entry> {
        let mut stale: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|(id, _)| !newer.entries.contains_key(*id))
            .map(|(_, entry)| entry)
            .collect();
        stale.sort_by(|a, b| a.id.cmp_for_delete(&b.id));
        stale
    }

    /// These entries and those of `older` that are missing here.
    #[must_use]
    pub fn with_all_of(mut self, older: &Self) -> Self {
        for (id, entry) in &older.entries {
            self.entries.entry(id.clone()).or_insert_with(|| entry.clone());
        }
        self
    }

    /// Whether both name the same objects, whatever is known of them.
    pub fn covers(&self, other: &Self) -> bool {
        other.entries.keys().all(|id| self.entries.contains_key(id))
    }
}

impl FromIterator<Entry> for Inventory {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut inventory = Self::default();
        entries.into_iter().for_each(|entry| inventory.insert(entry));
        inventory
    }
}
