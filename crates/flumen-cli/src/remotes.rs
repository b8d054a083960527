//! Fetching what kustomizations name by URL.

use std::sync::{Arc, atomic::AtomicBool};

use flumen_fs::RemoteTrees;
use flumen_git::{Limits, Remotes};

/// Fetches within the usual limits, until the command ends.
pub(crate) fn fetching() -> Arc<dyn RemoteTrees> {
    let never_cancelled = Arc::new(AtomicBool::new(false));
    Arc::new(Remotes::new(Limits::default(), never_cancelled))
}
