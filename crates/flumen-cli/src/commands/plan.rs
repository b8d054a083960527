//! `flumen plan`: plans that wait for somebody's decision.

mod decide;
mod list;
mod show;

use clap::{Args, Subcommand};

use self::{
    decide::{ApproveArgs, DenyArgs, RetryArgs},
    list::ListArgs,
    show::ShowArgs,
};
use crate::{error::CommandError, ui::Ui};

/// Decide about plans
///
/// `flumen component deploy` stores a plan when nobody is there to be asked. A decision is carried out
/// by the next run of the same command, once; if more would change by then, it asks again.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Approve(ApproveArgs),
    Deny(DenyArgs),
    List(ListArgs),
    Retry(RetryArgs),
    Show(ShowArgs),
}

pub(crate) fn run(args: &PlanArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Approve(args) => decide::approve(args, ui),
        What::Deny(args) => decide::deny(args, ui),
        What::List(args) => list::run(args, ui),
        What::Retry(args) => decide::retry(args, ui),
        What::Show(args) => show::run(args, ui),
    }
}
