//! `flumen plan approve`, `deny` and `retry`.

use clap::Args;
use flumen_pipeline::deploy::{Decision, PendingPlans, Verdict};
use jiff::Timestamp;

use crate::{args::env, error::CommandError, ui::Ui};

/// Approve a plan
///
/// The approval is for what the plan says and no more, and it is used once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # What the plan says, then the approval, then the deploy
  flumen plan show production-web-1f0c2a9b7d3e
  flumen plan approve production-web-1f0c2a9b7d3e
  flumen component deploy web --install production")]
pub(crate) struct ApproveArgs {
    /// Name of the plan
    name: String,
}

/// Deny a plan
///
/// The next run ends there, with all that would follow.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Leave this component out and go on with the others
  flumen plan deny production-web-1f0c2a9b7d3e --continue")]
pub(crate) struct DenyArgs {
    /// Name of the plan
    name: String,

    /// Go on with the other components
    #[arg(long = "continue")]
    go_on: bool,
}

/// Have a plan made again
///
/// The next run plans anew and asks again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen plan retry production-web-1f0c2a9b7d3e")]
pub(crate) struct RetryArgs {
    /// Name of the plan
    name: String,
}

pub(super) fn approve(args: &ApproveArgs, ui: &Ui) -> Result<(), CommandError> {
    decide(&args.name, Verdict::Approve, "approved", ui)
}

pub(super) fn deny(args: &DenyArgs, ui: &Ui) -> Result<(), CommandError> {
    let verdict = if args.go_on { Verdict::DenyAndContinue } else { Verdict::Deny };
    decide(&args.name, verdict, "denied", ui)
}

pub(super) fn retry(args: &RetryArgs, ui: &Ui) -> Result<(), CommandError> {
    decide(&args.name, Verdict::Retry, "to be made again", ui)
}

fn decide(name: &str, verdict: Verdict, done: &str, ui: &Ui) -> Result<(), CommandError> {
    let decision = Decision { verdict, by: env::author(), at: Timestamp::now() };
    let pending = PendingPlans::new(&env::state()?)?.decide(name, decision)?;
    ui.success(&format!(
        "{name} is {done}; the next run for {} goes on",
        pending.subject.component
    ));
    Ok(())
}
