//! `flumen pull artifact`.

use clap::{Args, Subcommand};

use crate::{error::CommandError, ui::Ui};

/// Pull from a registry
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Artifact(Box<ArtifactArgs>),
}

/// Pull an artifact and unpack it
#[derive(Debug, Args)]
struct ArtifactArgs {}

pub(crate) fn run(args: &PullArgs, ui: &Ui) -> Result<(), CommandError> {
    match &args.what {
        What::Artifact(args) => artifact(args, ui),
    }
}

fn artifact(_args: &ArtifactArgs, _ui: &Ui) -> Result<(), CommandError> {
    Err(CommandError::failure("not available yet"))
}
