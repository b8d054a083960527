//! Builds from what the command line names.

use std::sync::{Arc, atomic::AtomicBool};

use flumen_build::{Built, Inputs, Options};
use flumen_fs::{DiskTree, RemoteTrees};
use flumen_git::{Limits, Remotes};

use crate::{args::env, error::CommandError, ui::Ui};

/// Fetches what kustomizations name by URL within the usual limits, until the command ends.
pub(crate) fn fetching() -> Arc<dyn RemoteTrees> {
    let never_cancelled = Arc::new(AtomicBool::new(false));
    Arc::new(Remotes::new(Limits::default(), never_cancelled))
}

/// Builds objects and prints the warnings.
pub(crate) fn build(inputs: &Inputs, ui: &Ui) -> Result<Built, CommandError> {
    let options = Options { remotes: env::remote().then(fetching), ..Options::default() };
    // Code that fetches blocks.
    let built =
        tokio::task::block_in_place(|| flumen_build::build(Arc::new(DiskTree), inputs, &options))?;
    ui.warnings(&built.warnings);
    Ok(built)
}
