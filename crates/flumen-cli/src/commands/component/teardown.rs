//! `flumen component teardown`.

use clap::Args;
use flumen_pipeline::deploy::Operation;

use super::{deploy::ApprovalArgs, run::deploy_all, site::SiteArgs};
use crate::{error::CommandError, runtime::block_on, ui::Ui, view::listing::ListFormat};

/// Remove components from an install
///
/// Deletes all objects of each component, in the reverse order of applying, and waits until they are
/// gone. What depends on others goes first. What is gone already is no failure.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # One component
  flumen component teardown web --install production

  # Everything, without asking
  flumen component teardown --install test --approve-all")]
pub(crate) struct TeardownArgs {
    #[command(flatten)]
    site: SiteArgs,

    #[command(flatten)]
    approval: ApprovalArgs,

    /// How to print the results
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

pub(crate) fn run(args: &TeardownArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let open = args.site.open(ui).await?;
        let wanted = args.approval.wanted(Operation::Teardown, &open.install, None);
        deploy_all(&open, &wanted, args.output, ui).await
    })
}
