//! The server without a network: everything that answers calls.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use flumen_store::Store;
use parking_lot::RwLock;

use crate::{
    AdmissionPlugin, Answer, ApiError, Call, Catalog, Resource, Target,
    auth::Rbac,
    definitions::Definitions,
    fanout::Fanout,
    services::{Allocations, ServiceRange},
    verbs,
};

/// Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub struct Api {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Store,
    catalog: RwLock<Arc<Catalog>>,
    fanout: Fanout,
    services: Arc<Allocations>,
    definitions: Definitions,
    /// Who may do what, once someone else than the server itself can ask.
    rbac: OnceLock<Rbac>,
    disabled_plugins: Vec<AdmissionPlugin>,
}

/// What a server can be told.
#[derive(Clone, Debug, Default)]
pub struct ApiOptions {
    pub service_range: ServiceRange,
    /// Forgets all versions up to this one when the server starts.
    pub compact_at: Option<u64>,
    /// Rules that are not applied. Without controllers, nobody makes the accounts that pods run as.
    pub disabled_plugins: Vec<AdmissionPlugin>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// A server over a store, with the objects that every server has.
    pub async fn open(store: Store) -> Result<Self, ApiError> {
        Self::open_with(store, ApiOptions::default()).await
    }

    pub async fn open_with(store: Store, options: ApiOptions) -> Result<Self, ApiError> {
        let catalog = RwLock::new(Arc::new(Catalog::builtin()));
        let services = Arc::new(Allocations::new(options.service_range));
        let api = Self {
            inner: Arc::new(Inner {
                store,
                catalog,
                fanout: Fanout::default(),
                services,
                definitions: Definitions::default(),
                rbac: OnceLock::new(),
                disabled_plugins: options.disabled_plugins,
            }),
        };
        crate::boot::boot(&api).await?;
        crate::definitions::load(&api)?;
        if let Some(revision) = options.compact_at {
            let revision = revision.saturating_add(1).min(api.store().revision());
            api.store().compact(revision).map_err(ApiError::internal)?;
        }
        crate::compaction::start(&api);
        Ok(api)
    }

    /// A handle that does not keep the server alive.
    pub(crate) fn downgrade(&self) -> Weak<Inner> {
        Arc::downgrade(&self.inner)
    }

    pub(crate) fn upgrade(weak: &Weak<Inner>) -> Option<Self> {
        weak.upgrade().map(|inner| Self { inner })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    pub(crate) fn set_rbac(&self, rbac: Rbac) {
        // A second front in the same process knows the same roles.
        let _ = self.inner.rbac.set(rbac);
    }

    pub(crate) fn rbac(&self) -> Option<&Rbac> {
        self.inner.rbac.get()
    }

    pub(crate) fn services(&self) -> &Arc<Allocations> {
        &self.inner.services
    }

    pub(crate) fn disabled_plugins(&self) -> &[AdmissionPlugin] {
        &self.inner.disabled_plugins
    }

    pub(crate) fn definitions(&self) -> &Definitions {
        &self.inner.definitions
    }

    /// Serves what is defined now.
    pub(crate) fn refresh_catalog(&self) {
        let mut catalog = self.inner.catalog.write();
        *catalog = Arc::new(catalog.with_custom(self.definitions().resources()));
    }

    pub(crate) fn fanout(&self) -> &Fanout {
        &self.inner.fanout
    }

    /// What is served right now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.inner.catalog.read())
    }

    /// Waits until everything is on the disk and its file is closed. Whoever still has the server
    /// can read but change nothing.
    pub async fn close(&self) {
        self.store().close().await;
    }

    /// Carries out a call of a user who may make it: authorisation has been asked before.
    pub(crate) async fn handle(&self, call: Call) -> Result<Answer, ApiError> {
        let resource = self.resource(&call.target)?;
        verbs::handle(self, None, &call, resource).await
    }

    /// The resource that a request is about.
    pub(crate) fn resource(&self, target: &Target) -> Result<Arc<Resource>, ApiError> {
        let catalog = self.catalog();
        let found = catalog.find(&target.group, &target.version, &target.resource);
        let missing = || ApiError::not_found(&target.group, &target.resource, &target.name);
        found.map(Arc::clone).ok_or_else(missing)
    }
}
