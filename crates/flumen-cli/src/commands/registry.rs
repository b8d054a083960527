//! `flumen registry`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Run a registry
#[derive(Debug, Args)]
pub(crate) struct RegistryArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Serve,
}

pub(crate) fn run(args: &RegistryArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure(format!("{:?} is not available yet", args.what)))
}
