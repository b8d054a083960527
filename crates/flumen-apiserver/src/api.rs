//! The server without a network: everything that answers calls.

use std::sync::{Arc, PoisonError, RwLock};

use crate::{Answer, ApiError, Call, Catalog};

/// Cheap to clone; all clones are the same server.
#[derive(Clone, Debug)]
pub struct Api {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    catalog: RwLock<Arc<Catalog>>,
}

impl Default for Api {
    fn default() -> Self {
        let catalog = RwLock::new(Arc::new(Catalog::builtin()));
        Self { inner: Arc::new(Inner { catalog }) }
    }
}

impl Api {
    /// What is served right now.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.inner.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Carries out a call of a user who may make it: authorisation has been asked before.
    #[expect(clippy::unused_async, reason = "writes wait for the store")]
    pub async fn handle(&self, call: Call) -> Result<Answer, ApiError> {
        let target = &call.target;
        Err(ApiError::not_found(&target.group, &target.resource, &target.name))
    }
}
