//! `flumen inspect artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Look into something
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Show what an artifact holds
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &InspectArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
