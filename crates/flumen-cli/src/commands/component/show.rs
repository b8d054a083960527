//! `flumen component show`.

use clap::{Args, ValueEnum};
use flumen_pipeline::config::{Component, ComponentFile};
use serde::Serialize;

use super::selection::Selection;
use crate::{
    error::CommandError,
    ui::Ui,
    view::listing::{to_json, to_yaml},
};

/// Print components as they are understood
///
/// Prints every key that is set, the dependencies that templates add, and what follows from them:
/// the type of the source, the file and the checksum.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "\
Examples:
  # One component
  flumen component show web

  # The checksum of the configuration, which changes when a new build is due
  flumen component show web -o json | jq -r .checksum")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    selection: Selection,

    /// How to print them; several are several documents, or several lines of JSON
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "yaml")]
    output: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    config: &'a ComponentFile,
    source_type: &'static str,
    file: String,
    checksum: String,
}

pub(crate) fn run(args: &ShowArgs, ui: &Ui) -> Result<(), CommandError> {
    let components = args.selection.load(ui)?;
    let shown = components.iter().map(|component| shown(component, args.output));
    let separator = match args.output {
        Format::Yaml => "---\n",
        Format::Json => "",
    };
    let text = shown.collect::<Result<Vec<_>, _>>()?.join(separator);
    ui.data(text.as_bytes())
}

fn shown(component: &Component, format: Format) -> Result<String, CommandError> {
    let shown = Shown {
        config: &component.config,
        source_type: component.source.kind(),
        file: component.file.display().to_string(),
        checksum: component.checksum.to_string(),
    };
    match format {
        Format::Yaml => to_yaml(&shown),
        Format::Json => to_json(&shown),
    }
}
