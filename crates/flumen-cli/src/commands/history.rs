//! `flumen history`.

use clap::Args;
use flumen_apply::{Deployment, DeploymentResult};
use serde::Serialize;

use crate::{
    args::inventory::{SiteArgs, parse_name},
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// Show what was deployed into an inventory: the last ten deployments, newest first
///
/// The history is kept in the cluster beside the inventory, so that it is the same from every machine.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # Who deployed what, when, and how it ended
  flumen history app -n apps

  # The artifact that is deployed now
  flumen history app -n apps -o name | head -1")]
pub(crate) struct HistoryArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// How to print it
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,

    #[command(flatten)]
    site: SiteArgs,
}

/// A deployment as it is printed.
#[derive(Serialize)]
#[serde(transparent)]
struct Line(Deployment);

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) = (
        &["NUMBER", "DIGEST", "REVISION", "BY", "AT", "RESULT"],
        &["ARTIFACT", "SOURCE", "ROLLED BACK TO", "MESSAGE"],
    );

    fn cells(&self) -> Vec<String> {
        let Self(deployment) = self;
        let digest = deployment.artifact.rsplit_once('@').map_or("", |(_, digest)| digest);
        vec![
            deployment.number.to_string(),
            digest.to_owned(),
            deployment.revision.clone(),
            deployment.by.clone(),
            deployment.at.clone(),
            result(deployment.result).to_owned(),
            deployment.artifact.clone(),
            deployment.source.clone(),
            deployment.rolled_back_to.map(|number| number.to_string()).unwrap_or_default(),
            deployment.message.clone(),
        ]
    }

    fn name(&self) -> &str {
        &self.0.artifact
    }
}

const fn result(result: DeploymentResult) -> &'static str {
    match result {
        DeploymentResult::Succeeded => "succeeded",
        DeploymentResult::Failed => "failed",
    }
}

pub(crate) fn run(args: &HistoryArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let site = args.site.open(&args.name, None).await?;
        let lines: Vec<Line> = site.recorded().await?.history.into_iter().map(Line).collect();
        listing::print(&lines, args.output, ui)
    })
}
