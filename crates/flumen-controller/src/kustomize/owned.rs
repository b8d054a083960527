//! Applied objects, known by one watch for each kind.
//!
//! A watch is restricted to objects with the labels of an owner. Of each object only a digest and its health are kept,
//! because there are many of them and they can be large. A run asks [`Watched`] whether something has changed, and waits
//! here for health instead of opening a watch of its own.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::{Arc, Weak},
};

use flumen_apply::{Marks, Sight, Sighting, Watched};
use flumen_diff::{ObjectDigest, Takeover, last_manager_but};
use flumen_health::{Health, HealthRules};
use flumen_kube::Resource;
use flumen_object::{Gvk, ObjectId};
use flumen_runtime::{CrdWait, Observer, Runtime, Scope, follow, version};
use flumen_yaml::Node;
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{Notify, mpsc::UnboundedSender},
    task::JoinSet,
};

/// The marks of objects that were applied, and the manager that applied them.
#[derive(Clone, Debug)]
pub(super) struct Hand {
    pub(super) manager: String,
    pub(super) group: String,
    pub(super) takeover: Takeover,
}

/// An object that is no longer as it was applied, or is gone.
#[derive(Debug)]
pub(super) struct Moved {
    /// Namespace and name of the owner, from the object's labels.
    pub(super) owner: (String, String),
    pub(super) id: ObjectId,
    /// Who has changed it, as far as it tells; `None` when it is gone.
    pub(super) by: Option<String>,
}

pub(super) struct Owned {
    runtime: Arc<Runtime>,
    hand: Hand,
    kinds: Mutex<BTreeMap<Gvk, Seen>>,
    moved: Box<dyn Fn(Moved) + Send + Sync>,
    watches: Mutex<JoinSet<()>>,
    /// A kind is known now.
    synced: Notify,
    /// For the watches, which must not keep this alive.
    this: Weak<Self>,
}

/// The objects of one kind.
#[derive(Default)]
struct Seen {
    /// Whether all objects are known.
    synced: bool,
    objects: HashMap<(String, String), Known>,
    /// Who waits for objects, also for those that are gone and may come again.
    followers: HashMap<(String, String), Vec<UnboundedSender<Sighting>>>,
}

impl Seen {
    fn tell(&mut self, place: &(String, String), sighting: impl Fn() -> Sighting) {
        if let Some(followers) = self.followers.get_mut(place) {
            followers.retain(|follower| follower.send(sighting()).is_ok());
        }
    }
}

struct Known {
    version: u64,
    marks: Marks,
    digest: ObjectDigest,
    health: Health,
    /// Nobody has changed it since we wrote it.
    is_as_left: bool,
    /// The cluster deletes it when its time is over, which is no drift.
    is_over: bool,
}

impl Known {
    /// Whether a state of the object is later than what is known. `is_ours` says that we wrote it: the watch may have told
    /// of it before the answer came.
    fn is_news(&mut self, version: u64, is_ours: bool) -> bool {
        self.is_as_left |= is_ours && self.version <= version;
        self.version < version || version == u64::MAX
    }
}

