//! `flumen component history`.

use clap::Args;
use flumen_apply::{Deployment, DeploymentResult};
use serde::Serialize;

use super::site::SiteArgs;
use crate::{
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// List what was deployed to an install, newest first
///
/// The cluster remembers the last ten deployments of each component, so the list is the same on every
/// machine.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # One component
  flumen component history web --install production")]
pub(crate) struct HistoryArgs {
    #[command(flatten)]
    site: SiteArgs,

    /// How to print the list
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

#[derive(Serialize)]
struct Line {
    component: String,
    #[serde(flatten)]
    deployment: Deployment,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) = (
        &["COMPONENT", "NUMBER", "TIME", "RESULT", "BY", "REVISION", "ARTIFACT"],
        &["BACK TO", "SOURCE", "MESSAGE"],
    );

    fn cells(&self) -> Vec<String> {
        let deployment = &self.deployment;
        vec![
            self.component.clone(),
            deployment.number.to_string(),
            deployment.at.clone(),
            match deployment.result {
                DeploymentResult::Succeeded => "succeeded".to_owned(),
                DeploymentResult::Failed => "failed".to_owned(),
            },
            deployment.by.clone(),
            deployment.revision.clone(),
            deployment.artifact.clone(),
            deployment.rolled_back_to.map(|number| number.to_string()).unwrap_or_default(),
            deployment.source.clone(),
            deployment.message.clone(),
        ]
    }

    fn name(&self) -> &str {
        &self.deployment.artifact
    }
}

pub(crate) fn run(args: &HistoryArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let open = args.site.open(ui).await?;
        let site = open.site();
        let mut lines = Vec::new();
        for component in &open.selected {
            let history = site.recorded(component).await?.history.into_iter();
            lines.extend(
                history.map(|deployment| Line { component: component.clone(), deployment }),
            );
        }
        listing::print(&lines, args.output, ui)
    })
}
