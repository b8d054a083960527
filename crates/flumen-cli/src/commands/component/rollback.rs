//! `flumen component rollback`.

use clap::Args;
use flumen_apply::{Deployment, DeploymentResult};
use flumen_pipeline::deploy::Operation;

use super::{deploy::ApprovalArgs, run::deploy_all, site::SiteArgs};
use crate::{
    error::{CommandError, Failure},
    runtime::block_on,
    ui::Ui,
    view::listing::ListFormat,
};

/// Deploy an earlier artifact of a component again
///
/// Nothing is built: the artifact is the one that was deployed then, as long as the registry of the
/// install keeps it. It is planned, approved and applied like any other.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # To what was deployed before
  flumen component rollback web --install production

  # To a deployment that `flumen component history` lists
  flumen component rollback web --install production --to 3")]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    site: SiteArgs,

    /// Number of the deployment to go back to; the last good one with another artifact if absent
    #[arg(long, value_name = "NUMBER")]
    to: Option<u64>,

    #[command(flatten)]
    approval: ApprovalArgs,

    /// How to print the result
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

pub(crate) fn run(args: &RollbackArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let open = args.site.open(ui).await?;
        let component = open.only_component()?;
        let history = open.site().recorded(component.name()).await?.history;
        let pinned = target(&history, args.to).map_err(|failure| {
            failure.within(format!("looking for the past of `{}`", component.name()))
        })?;
        let wanted = args.approval.wanted(Operation::Deploy, &open.install, Some(pinned));
        deploy_all(&open, &wanted, args.output, ui).await
    })
}

/// The deployment to go back to. The history has the newest first.
fn target(history: &[Deployment], number: Option<u64>) -> Result<&Deployment, Failure> {
    let hint = "`flumen component history` lists what was deployed";
    if let Some(number) = number {
        let found = history.iter().find(|deployment| deployment.number == number);
        return found.ok_or_else(|| {
            Failure::new(format!("there is no deployment {number} in the history")).hint(hint)
        });
    }
    // The same content may have been built twice, under two tags.
    let digest = |deployment: &Deployment| {
        deployment.artifact.rsplit('@').next().unwrap_or_default().to_owned()
    };
    let now = history.first().map(digest);
    let good = history.iter().find(|deployment| {
        deployment.result == DeploymentResult::Succeeded && Some(digest(deployment)) != now
    });
    good.ok_or_else(|| Failure::new("no other artifact was deployed before").hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(number: u64, artifact: &str, result: DeploymentResult) -> Deployment {
        Deployment { number, artifact: artifact.to_owned(), result, ..Deployment::default() }
    }

    #[test]
    fn the_last_good_one_with_another_artifact_is_brought_back() {
        let history = [
            deployment(4, "again@c", DeploymentResult::Succeeded),
            deployment(3, "once@c", DeploymentResult::Succeeded),
            deployment(2, "b", DeploymentResult::Failed),
            deployment(1, "a", DeploymentResult::Succeeded),
        ];
        let number = |to| target(&history, to).map(|found| found.number).ok();
        assert_eq!(number(None), Some(1));
        assert_eq!(number(Some(2)), Some(2));
        assert_eq!(number(Some(9)), None);
        assert!(target(&history[..2], None).is_err());
    }
}
