//! `flumen get`.

mod inventory;
mod statuses;

use clap::{Args, Subcommand};

use self::{
    inventory::InventoryArgs,
    statuses::{ListingArgs, StatusArgs},
};
use crate::{
    args::{flux_site::SiteArgs, of_kind::OfKind},
    error::CommandError,
    ui::Ui,
};

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

    #[command(flatten)]
    listing: ListingArgs,

    #[command(flatten)]
    site: SiteArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(flatten)]
    Statuses(OfKind<StatusArgs>),
    #[command(visible_aliases = ["inventories", "inv"])]
    Inventory(Box<InventoryArgs>),
}

pub(crate) fn run(args: &GetArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Statuses(of_kind) => statuses::run(of_kind, args, ui),
        What::Inventory(own) => {
            args.listing.refuse_any()?;
            inventory::run(own, args.site.deadline(), ui)
        }
    }
}
