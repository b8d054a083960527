//! Kustomizations.
//!
//! [`reconciler`] connects them to the runtime: what they refer to, what wakes them, and how their statuses end.
//! [`work`] shows the steps of one reconciliation in their order: [`depends`] decides whether it may start, [`artifact`] and
//! [`build`] make objects of its source, [`store`] keeps the inventory in its status. [`finalize`] takes everything back, and
//! [`teardown`] decides when. What objects wait for is in [`late`] and [`providers`]; drift is in [`moved`], [`drift`] and
//! [`contest`], and what is known of applied objects in [`owned`].

mod artifact;
mod build;
mod changes;
mod contest;
mod decryption;
mod depends;
mod drift;
mod finalize;
mod flux_components;
mod health;
mod late;
mod memory;
mod moved;
mod outcome;
mod owned;
mod providers;
mod reconciler;
mod settings;
mod store;
mod target;
mod teardown;
mod unserved;
mod words;
mod work;

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use flumen_api::Kustomization;
use flumen_diff::Takeover;
use flumen_object::{GroupKind, ObjectId};
use flumen_runtime::{Key, Manager, Name, Runtime, Store, Trigger};
use tokio::time::timeout;

pub(crate) use self::reconciler::Kustomizations;
use self::{
    contest::Contests,
    memory::Memory,
    moved::Meanwhile,
    owned::{Hand, Owned},
    providers::Providers,
};
pub use self::{flux_components::is_flux_component, settings::owner};
use crate::{KUSTOMIZATION, options::KustomizeOptions, source::Sources};

/// Field manager of applied objects: Flux's, so that objects change hands without a write.
const MANAGER: &str = "kustomize-controller";
/// Prefix of the labels and annotations of applied objects.
const GROUP: &str = "kustomize.toolkit.fluxcd.io";
/// Longest wait for the first lists of applied objects on start. A kind may be gone, and its watch never start.
const SYNCED_WITHIN: Duration = Duration::from_secs(5);

/// What all Kustomizations share.
pub(crate) struct Kustomize {
    runtime: Arc<Runtime>,
    options: KustomizeOptions,
    kustomizations: Arc<Store<Kustomization>>,
    sources: Arc<Sources>,
    /// Applied objects.
    owned: Arc<Owned>,
    /// What earlier reconciliations have left.
    memory: Memory,
    /// Which Kustomization delivers which kind.
    providers: Providers,
    /// Objects that other managers change back.
    contests: Contests,
    /// Objects that changed during running reconciliations.
    meanwhile: Meanwhile,
    /// Managers whose fields become ours.
    takeover: Takeover,
}

impl Kustomize {
    pub(crate) fn new(
        manager: &mut Manager,
        options: KustomizeOptions,
        sources: &Arc<Sources>,
    ) -> Arc<Self> {
        let kustomizations = manager.store(&KUSTOMIZATION);
        let runtime = manager.runtime().clone();
        let takeover = settings::takeover(&options);
        let hand = Hand {
            manager: MANAGER.to_owned(),
            group: GROUP.to_owned(),
            takeover: takeover.clone(),
        };
        Arc::new_cyclic(|this: &Weak<Self>| Self {
            owned: Owned::new(runtime.clone(), hand, {
                let (this, runtime) = (this.clone(), runtime.clone());
                move |moved| {
                    let this = this.clone();
                    runtime.after_changes(move || {
                        if let Some(this) = this.upgrade() {
                            this.object_moved(moved);
                        }
                    });
                }
            }),
            memory: Memory::new(&sources.options.storage),
            providers: Providers::default(),
            contests: Contests::default(),
            meanwhile: Meanwhile::default(),
            sources: sources.clone(),
            kustomizations,
            takeover,
            runtime,
            options,
        })
    }

    /// Waits until the watches know the objects that former processes have applied, so that they are not applied again.
    pub(crate) async fn until_synced(&self) {
        for kustomization in self.kustomizations.all() {
            let inventory = kustomization.status.inventory.iter();
            for entry in inventory.flat_map(|inventory| &inventory.entries) {
                if let Ok(id) = ObjectId::from_inventory(&entry.id, &entry.v) {
                    self.owned.watch(&id.gvk);
                }
            }
        }
        if timeout(SYNCED_WITHIN, self.owned.until_synced()).await.is_err() {
            tracing::info!("some kinds cannot be watched yet: their objects are read one by one");
        }
    }

    /// Wakes the Kustomizations whose last reconciliation gave up waiting for a kind.
    pub(crate) fn wake_missing(&self, kind: &GroupKind) {
        for (namespace, name) in self.providers.missing(kind) {
            self.runtime.queue.add(Key::new(&KUSTOMIZATION, namespace, name), Trigger::Due);
        }
    }

    fn get(&self, (namespace, name): &Name) -> Option<Arc<Kustomization>> {
        self.kustomizations.get(namespace, name)?.ok()
    }
}
