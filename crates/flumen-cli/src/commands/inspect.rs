//! `flumen inspect`.

mod artifact;
mod inventory;

use clap::{Args, Subcommand};

use self::{artifact::ArtifactArgs, inventory::InventoryArgs};
use crate::{error::CommandError, ui::Ui};

/// Show what is in a registry, or on a cluster
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
    #[command(alias = "inv")]
    Inventory(Box<InventoryArgs>),
}

pub(crate) fn run(args: &InspectArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact::run(args, ui),
        What::Inventory(args) => inventory::run(args, ui),
    }
}
