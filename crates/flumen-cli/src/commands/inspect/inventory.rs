//! `flumen inspect inventory`.

use std::fmt::Write as _;

use clap::Args;
use flumen_apply::{Deployment, Entry};
use serde::Serialize;

use crate::{
    error::CommandError,
    inventory_args::{SiteArgs, parse_name},
    printable::{Lines, printable},
    runtime::block_on,
    structured::Structured,
    ui::Ui,
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inspection {
    name: String,
    namespace: String,
    last_applied: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    revision: String,
    artifacts: Vec<String>,
    resources: Vec<InspectedObject>,
    history: Vec<Deployment>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InspectedObject {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
}

pub(super) fn run(args: &InventoryArgs, ui: &Ui) -> Result<(), CommandError> {
    let inspection = block_on(inspect(args))?;
    match args.output {
        Some(format) => format.print(&inspection, ui),
        None => ui.data(inspection.text().as_bytes()),
    }
}

async fn inspect(args: &InventoryArgs) -> Result<Inspection, CommandError> {
    let site = args.site.open(&args.name, None).await?;
    let recorded = site.recorded().await?;
    let about = site.summary().await?;
    Ok(Inspection {
        name: about.name,
        namespace: about.namespace,
        last_applied: about.last_applied,
        source: about.source,
        revision: about.revision,
        artifacts: about.artifacts,
        resources: recorded.inventory.entries().into_iter().map(InspectedObject::of).collect(),
        history: recorded.history,
    })
}

impl InspectedObject {
    fn of(entry: &Entry) -> Self {
        let id = &entry.id;
        Self {
            api_version: id.gvk.api_version(),
            kind: id.gvk.kind.to_string(),
            namespace: id.namespace.to_string(),
            name: id.name.to_string(),
        }
    }

    /// `Kind/namespace/name`
    fn subject(&self) -> String {
        let parts = [&self.kind, &self.namespace, &self.name];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join("/")
    }
}

impl Inspection {
    fn text(&self) -> String {
        let mut text = String::new();
        let inventory = format!("{}/{}", self.namespace, self.name);
        for (name, value) in [
            ("Inventory", &inventory),
            ("Last applied", &self.last_applied),
            ("Source", &self.source),
            ("Revision", &self.revision),
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
        list(&mut text, "Artifacts", self.artifacts.clone());
        list(&mut text, "Objects", self.resources.iter().map(InspectedObject::subject).collect());
        let deployments = self
            .history
            .iter()
            .map(|one| format!("{}: {} by {}, {}", one.number, one.at, one.by, one.artifact));
        list(&mut text, "History", deployments.collect());
        text
    }
}

fn line(text: &str) -> String {
    printable(text, Lines::Escape, MAX_LINE)
}
