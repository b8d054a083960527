//! Fetching what kustomizations name by URL.

use std::sync::{Arc, atomic::AtomicBool};

use flumen_git::{Limits, Remotes};
use flumen_kustomize::RemoteTrees;

/// Fetches within the usual limits, until the command ends.
pub(crate) fn fetching() -> Arc<dyn RemoteTrees> {
    let never_cancelled = Arc::new(AtomicBool::new(false));
    Arc::new(Remotes::new(Limits::default(), never_cancelled))
}
