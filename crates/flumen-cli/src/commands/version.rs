//! `flumen version`: what this program is and whose output it prints.

use std::env::consts::{ARCH, OS};

use clap::{Args, ValueEnum};

use crate::{error::CommandError, ui::Ui};

/// Print the version of flumen and of the kustomize it agrees with
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  flumen version
  flumen version -o short")]
pub(crate) struct VersionArgs {
    /// How to print it
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Several lines for people
    Text,
    /// The version of flumen and nothing else
    Short,
    Json,
    Yaml,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(args: &VersionArgs, ui: &Ui) -> Result<(), CommandError> {
    let kustomize = flumen_kustomize::KUSTOMIZE_VERSION;
    let text = match args.output {
        Format::Text => {
            format!("flumen {VERSION}\nkustomize {kustomize} (same output)\ntarget {OS}/{ARCH}\n")
        }
        Format::Short => format!("{VERSION}\n"),
        Format::Json => format!(
            "{{\n  \"version\": \"{VERSION}\",\n  \"kustomizeVersion\": \"{kustomize}\",\n  \
             \"target\": \"{OS}/{ARCH}\"\n}}\n"
        ),
        Format::Yaml => {
            format!("version: {VERSION}\nkustomizeVersion: {kustomize}\ntarget: {OS}/{ARCH}\n")
        }
    };
    ui.data(text.as_bytes())
}
