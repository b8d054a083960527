//! The server without a network: everything that answers calls.

use std::{
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use flumen_store::Store;

use crate::{Answer, ApiError, Call, Catalog, Resource, Target, auth::Rbac, fanout::Fanout, verbs};

/// Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub struct Api {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    catalog: RwLock<Arc<Catalog>>,
    fanout: Fanout,
    /// Who may do what, once someone else than the server itself can ask.
    rbac: OnceLock<Rbac>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// A server over a store, with the objects that every server has.
    pub async fn open(store: Store) -> Result<Self, ApiError> {
        let catalog = RwLock::new(Arc::new(Catalog::builtin()));
        let (fanout, rbac) = (Fanout::default(), OnceLock::new());
        let api = Self { inner: Arc::new(Inner { store, catalog, fanout, rbac }) };
        crate::boot::boot(&api).await?;
        Ok(api)
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

    pub(crate) fn fanout(&self) -> &Fanout {
        &self.inner.fanout
    }

    /// What is served right now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.inner.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Carries out a call of a user who may make it: authorisation has been asked before.
    pub async fn handle(&self, call: Call) -> Result<Answer, ApiError> {
        let resource = self.resource(&call.target)?;
        verbs::handle(self, &call, resource).await
    }

    /// The resource that a request is about.
    pub(crate) fn resource(&self, target: &Target) -> Result<Arc<Resource>, ApiError> {
        let catalog = self.catalog();
        let found = catalog.find(&target.group, &target.version, &target.resource);
        let missing = || ApiError::not_found(&target.group, &target.resource, &target.name);
        found.map(Arc::clone).ok_or_else(missing)
    }
}
