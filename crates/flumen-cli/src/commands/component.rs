//! `flumen component`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Work with components
#[derive(Debug, Args)]
pub(crate) struct ComponentArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Build,
    List,
    Show,
    Sync,
    Validate,
}

pub(crate) fn run(args: &ComponentArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure(format!("{:?} is not available yet", args.what)))
}
