//! `flumen down`.

use std::time::Duration;

use clap::Args;

use crate::{args::home::HomeArgs, error::CommandError, runtime::block_on, ui::Ui};

/// An instance ends within a second or two; this only ends the wait for one that hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// End the cluster on this machine
///
/// What it holds is kept; the next `flumen up` goes on with it.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  flumen down")]
pub(crate) struct DownArgs {
    #[command(flatten)]
    home: HomeArgs,
}

pub(crate) fn run(args: &DownArgs, ui: &Ui) -> Result<(), CommandError> {
    let home = args.home.home()?;
    block_on(async {
        if home.stop(PATIENCE).await? {
            ui.success("stopped");
        } else {
            ui.success("nothing runs");
        }
        Ok(())
    })
}
