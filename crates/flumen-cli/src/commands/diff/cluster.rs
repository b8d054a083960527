//! `flumen diff` of an inventory: what is delivered against what is on the cluster.

use clap::Args;
use flumen_apply::{Options, Prune, plan};
use flumen_oci::Reference;

use crate::{
    args::{
        inventory::{SiteArgs, parse_name},
        run::ReviewArgs,
        source::SourceArgs,
    },
    error::CommandError,
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
    view::{plan_text, refusals},
};

/// Show how a cluster differs from what should be on it, in kustomizer's words
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen diff inventory app -n apps -k overlays/production")]
pub(super) struct NamedArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    pub(super) name: String,

    #[command(flatten)]
    pub(super) how: HowArgs,
}

#[derive(Debug, Args)]
pub(super) struct HowArgs {
    /// Without effect, as in kustomizer: what pruning would delete is always shown
    #[arg(long, hide = true)]
    prune: bool,

    #[command(flatten)]
    review: ReviewArgs,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    site: SiteArgs,
}

pub(super) fn run(
    name: &str,
    url: Option<&Reference>,
    args: &HowArgs,
    ui: &Ui,
) -> Result<(), CommandError> {
    block_on(interruptible(async {
        let delivery = args.source.open(url, ui).await?;
        let site = args.site.open(name, Some(args.review.timeout)).await?;
        let options = Options { prune: Prune::Unguarded, ..args.review.options(&site) };
        let plan = plan(&site.client, delivery.objects, &site.store(), &options).await?;
        ui.styled_data(&plan_text::difference(&plan))?;
        refusals::planned(&plan.errors(), ui)?;
        if plan.is_noop() { Ok(()) } else { Err(CommandError::Different) }
    }))
}
