//! A registry without a network: its parts, and what keeps them in order.

use std::sync::Arc;

use axum::Router;

use crate::{
    Auth, Limits, Options, Report, Result, api,
    store::{Collected, Store},
    uploads::Uploads,
};

/// An open registry directory.
#[derive(Clone, Debug)]
pub struct Registry(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    store: Store,
    uploads: Uploads,
    auth: Auth,
    limits: Limits,
    report: Report,
}

impl Registry {
    /// Opens the directory, or makes it. What a crash left half done is removed.
    pub fn open(options: &Options) -> Result<Self> {
        let store = Store::open(&options.data, &options.limits)?;
        let uploads = Uploads::new(&store, &options.limits);
        Ok(Self(Arc::new(Parts {
            store,
            uploads,
            auth: options.auth.clone(),
            limits: options.limits.clone(),
            report: options.report.clone(),
        })))
    }

    /// The endpoints below `/v2/`.
    pub(crate) fn router(&self) -> Router {
        Router::new().fallback(api::handle).with_state(self.clone())
    }

    /// Removes blobs that no manifest names and that are old enough, and uploads that nobody
    /// continues. Safe beside running pushes.
    pub async fn collect_garbage(&self) -> Result<Collected> {
        self.uploads().expire(self.limits().upload_expiry);
        Ok(self.store().collect(self.limits().garbage_age).await?)
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn uploads(&self) -> &Uploads {
        &self.0.uploads
    }

    pub(crate) fn auth(&self) -> &Auth {
        &self.0.auth
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn report(&self) -> &Report {
        &self.0.report
    }
}
