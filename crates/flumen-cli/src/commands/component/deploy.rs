//! `flumen component deploy`.

use clap::Args;
use flumen_apply::Deployment;
use flumen_pipeline::{
    deploy::Operation,
    install::{Approvals, Install},
};

use super::{
    run::{Wanted, deploy_all},
    site::SiteArgs,
};
use crate::{error::CommandError, runtime::block_on, ui::Ui, view::listing::ListFormat};

/// Deploy the last builds of components to an install
///
/// Each artifact is copied to the registry of the install, its signature is checked as the install
/// wants it, templates are filled in, and what would change is shown. After approval it is applied.
/// Components go in the order of their dependencies, unrelated ones side by side. A plan that
/// changes nothing is not applied.
///
/// Without a terminal nobody can be asked: the plan is stored, the command ends with status 3, and
/// `flumen plan approve NAME` decides. The next run of the same command carries the decision out.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Everything in ./components to the install of installs/production.toml
  flumen component deploy --install production

  # One component, without asking
  flumen component deploy web --install production --approve-all

  # What would change
  flumen component deploy --install production --plan-only")]
pub(crate) struct DeployArgs {
    #[command(flatten)]
    site: SiteArgs,

    #[command(flatten)]
    approval: ApprovalArgs,

    /// How to print the results
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

/// Who decides about plans.
#[derive(Debug, Args)]
pub(super) struct ApprovalArgs {
    /// Carry out all plans without asking
    #[arg(short = 'y', long, conflicts_with = "plan_only")]
    approve_all: bool,

    /// Show plans and carry out none
    #[arg(long)]
    plan_only: bool,

    /// With `--approve-all`, delete what is gone from a component even if that is most of it
    #[arg(long)]
    allow_large_prune: bool,
}

impl ApprovalArgs {
    /// What is wanted, where the command line wins over the install.
    pub(super) const fn wanted<'a>(
        &self,
        operation: Operation,
        install: &Install,
        pinned: Option<&'a Deployment>,
    ) -> Wanted<'a> {
        let rule = match (self.approve_all, self.plan_only) {
            (true, _) => Approvals::ApproveAll,
            (_, true) => Approvals::PlanOnly,
            (false, false) => install.approvals,
        };
        Wanted { operation, rule, allows_large_prune: self.allow_large_prune, pinned }
    }
}

pub(crate) fn run(args: &DeployArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let open = args.site.open(ui).await?;
        let wanted = args.approval.wanted(Operation::Deploy, &open.install, None);
        deploy_all(&open, &wanted, args.output, ui).await
    })
}
