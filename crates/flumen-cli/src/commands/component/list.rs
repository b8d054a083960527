//! `flumen component list`.

use clap::Args;
use flumen_pipeline::config::Component;
use serde::Serialize;

use super::selection::{Selection, tell};
use crate::{
    error::CommandError,
    ui::Ui,
    view::listing::{self, ListFormat, Record},
};

/// List the components of a directory
///
/// Prints the components without mistakes, and fails if any file has one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # What is in ./components
  flumen component list

  # Names alone, for a script
  flumen component list -d apps/components -o name")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    selection: Selection,

    /// How to print them
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "table")]
    output: ListFormat,
}

#[derive(Serialize)]
pub(super) struct Line {
    name: String,
    source_type: &'static str,
    namespace: String,
    dependencies: Vec<String>,
    file: String,
    checksum: String,
}

impl Line {
    pub(super) fn new(component: &Component) -> Self {
        Self {
            name: component.name().to_owned(),
            source_type: component.source.kind(),
            namespace: component.config.namespace.clone(),
            dependencies: component.config.dependencies.clone(),
            file: component.file.display().to_string(),
            checksum: component.checksum.to_string(),
        }
    }
}

impl Record for Line {
    const HEADINGS: (&'static [&'static str], &'static [&'static str]) =
        (&["NAME", "SOURCE", "NAMESPACE", "DEPENDENCIES"], &["FILE", "CHECKSUM"]);

    fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.source_type.to_owned(),
            self.namespace.clone(),
            self.dependencies.join(","),
            self.file.clone(),
            self.checksum.clone(),
        ]
    }

    fn name(&self) -> &str {
        &self.name
    }
}

pub(crate) fn run(args: &ListArgs, ui: &Ui) -> Result<(), CommandError> {
    let (components, errors) = args.selection.load_what_is_right(ui)?;
    let lines: Vec<Line> = components.iter().map(Line::new).collect();
    listing::print(&lines, args.output, ui)?;
    tell(&errors, ui)
}
