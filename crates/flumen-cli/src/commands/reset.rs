//! `flumen reset`.

use clap::Args;

use crate::{
    args::home::HomeArgs,
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
};

/// Delete all that the cluster on this machine holds
///
/// Objects, artifacts, keys and the kubeconfig. The cluster has to be stopped.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  flumen down && flumen reset --yes")]
pub(crate) struct ResetArgs {
    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(crate) fn run(args: &ResetArgs, ui: &Ui) -> Result<(), CommandError> {
    let home = args.home.home()?;
    let question = format!("Delete everything in `{}`?", home.path().display());
    if !args.yes {
        if !ui.can_ask() {
            return Err(Failure::new("nobody is there to confirm").hint("say `--yes`").into());
        }
        if !block_on(async { Ok(ui.confirm(&question).await) })? {
            return Err(CommandError::failure("nothing was deleted"));
        }
    }
    ui.success(if home.reset()? { "deleted" } else { "nothing is there" });
    Ok(())
}
