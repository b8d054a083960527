//! `flumen cache`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Work with the local store
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Prune,
}

pub(crate) fn run(args: &CacheArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure(format!("{:?} is not available yet", args.what)))
}
