//! `flumen component drift`.

use std::{collections::BTreeSet, time::Duration};

use clap::Args;
use flumen_pipeline::{
    deploy::Operation, install::Approvals, job::CancellationToken, schedule::Schedules,
};
use jiff::Timestamp;

use super::{
    interrupt::cancelled_by_the_user,
    run::{Wanted, deploy, deploy_all},
    site::{OpenSite, SiteArgs},
};
use crate::{error::CommandError, listing::ListFormat, runtime::block_on, ui::Ui};

/// How long a change of a schedule may stay unnoticed.
const RELOAD: Duration = Duration::from_secs(30);

/// Look whether an install still is what was deployed
///
/// Compares the cluster with the artifact that was deployed last, and changes nothing. The status is 1
/// if anything has drifted.
///
/// With `--watch` the command stays and looks whenever the `drift_schedule` of a component says so, until
/// it is stopped. A changed schedule takes effect with the next build of its component.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # All components, now
  flumen component drift --install production

  # By their schedules, until it is stopped
  flumen component drift --install production --watch")]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    site: SiteArgs,

    /// Stay, and look as the schedules of the components say
    #[arg(long)]
    watch: bool,

    /// How to print the results
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

const WANTED: Wanted<'_> = Wanted {
    operation: Operation::CheckDrift,
    rule: Approvals::PlanOnly,
    allows_large_prune: false,
    pinned: None,
};

pub(crate) fn run(args: &DriftArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(async {
        let mut open = args.site.open(ui).await?;
        if !args.watch {
            return deploy_all(&open, &WANTED, args.output, ui).await;
        }
        let cancel = cancelled_by_the_user();
        let mut schedules = Schedules::new(&open.install.id);
        while !cancel.is_cancelled() {
            args.site.reload(&mut open, ui)?;
            let due = wait_for_due(&open, &mut schedules, &cancel).await?;
            if due.is_empty() {
                continue;
            }
            let checked = deploy(&open, &due, &WANTED, &cancel, args.output, ui).await;
            match checked {
                // Drift stands in the table; a failure may be gone the next time.
                Ok(()) | Err(CommandError::Different) => {}
                Err(error) => drop(error.report(ui)),
            }
        }
        Ok(())
    })
}

/// Waits until something is due, or until it is time to read the files again.
async fn wait_for_due(
    open: &OpenSite,
    schedules: &mut Schedules,
    cancel: &CancellationToken,
) -> Result<BTreeSet<String>, CommandError> {
    let now = Timestamp::now();
    for name in &open.selected {
        if let Some(build) = open.last_build(name)? {
            let schedule = &open.components[name].config.drift_schedule;
            schedules.set(name, schedule, build.build_id, now);
        }
    }
    let until_due = schedules.next().map(|next| Duration::try_from(next.duration_since(now)));
    let pause = until_due.map_or(RELOAD, |due| due.unwrap_or_default().min(RELOAD));
    tokio::select! {
        () = cancel.cancelled() => Ok(BTreeSet::new()),
        () = tokio::time::sleep(pause) => Ok(schedules.due(Timestamp::now()).into_iter().collect()),
    }
}
