//! `flumen delete`.

mod artifact;
mod inventory;

use clap::{Args, Subcommand};

use self::{artifact::ArtifactArgs, inventory::InventoryArgs};
use crate::{error::CommandError, ui::Ui};

/// Delete
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
    #[command(alias = "inv")]
    Inventory(Box<InventoryArgs>),
}

pub(crate) fn run(args: &DeleteArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact::run(args, ui),
        What::Inventory(args) => inventory::run(args, ui),
    }
}
