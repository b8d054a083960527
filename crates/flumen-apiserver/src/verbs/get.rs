//! One object.

use std::time::Duration;

use flumen_store::{Revision, Store};

use super::{Request, list::parse_version};
use crate::{
    Answer, ApiError,
    storage::{self, Stored},
};

/// How long a read waits for a version that is not there yet.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) async fn get(request: &Request<'_>) -> Result<Answer, ApiError> {
    let stored = stored(request).await?;
    Ok(request.answer(200, stored.object))
}

/// The object that a request names.
pub(crate) async fn stored(request: &Request<'_>) -> Result<Stored, ApiError> {
    let name = &request.target().name;
    let version = request.call.query.get("resourceVersion").unwrap_or_default();
    wait_for(request.api.store(), parse_version(version)?).await?;
    let stored = storage::get(request.api.store(), &request.key(name))?;
    let mut stored = stored.ok_or_else(|| request.not_found(name))?;
    request.load(std::slice::from_mut(&mut stored.object)).await?;
    Ok(stored)
}

/// Waits until a version is there, though not for long.
pub(crate) async fn wait_for(store: &Store, wanted: Revision) -> Result<(), ApiError> {
    if wanted <= store.revision() {
        return Ok(());
    }
    let mut watch =
        store.watch("", store.revision()).map_err(|error| storage::read_error(&error))?;
    let arrived = async { while store.revision() < wanted && watch.next().await.is_ok() {} };
    // Whether the wait was long enough shows in the revision.
    let _ = tokio::time::timeout(PATIENCE, arrived).await;
    if wanted <= store.revision() {
        return Ok(());
    }
    Err(storage::too_large(wanted, store.revision()))
}
