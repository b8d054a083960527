//! `flumen get`.

mod inventory;
mod statuses;

use clap::{Args, Subcommand};

use self::{inventory::InventoryArgs, statuses::StatusArgs};
use crate::{error::CommandError, flux::OfKind, ui::Ui};

/// List what is on a cluster: Flux's objects and whether they are ready, and inventories
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # What is reconciled, and whether that went well
  flumen get kustomizations

  # What is not ready, whatever it is
  flumen get all -A --status-selector ready=false

  # Inventories
  flumen get inventories -A")]
pub(crate) struct GetArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(flatten)]
    Statuses(Box<OfKind<StatusArgs>>),
    #[command(visible_aliases = ["inventories", "inv"])]
    Inventory(Box<InventoryArgs>),
}

pub(crate) fn run(args: &GetArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Statuses(of_kind) => statuses::run(of_kind, ui),
        What::Inventory(args) => inventory::run(args, ui),
    }
}
