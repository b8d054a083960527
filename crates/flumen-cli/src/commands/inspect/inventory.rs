//! `flumen inspect inventory`.

use std::fmt::Write as _;

use clap::Args;
use flumen_inspect::{InventoryDetails, InventoryObject};

use crate::{
    args::inventory::{SiteArgs, parse_name},
    error::CommandError,
    runtime::block_on,
    ui::Ui,
    view::{
        printable::{Lines, printable},
        structured::Structured,
    },
};

/// A line of the answer longer than this is no name any more.
const MAX_LINE: usize = 1 << 10;

/// Show an inventory: its objects, where they come from, and its history
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All about an inventory
  flumen inspect inventory app -n apps

  # For programs
  flumen inspect inventory app -n apps -o json")]
pub(super) struct InventoryArgs {
    /// Name of the inventory
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// Print it as JSON or YAML
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Structured>,

    #[command(flatten)]
    site: SiteArgs,
}

pub(super) fn run(args: &InventoryArgs, ui: &Ui) -> Result<(), CommandError> {
    let details = block_on(inspect(args))?;
    match args.output {
        Some(format) => format.print(&details, ui),
        None => ui.data(text(&details).as_bytes()),
    }
}

async fn inspect(args: &InventoryArgs) -> Result<InventoryDetails, CommandError> {
    let site = args.site.open(&args.name, None).await?;
    let recorded = site.recorded().await?;
    Ok(InventoryDetails::new(site.summary().await?, recorded))
}

fn text(details: &InventoryDetails) -> String {
    let mut text = String::new();
    let inventory = format!("{}/{}", details.namespace, details.name);
    for (name, value) in [
        ("Inventory", &inventory),
        ("Last applied", &details.last_applied),
        ("Source", &details.source),
        ("Revision", &details.revision),
    ] {
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:<14}{}", format!("{name}:"), line(value));
        }
    }
    let list = |text: &mut String, name: &str, items: Vec<String>| {
        if !items.is_empty() {
            let _ = writeln!(text, "{name}:");
            for item in &items {
                let _ = writeln!(text, "- {}", line(item));
            }
        }
    };
    list(&mut text, "Artifacts", details.artifacts.clone());
    list(&mut text, "Objects", details.resources.iter().map(subject).collect());
    let deployments = details
        .history
        .iter()
        .map(|one| format!("{}: {} by {}, {}", one.number, one.at, one.by, one.artifact));
    list(&mut text, "History", deployments.collect());
    text
}

/// `Kind/namespace/name`
fn subject(object: &InventoryObject) -> String {
    let parts = [&object.kind, &object.namespace, &object.name];
    let parts: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

fn line(text: &str) -> String {
    printable(text, Lines::Escape, MAX_LINE)
}
