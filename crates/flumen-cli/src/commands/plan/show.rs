//! `flumen plan show`.

use clap::{Args, ValueEnum};
use flumen_pipeline::deploy::PendingPlans;

use crate::{args::env, error::CommandError, ui::Ui, view::listing::to_json};

/// Print a plan that waits
///
/// Values of secrets are masked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # For people
  flumen plan show production-web-1f0c2a9b7d3e

  # For tools that read plans
  flumen plan show production-web-1f0c2a9b7d3e -o json")]
pub(crate) struct ShowArgs {
    /// Name of the plan
    name: String,

    /// How to print it
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The objects that change, and how
    Text,
    /// The plan as approval tools read it
    Json,
}

pub(super) fn run(args: &ShowArgs, ui: &Ui) -> Result<(), CommandError> {
    let plan = PendingPlans::new(&env::state()?)?.get(&args.name)?.plan;
    match args.output {
        Format::Text => ui.data(plan.text.as_bytes()),
        Format::Json => ui.data(to_json(&plan.document)?.as_bytes()),
    }
}
