//! `flumen wait`.

use std::time::Duration;

use clap::{Args, Subcommand};
use flumen_apply::WaitOptions;

use crate::{
    args::{
        duration,
        inventory::{SiteArgs, parse_name},
    },
    error::CommandError,
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
    view::run_report::RunReport,
};

/// Wait
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(alias = "inv")]
    Inventory(Box<InventoryArgs>),
}

/// Wait until all objects of an inventory are healthy
///
/// Exit status 1 if one of them has failed, or is not healthy in time; the message names each and says why.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # After an `apply` without `--wait`
  flumen wait inventory app -n apps --timeout 5m")]
struct InventoryArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// How long to wait
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    site: SiteArgs,
}

pub(crate) fn run(args: &WaitArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Inventory(args) => block_on(interruptible(wait(args, ui))),
    }
}

async fn wait(args: &InventoryArgs, ui: &Ui) -> Result<(), CommandError> {
    let site = args.site.open(&args.name, Some(args.timeout)).await?;
    let recorded = site.recorded().await?;
    let options = WaitOptions::of_owner(&site.owner, args.timeout);
    let report = RunReport::new(ui);
    let waited = flumen_apply::wait(&site.client, &recorded.inventory, &options, &report).await;
    if waited.is_err() {
        report.last_words();
    }
    report.finish()?;
    waited?;
    ui.success(&format!("all {} objects are healthy", recorded.inventory.len()));
    Ok(())
}
