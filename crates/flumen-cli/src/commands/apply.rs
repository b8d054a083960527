//! `flumen apply`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flumen_apply::PlanFile;
use flumen_oci::Reference;

use crate::{
    args::{
        inventory::{SiteArgs, parse_name},
        run::{DryRun, RunArgs},
        source::SourceArgs,
    },
    deliver::{Order, deliver},
    error::{CommandError, Failure},
    runtime::block_on,
    signals::interruptible,
    ui::Ui,
    view::run_report::RunReport,
};

/// Bring objects to a cluster, and keep an inventory of them
///
/// In this order: the artifact is pulled (or made, from -k and -f) and its signature checked if keys are
/// given; definitions, classes and then all the rest are each first sent as a dry run, and applied only if the
/// server accepts all of them; the inventory is written before the first object appears; with --prune, objects
/// that are gone from the source are deleted; with --wait, everything has to become healthy. Objects whose kind
/// is not served yet are applied as soon as it is.
///
/// Prints one line for each object. A run that is interrupted, or that fails, is completed by running it again.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  # An artifact; wait until all of it is healthy
  flumen apply oci://registry.example.com/org/app:v1.0.0 --inventory app -n apps --prune --wait

  # An overlay
  flumen apply -k overlays/production --inventory app -n apps --create-namespace

  # Look first, then apply what was looked at and nothing else
  flumen plan -k overlays/production --inventory app -n apps --prune --out app.plan
  flumen apply -k overlays/production --inventory app -n apps --prune --plan app.plan

  # As kustomizer spells it
  flumen apply inventory app -n apps -a oci://registry.example.com/org/app:v1.0.0 --prune --wait")]
pub(crate) struct ApplyArgs {
    #[command(subcommand)]
    what: Option<What>,

    /// Artifact, as `oci://host/path:tag` or `oci://host/path@digest`
    #[arg(value_name = "URL")]
    url: Option<Reference>,

    /// Name of the inventory
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    inventory: Option<String>,

    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(alias = "inv")]
    Inventory(Box<NamedArgs>),
}

/// The same, in kustomizer's words
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen apply inventory app -n apps -k overlays/production --prune --wait")]
struct NamedArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    #[command(flatten)]
    how: HowArgs,
}

#[derive(Debug, Args)]
struct HowArgs {
    /// Apply only what this plan says, and refuse if that is no longer all
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    site: SiteArgs,
}

pub(crate) fn run(args: &ApplyArgs, ui: &Ui) -> Result<(), CommandError> {
    match (&args.what, &args.inventory) {
        (Some(What::Inventory(named)), _) => apply(&named.name, None, &named.how, ui),
        (None, Some(name)) => apply(name, args.url.as_ref(), &args.how, ui),
        (None, None) if args.how.run.dry_run == Some(DryRun::Client) => {
            apply("", args.url.as_ref(), &args.how, ui)
        }
        (None, None) => Err(unnamed()),
    }
}

/// An inventory has to be named, because its name cannot be changed later.
pub(super) fn unnamed() -> CommandError {
    Failure::new("nothing says which inventory the objects belong to")
        .hint("name it with `--inventory NAME`; the first `apply` creates it")
        .into()
}

fn apply(name: &str, url: Option<&Reference>, args: &HowArgs, ui: &Ui) -> Result<(), CommandError> {
    block_on(interruptible(async {
        let plan = args.plan.as_deref().map(PlanFile::read).transpose()?;
        let delivery = args.source.open(url, ui).await?;
        if args.run.dry_run == Some(DryRun::Client) {
            let report = RunReport::with_suffix(ui, " (client dry run)");
            delivery.objects.iter().for_each(|object| report.object(&object.id(), "applied"));
            return report.finish();
        }
        let site = args.site.open(name, Some(args.run.review.timeout)).await?;
        let order = Order { plan, ..Order::default() };
        deliver(delivery, &site, &args.run, order, ui).await
    }))
}
