//! `flumen copy artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Copy between registries and layouts
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Copy an artifact with all that belongs to it
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &CopyArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