impl Owned {
    pub(super) fn new(
        runtime: Arc<Runtime>,
        hand: Hand,
        moved: impl Fn(Moved) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            runtime,
            hand,
            kinds: Mutex::default(),
            moved: Box::new(moved),
            watches: Mutex::default(),
            synced: Notify::new(),
            this: this.clone(),
        })
    }

    fn kinds(&self) -> MutexGuard<'_, BTreeMap<Gvk, Seen>> {
        self.kinds.lock()
    }

    /// Whether all of an object's kind is known, and the object as it was last seen.
    pub(super) fn health(&self, id: &ObjectId) -> Option<Health> {
        let kinds = self.kinds();
        let seen = kinds.get(&id.gvk).filter(|seen| seen.synced)?;
        seen.objects.get(&place(id)).map(|known| known.health.clone())
    }

    /// Whether an object is other than a pass has left it with this digest, as far as it was seen.
    pub(super) fn differs(&self, id: &ObjectId, left: ObjectDigest) -> bool {
        let kinds = self.kinds();
        let known = kinds.get(&id.gvk).and_then(|seen| seen.objects.get(&place(id)));
        // A pass that fails writes, too, and then nobody remembers the digest.
        known.is_none_or(|known| known.digest != left && !known.is_as_left)
    }

    /// Forgets those who no longer wait for objects.
    pub(super) fn forget_followers(&self, ids: impl Iterator<Item = ObjectId>) {
        let mut kinds = self.kinds();
        for id in ids {
            let Some(seen) = kinds.get_mut(&id.gvk) else { continue };
            let place = place(&id);
            if let Some(followers) = seen.followers.get_mut(&place) {
                followers.retain(|follower| !follower.is_closed());
                if followers.is_empty() {
                    seen.followers.remove(&place);
                }
            }
        }
    }

    /// Begins to watch a kind, if nobody does yet.
    pub(super) fn watch(&self, gvk: &Gvk) {
        let mut kinds = self.kinds();
        if kinds.contains_key(gvk) {
            return;
        }
        kinds.insert(gvk.clone(), Seen::default());
        drop(kinds);
        let scope = Scope {
            gvk: gvk.clone(),
            namespace: None,
            selector: Some(format!("{}/name", self.hand.group)),
        };
        let observer = KindObserver { owned: self.this.clone(), gvk: gvk.clone() };
        let cluster = self.runtime.watcher.clone();
        self.watches.lock().spawn(follow(cluster, scope, observer));
    }

    /// Waits until all objects of all kinds that are watched are known.
    pub(super) async fn until_synced(&self) {
        loop {
            let next = self.synced.notified();
            if self.kinds().values().all(|seen| seen.synced) {
                return;
            }
            next.await;
        }
    }

    /// Takes note of an object. `is_ours` says that we wrote it, so that it has not moved.
    fn saw(&self, gvk: &Gvk, object: &Node, is_ours: bool) {
        let version = version(object);
        let id = ObjectId::of(object);
        let place = place(&id);
        if let Some(seen) = self.kinds().get_mut(gvk)
            && let Some(known) = seen.objects.get_mut(&place)
            && !known.is_news(version, is_ours)
        {
            return;
        }
        let digest = self.digest(object);
        let health = HealthRules::default().assess(object, &[], self.runtime.clock.now());
        let marks = Marks::of(object, &self.hand.group);
        let owner = marks.owner.clone();
        let mut kinds = self.kinds();
        let seen = kinds.entry(gvk.clone()).or_default();
        let known = seen.objects.entry(place.clone()).or_insert_with(|| Known {
            version: 0,
            marks: Marks::default(),
            digest,
            health: Health::not_found(),
            is_as_left: false,
            is_over: false,
        });
        if !known.is_news(version, is_ours) {
            return;
        }
        let is_new = known.version == 0;
        let has_moved = known.digest != digest || known.marks.uid != marks.uid;
        let former = std::mem::replace(&mut known.marks, marks).owner;
        known.version = version;
        known.digest = digest;
        known.is_as_left = is_ours || known.is_as_left && !has_moved;
        known.is_over = is_over(gvk, object);
        if known.health != health {
            known.health = health.clone();
            seen.tell(&place, || sighting(id.inventory_id(), &health, Some(digest)));
        }
        drop(kinds);
        if has_moved && !is_ours && !is_new {
            // Both the one that lost it and the one that has it now.
            let former = former.filter(|former| Some(former) != owner.as_ref());
            for owner in former.into_iter().chain(owner) {
                let by = last_manager_but(object, &self.hand.manager).map(str::to_owned);
                (self.moved)(Moved { owner, id: id.clone(), by });
            }
        }
    }

    fn gone(&self, gvk: &Gvk, place: &(String, String)) {
        let mut kinds = self.kinds();
        let Some(seen) = kinds.get_mut(gvk) else { return };
        let Some(known) = seen.objects.remove(place) else { return };
        let (namespace, name) = place;
        let id = ObjectId {
            gvk: gvk.clone(),
            namespace: namespace.as_str().into(),
            name: name.as_str().into(),
        };
        seen.tell(place, || sighting(id.inventory_id(), &Health::not_found(), None));
        drop(kinds);
        if let Some(owner) = known.marks.owner.filter(|_| !known.is_over) {
            (self.moved)(Moved { owner, id, by: None });
        }
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("hand", &self.hand).finish_non_exhaustive()
    }
}

impl Watched for Owned {
    fn digest(&self, live: &Node) -> ObjectDigest {
        let Hand { manager, group, takeover } = &self.hand;
        ObjectDigest::of_ownership(live, manager, takeover, group)
    }

    fn sight(&self, id: &ObjectId) -> Option<Sight> {
        let kinds = self.kinds();
        let seen = kinds.get(&id.gvk).filter(|seen| seen.synced)?;
        let known = seen.objects.get(&place(id))?;
        Some(Sight { marks: known.marks.clone(), digest: known.digest })
    }

