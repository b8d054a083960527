//! `flumen delete inventory`.

use std::time::Duration;

use clap::{ArgAction, Args};
use flumen_apply::{Options, delete};

use crate::{
    args::{
        duration,
        inventory::{SiteArgs, parse_name},
    },
    error::CommandError,
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
    view::{refusals, run_report::RunReport},
};

/// Delete all objects of an inventory, and the inventory
///
/// In the reverse order of applying. Objects that are gone already are fine; objects that no longer bear the
/// labels of the inventory, or that are marked to be kept, stay. What cannot be deleted stays in the inventory,
/// so that the command can be run again.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Everything that belongs to it; waits until it is gone
  flumen delete inventory app -n apps

  # Without waiting for finalizers
  flumen delete inventory app -n apps --wait=false")]
pub(super) struct InventoryArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// Wait until the objects are gone
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1,
          require_equals = true, default_value = "true", default_missing_value = "true")]
    wait: bool,

    /// How long all of it may take
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    site: SiteArgs,
}

pub(super) fn run(args: &InventoryArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(interruptible(async {
        let site = args.site.open(&args.name, Some(args.timeout)).await?;
        site.recorded().await?;
        let options =
            Options { timeout: args.timeout, wait: args.wait, ..Options::new(site.owner.clone()) };
        let report = RunReport::new(ui);
        let deleted = delete(&site.client, &site.store(), &options, &report).await;
        report.finish()?;
        deleted.map_err(|error| refusals::told(error, ui))?;
        ui.success(&format!("inventory {} deleted", args.name));
        Ok(())
    }))
}
