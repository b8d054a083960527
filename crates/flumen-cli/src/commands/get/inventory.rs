//! `flumen get inventory`.

use clap::Args;
use flumen_apply::{Listed, inventories};
use serde::Serialize;
use tokio::time::Instant;

use crate::{
    error::CommandError,
    inventory_args::{SiteArgs, missing, parse_name},
    listing::{self, ListFormat, Record},
    runtime::block_on,
    ui::Ui,
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

/// An inventory as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    name: String,
    namespace: String,
    entries: usize,
    source: String,
    revision: String,
    last_applied: String,
    artifacts: Vec<String>,
}

impl Line {
    fn new(listed: Listed) -> Self {
        Self {
            name: listed.name,
            namespace: listed.namespace,
            entries: listed.entries,
            source: listed.source,
            revision: listed.revision,
            last_applied: listed.last_applied,
            artifacts: listed.artifacts,
        }
    }
}

impl Record for Line {
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
    let lines: Vec<Line> = found.into_iter().map(Line::new).collect();
    listing::print(&lines, args.output, ui)
}
