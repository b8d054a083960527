//! `flumen component drift`.

use std::{collections::BTreeSet, future::Future, time::Duration};

use clap::Args;
use flumen_apply::DeploymentResult;
use flumen_pipeline::{
    deploy::{Drift, Operation},
    install::Approvals,
    job::CancellationToken,
    schedule::{Clock, Schedules},
};
use jiff::Timestamp;
use serde::Serialize;

use super::{
    interrupt::cancelled_by_the_user,
    run::{Wanted, deploy, deploy_all},
    site::{OpenSite, SiteArgs},
};
use crate::{
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// How long a change of a schedule may stay unnoticed.
const RELOAD: Duration = Duration::from_secs(30);

/// Look whether an install still is what was deployed
///
/// Compares the cluster with the artifact that was deployed last, and changes nothing. The status is 1
/// if anything has drifted.
///
/// With `--watch` the command stays and looks whenever the `drift_schedule` of a component says so, until
/// it is stopped. A changed schedule takes effect with the next build of its component.
///
/// With `--list` nothing is looked at: it prints the components that had drifted when they were last looked at
/// on this machine, and that were not deployed since.
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

    /// List what is known to have drifted
    #[arg(long, conflicts_with = "watch")]
    list: bool,

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
        let open = args.site.open(ui).await?;
        if args.list {
            list(&open, args.output, ui).await
        } else if args.watch {
            watch(args, open, ui).await
        } else {
            deploy_all(&open, &WANTED, args.output, ui).await
        }
    })
}

/// Looks whenever a schedule says so. What fails may be right the next time, so it is told and no end.
async fn watch(args: &DriftArgs, mut open: OpenSite, ui: &Ui) -> Result<(), CommandError> {
    let cancel = cancelled_by_the_user();
    let mut schedules = Schedules::new(&open.install.id);
    while !cancel.is_cancelled() {
        let due = wait_for_due(&open, &mut schedules, &cancel).await?;
        for component in &due {
            ui.step(&schedules.name(component));
        }
        if !due.is_empty() {
            match deploy(&open, &due, &WANTED, &cancel, args.output, ui).await {
                // It stands in the table.
                Ok(()) | Err(CommandError::Different) => {}
                Err(error) => drop(error.report(ui)),
            }
        }
        if let Err(error) = args.site.reload(&mut open, ui) {
            error.report(ui);
        }
    }
    Ok(())
}

/// Prints what drifted and was not deployed since.
async fn list(open: &OpenSite, format: ListFormat, ui: &Ui) -> Result<(), CommandError> {
    let site = open.site();
    let mut lines = Vec::new();
    for component in &open.selected {
        let Some(found) = open.state.last_drift(&open.install.id, component)? else { continue };
        let history = site.recorded(component).await?.history;
        let deployed = history
            .iter()
            .filter(|deployment| deployment.result == DeploymentResult::Succeeded)
            .find_map(|deployment| deployment.at.parse::<Timestamp>().ok());
        if deployed.is_none_or(|deployed| deployed < found.at) {
            lines.push(Line { component: component.clone(), found });
        }
    }
    listing::print(&lines, format, ui)
}

#[derive(Serialize)]
struct Line {
    component: String,
    #[serde(flatten)]
    found: Drift,
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["COMPONENT", "FOUND", "ARTIFACT"], &[]);

    fn cells(&self) -> Vec<String> {
        let Drift { at, artifact } = &self.found;
        vec![self.component.clone(), at.to_string(), artifact.to_string()]
    }

    fn name(&self) -> &str {
        &self.component
    }
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
    tokio::select! {
        () = cancel.cancelled() => Ok(BTreeSet::new()),
        due = schedules.wait(&SystemClock, RELOAD) => Ok(due.into_iter().collect()),
    }
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> {
        tokio::time::sleep(duration)
    }
}
