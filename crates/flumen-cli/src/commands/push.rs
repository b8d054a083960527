//! `flumen push artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Push what was built to a registry
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Pack manifests into an artifact and push it
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &PushArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
