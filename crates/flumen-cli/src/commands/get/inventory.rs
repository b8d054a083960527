//! `flumen get inventory`.

use clap::Args;
use flumen_apply::{Listed, inventories};
use tokio::time::Instant;

use crate::{
    args::inventory::{SiteArgs, missing, parse_name},
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// List inventories: how many objects they hold, where those come from, and when they were last applied
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # Those of a namespace
  flumen get inventories -n apps

  # All of them
  flumen get inventories -A

  # One
  flumen get inventory app -n apps -o yaml")]
pub(super) struct InventoryArgs {
    /// Name of an inventory; all if absent
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,

    /// Those of all namespaces, whatever `-n` says
    #[arg(short = 'A', long, conflicts_with = "name")]
    all_namespaces: bool,

    /// How to print
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,

    #[command(flatten)]
    site: SiteArgs,
}

impl Record for Listed {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["NAME", "NAMESPACE", "ENTRIES", "SOURCE", "REVISION", "LAST APPLIED"], &["ARTIFACTS"]);

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.namespace.clone(),
            self.entries.to_string(),
            self.source.clone(),
            self.revision.clone(),
            self.last_applied.clone(),
            self.artifacts.join(","),
        ]
    }

    fn name(&self) -> &str {
        &self.name
    }
}

pub(super) fn run(args: &InventoryArgs, deadline: Instant, ui: &Ui) -> Result<(), CommandError> {
    block_on(list(args, deadline, ui))
}

async fn list(args: &InventoryArgs, deadline: Instant, ui: &Ui) -> Result<(), CommandError> {
    let manager = args.site.manager()?;
    let client = args.site.connect().await?.with_deadline(deadline);
    let namespace = (!args.all_namespaces).then(|| client.namespace().to_owned());
    let mut found =
        inventories(&client, &manager.name, &manager.group, namespace.as_deref()).await?;
    if let Some(name) = &args.name {
        found.retain(|inventory| inventory.name == *name);
        if found.is_empty() {
            return Err(missing(name, client.namespace()));
        }
    }
    listing::print(&found, args.output, ui)
}
