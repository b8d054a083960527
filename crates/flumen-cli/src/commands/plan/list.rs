//! `flumen plan list`.

use clap::Args;
use flumen_pipeline::deploy::{PendingPlan, PendingPlans, Verdict};
use serde::Serialize;

use crate::{
    args::env,
    error::CommandError,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// List the plans that wait
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Names alone, for a script
  flumen plan list -o name")]
pub(crate) struct ListArgs {
    /// How to print the list
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

#[derive(Serialize)]
struct Line {
    name: String,
    #[serde(flatten)]
    pending: PendingPlan,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["NAME", "INSTALL", "COMPONENT", "CHANGES", "DECISION", "CREATED"], &["ARTIFACT"]);

    fn cells(&self) -> Vec<String> {
        let PendingPlan { subject, created, decision, plan } = &self.pending;
        let decision = decision.as_ref().map_or("", |decision| match decision.verdict {
            Verdict::Approve => "approved",
            Verdict::Deny | Verdict::DenyAndContinue => "denied",
            Verdict::Retry => "retry",
        });
        vec![
            self.name.clone(),
            subject.install.clone(),
            subject.component.clone(),
            plan.changes.len().to_string(),
            decision.to_owned(),
            created.to_string(),
            plan.artifact.to_string(),
        ]
    }

    fn name(&self) -> &str {
        &self.name
    }
}

pub(super) fn run(args: &ListArgs, ui: &Ui) -> Result<(), CommandError> {
    let plans = PendingPlans::new(&env::state()?)?.all()?;
    let lines: Vec<Line> =
        plans.into_iter().map(|(name, pending)| Line { name, pending }).collect();
    listing::print(&lines, args.output, ui)
}
