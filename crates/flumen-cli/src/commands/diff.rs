//! `flumen diff`.

mod artifact;
mod cluster;

use clap::{Args, Subcommand};
use flumen_oci::Reference;

use self::{
    artifact::ArtifactArgs,
    cluster::{HowArgs, NamedArgs},
};
use super::apply::unnamed;
use crate::{args::inventory::parse_name, error::CommandError, ui::Ui};

/// Show how a cluster differs from what should be on it, or one artifact from another
///
/// Objects that are missing are `created`, others that differ are `drifted`, and those that are only in the
/// inventory are `deleted`: what `apply --prune` would make of them. The cluster is asked by dry runs, and nothing
/// is written. Values of secrets are masked.
///
/// The exit status is 0 if nothing differs and 1 if something does, or if the cluster would refuse an object.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  # An overlay and the cluster
  flumen diff -k overlays/production --inventory app -n apps

  # As kustomizer spells it
  flumen diff inventory app -n apps -a oci://registry.example.com/org/app:v1.0.0

  # Two artifacts
  flumen diff artifact oci://registry.example.com/org/app:v1 oci://registry.example.com/org/app:v2")]
pub(crate) struct DiffArgs {
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
    Artifact(Box<ArtifactArgs>),
    #[command(alias = "inv")]
    Inventory(Box<NamedArgs>),
}

pub(crate) fn run(args: &DiffArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        Some(What::Artifact(args)) => artifact::run(args, ui),
        Some(What::Inventory(args)) => cluster::run(&args.name, None, &args.how, ui),
        None => {
            let name = args.inventory.as_deref().ok_or_else(unnamed)?;
            cluster::run(name, args.url.as_ref(), &args.how, ui)
        }
    }
}
