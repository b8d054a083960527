//! `flumen cache`: what builds leave on this machine.

mod prune;

use clap::{Args, Subcommand};

use self::prune::PruneArgs;
use crate::{error::CommandError, ui::Ui};

/// Work with the local store
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Prune(PruneArgs),
}

pub(crate) fn run(args: &CacheArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Prune(args) => prune::run(args, ui),
    }
}