    fn has_seen_kind(&self, id: &ObjectId) -> bool {
        self.kinds().keys().any(|gvk| gvk.group == id.gvk.group && gvk.kind == id.gvk.kind)
    }

    fn looks(&self, kinds: &BTreeSet<Gvk>) -> Option<BoxStream<'static, ()>> {
        let look = |mut wait: CrdWait| async move {
            wait.until_next_look().await;
            Some(((), wait))
        };
        Some(stream::unfold(self.runtime.watcher.crds.wait_for(kinds), look).boxed())
    }

    fn wrote(&self, resource: &Resource, object: &Node) {
        self.watch(&resource.gvk);
        self.saw(&resource.gvk, object, true);
    }

    fn follow(
        &self,
        resource: &Resource,
        id: &ObjectId,
        rules: &HealthRules,
        sender: &UnboundedSender<Sighting>,
    ) -> bool {
        // A Pod's health changes with the time alone, and that of some workloads with their Pods.
        if !rules.is_built_in(&id.gvk) || id.gvk.kind == "Pod" {
            return false;
        }
        let mut kinds = self.kinds();
        let Some(seen) = kinds.get_mut(&resource.gvk) else { return false };
        let Some(known) = seen.objects.get(&place(id)) else { return false };
        let _ = sender.send(sighting(id.inventory_id(), &known.health, Some(known.digest)));
        // One that is well may fall ill before the others are well.
        let followers = seen.followers.entry(place(id)).or_default();
        followers.retain(|follower| !follower.is_closed());
        followers.push(sender.clone());
        true
    }
}

/// Tells [`Owned`] of one kind.
struct KindObserver {
    owned: Weak<Owned>,
    gvk: Gvk,
}

impl Observer for KindObserver {
    fn listed(&self, items: Vec<Node>, resource_version: &str) {
        let Some(owned) = self.owned.upgrade() else { return };
        let listed_at = resource_version.parse().unwrap_or(u64::MAX);
        let there: std::collections::HashSet<(String, String)> =
            items.iter().map(|item| place(&ObjectId::of(item))).collect();
        let gone: Vec<(String, String)> = {
            let kinds = owned.kinds();
            let known = kinds.get(&self.gvk).into_iter().flat_map(|seen| &seen.objects);
            let gone =
                known.filter(|(place, known)| !there.contains(*place) && known.version < listed_at);
            gone.map(|(place, _)| place.clone()).collect()
        };
        for place in gone {
            owned.gone(&self.gvk, &place);
        }
        for item in &items {
            owned.saw(&self.gvk, item, false);
        }
        owned.kinds().entry(self.gvk.clone()).or_default().synced = true;
        owned.synced.notify_waiters();
    }

    fn applied(&self, object: &Node) {
        if let Some(owned) = self.owned.upgrade() {
            owned.saw(&self.gvk, object, false);
        }
    }

    fn deleted(&self, object: &Node) {
        let Some(owned) = self.owned.upgrade() else { return };
        let place = place(&ObjectId::of(object));
        // We may have created it again, and know that already.
        let is_known_anew = {
            let kinds = owned.kinds();
            let known = kinds.get(&self.gvk).and_then(|seen| seen.objects.get(&place));
            known.is_some_and(|known| known.version > version(object))
        };
        if !is_known_anew {
            owned.gone(&self.gvk, &place);
        }
    }
}

/// Whether an object has done its work, and is deleted by the cluster after a time.
fn is_over(gvk: &Gvk, object: &Node) -> bool {
    let is = |condition: &Node, key, texts: &[&str]| {
        condition.at(&[key]).and_then(Node::as_str).is_some_and(|text| texts.contains(&text))
    };
    let has_ended = |condition: &Node| {
        is(condition, "type", &["Complete", "Failed"]) && is(condition, "status", &["True"])
    };
    let conditions = object.at(&["status", "conditions"]).and_then(Node::as_seq);
    gvk.group == "batch"
        && gvk.kind == "Job"
        && object.at(&["spec", "ttlSecondsAfterFinished"]).is_some()
        && conditions.is_some_and(|conditions| conditions.iter().any(has_ended))
}

fn place(id: &ObjectId) -> (String, String) {
    (id.namespace.to_string(), id.name.to_string())
}

fn sighting(id: String, health: &Health, digest: Option<ObjectDigest>) -> Sighting {
    Sighting { id, health: health.clone(), digest, unready: None }
}
