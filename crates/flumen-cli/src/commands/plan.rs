//! `flumen plan`.

mod decide;
mod list;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flumen_apply::{InventoryStore as _, Options, PlanFile, plan};
use flumen_oci::Reference;

use self::{
    decide::{ApproveArgs, DenyArgs, RetryArgs},
    list::ListArgs,
    show::ShowArgs,
};
use super::apply::unnamed;
use crate::{
    args::{
        inventory::{SiteArgs, parse_name},
        run::{PruneArgs, ReviewArgs},
        source::SourceArgs,
    },
    error::{CommandError, Failure},
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
    view::{plan_text, refusals, structured::Structured},
};

/// Show what `apply` would do, without doing it
///
/// Each change as a unified diff with the values of secrets masked, and a line that counts them. The cluster is
/// asked by dry runs, so that defaults and webhooks have their say; nothing is written.
///
/// The exit status is 0 whether or not there are changes, and 1 if the cluster would refuse an object. With
/// --detailed-exitcode it is 2 if there are changes.
///
/// The commands below are about plans that `flumen component deploy` has stored because nobody was there to be
/// asked. A decision is carried out by the next run of the same deploy, once; if more would change by then,
/// it asks again.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  # What the next version of an artifact would change
  flumen plan oci://registry.example.com/org/app:v1.1.0 --inventory app -n apps --prune

  # Keep the plan, and apply it after somebody has looked at it
  flumen plan -k overlays/production --inventory app -n apps --prune --out app.plan
  flumen apply -k overlays/production --inventory app -n apps --prune --plan app.plan

  # For programs
  flumen plan -k overlays/production --inventory app -n apps -o json")]
pub(crate) struct PlanArgs {
    /// Artifact, as `oci://host/path:tag` or `oci://host/path@digest`
    #[arg(value_name = "URL")]
    url: Option<Reference>,

    /// Name of the inventory
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    inventory: Option<String>,

    /// Print the plan as JSON or YAML
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Structured>,

    /// Also write the plan to this file, for `flumen apply --plan`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Exit with status 2 if there are changes
    #[arg(long)]
    detailed_exitcode: bool,

    #[command(flatten)]
    prune: PruneArgs,

    #[command(flatten)]
    review: ReviewArgs,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    site: SiteArgs,

    #[command(subcommand)]
    stored: Option<Stored>,
}

/// What can be done with a plan that was stored.
#[derive(Debug, Subcommand)]
enum Stored {
    Approve(ApproveArgs),
    Deny(DenyArgs),
    List(ListArgs),
    Retry(RetryArgs),
    Show(ShowArgs),
}

pub(crate) fn run(args: &PlanArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.stored {
        None => show_plan(args, ui),
        Some(Stored::Approve(args)) => decide::approve(args, ui),
        Some(Stored::Deny(args)) => decide::deny(args, ui),
        Some(Stored::List(args)) => list::run(args, ui),
        Some(Stored::Retry(args)) => decide::retry(args, ui),
        Some(Stored::Show(args)) => show::run(args, ui),
    }
}

fn show_plan(args: &PlanArgs, ui: &Ui) -> Result<(), CommandError> {
    let name = args.inventory.as_deref().ok_or_else(unnamed)?;
    block_on(interruptible(async {
        let mut delivery = args.source.open(args.url.as_ref(), ui).await?;
        let site = args.site.open(name, Some(args.review.timeout)).await?;
        let options = Options { prune: args.prune.mode(), ..args.review.options(&site) };
        let objects = std::mem::take(&mut delivery.objects);
        let recorded = site.store().load().await?;
        let plan = plan(&site.client, objects, &site.store(), &options).await?;
        match args.output {
            Some(format) => {
                let document = plan.document();
                format.print(&document.map_err(|error| Failure::new(error.to_string()))?, ui)?;
            }
            None => ui.styled_data(&plan_text::plan(&plan))?,
        }
        if let Some(path) = &args.out {
            let digest = delivery.digest.to_string();
            let subject = delivery.subject(&site.owner, &digest);
            PlanFile::new(subject, &plan, &recorded, &site.now).write(path)?;
        }
        refusals::planned(&plan.errors(), ui)?;
        let has_changes = args.detailed_exitcode && !plan.is_noop();
        if has_changes { Err(CommandError::Changes) } else { Ok(()) }
    }))
}
