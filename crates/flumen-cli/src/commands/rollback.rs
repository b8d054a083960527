//! `flumen rollback`.

use std::str::FromStr;

use clap::Args;
use flumen_apply::{Deployment, DeploymentResult};
use flumen_oci::Digest;

use crate::{
    args::{
        inventory::{SiteArgs, parse_name},
        run::RunArgs,
        source::StoreArgs,
    },
    deliver::{Order, deliver},
    error::{CommandError, Failure},
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
};

/// Bring back what was deployed before
///
/// Applies the artifact of an earlier deployment again, pulled by its digest from where it came then: nothing
/// is built. Without --to it is the last successful deployment of another artifact. Objects that came since
/// stay, unless --prune deletes them.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # To what was there before
  flumen rollback app -n apps --prune --wait

  # To a deployment of the history, after a look at what that means
  flumen history app -n apps
  flumen rollback app -n apps --to 3 --prune --dry-run=server
  flumen rollback app -n apps --to 3 --prune")]
pub(crate) struct RollbackArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// Deployment to go back to: its number in the history, or the digest of its artifact
    #[arg(long, value_name = "NUMBER|DIGEST")]
    to: Option<Earlier>,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    store: StoreArgs,

    #[command(flatten)]
    site: SiteArgs,
}

/// How a deployment is named.
#[derive(Clone, Debug)]
enum Earlier {
    Number(u64),
    Digest(Digest),
}

impl FromStr for Earlier {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digest = || text.parse().map(Self::Digest);
        text.parse()
            .map(Self::Number)
            .or_else(|_| digest())
            .map_err(|_| "expected a number of the history, or a digest such as sha256:…")
    }
}

pub(crate) fn run(args: &RollbackArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(interruptible(async {
        let site = args.site.open(&args.name, Some(args.run.review.timeout)).await?;
        let history = site.recorded().await?.history;
        let earlier = choose(&history, args.to.as_ref(), &args.name)?;
        ui.step(&format!("going back to deployment {}: {}", earlier.number, earlier.artifact));
        let mut delivery = args.store.reopen(&earlier.artifact).await.map_err(|error| {
            error.within(format!("going back to deployment {}", earlier.number))
        })?;
        delivery.source.clone_from(&earlier.source);
        delivery.revision.clone_from(&earlier.revision);
        let order = Order { rolled_back_to: Some(earlier.number), ..Order::default() };
        deliver(delivery, &site, &args.run, order, ui).await
    }))
}

/// The deployment to bring back, of a history whose newest stands first.
fn choose<'a>(
    history: &'a [Deployment],
    to: Option<&Earlier>,
    name: &str,
) -> Result<&'a Deployment, CommandError> {
    let current = history.first().map(|deployment| deployment.artifact.as_str());
    let is_meant = |deployment: &&Deployment| match to {
        Some(Earlier::Number(number)) => deployment.number == *number,
        Some(Earlier::Digest(digest)) => deployment.artifact.ends_with(&format!("@{digest}")),
        None => {
            deployment.result == DeploymentResult::Succeeded
                && Some(deployment.artifact.as_str()) != current
        }
    };
    history.iter().find(is_meant).ok_or_else(|| {
        let message = match to {
            None => {
                format!("the history of `{name}` has no successful deployment of another artifact")
            }
            Some(Earlier::Number(number)) => {
                format!("the history of `{name}` has no deployment {number}")
            }
            Some(Earlier::Digest(digest)) => {
                format!("the history of `{name}` has no deployment of {digest}")
            }
        };
        let hint =
            "`flumen history` lists the last ten deployments; `flumen apply` takes any artifact";
        Failure::new(message).hint(hint).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(number: u64, artifact: &str, result: DeploymentResult) -> Deployment {
        let artifact = format!("oci://registry.example.com/app@sha256:{}", artifact.repeat(64));
        Deployment { number, artifact, result, ..Deployment::default() }
    }

    #[track_caller]
    fn check(to: &str, expected: Option<u64>) {
        use DeploymentResult::{Failed, Succeeded};
        let history = [
            deployment(5, "c", Failed),
            deployment(4, "c", Succeeded),
            deployment(3, "b", Failed),
            deployment(2, "a", Succeeded),
            deployment(1, "b", Succeeded),
        ];
        let to = (!to.is_empty()).then(|| to.parse().expect("a deployment"));
        let chosen = choose(&history, to.as_ref(), "app").ok();
        assert_eq!(chosen.map(|deployment| deployment.number), expected);
    }

    #[test]
    fn the_last_other_artifact_that_worked_is_chosen() {
        check("", Some(2));
    }

    #[test]
    fn deployments_are_named_by_number_or_digest() {
        check("3", Some(3));
        check("9", None);
        check(&format!("sha256:{}", "b".repeat(64)), Some(3));
        check(&format!("sha256:{}", "d".repeat(64)), None);
        assert!("latest".parse::<Earlier>().is_err());
    }
}
